#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/engine/attach_request.h"

static struct window_request request;
static struct err err;

static Jxp__AttachRequest good(void)
{
	Jxp__AttachRequest r = JXP__ATTACH_REQUEST__INIT;

	r.pid = 42;
	r.duration_ns = 10 * NS_PER_S;
	return r;
}

static int check(const Jxp__AttachRequest *r)
{
	err.message[0] = '\0';
	return attach_request_check(r, &request, &err);
}

TEST(what_is_not_said_has_the_documented_default)
{
	Jxp__AttachRequest r = good();

	assert_int_equal(check(&r), 0);
	for (size_t i = 0; i < PAIR_KINDS; i++)
		assert_true(request.kinds[pair_kinds[i].kind]);
	assert_true(request.kinds[JXP__KIND__KIND_OBJECTS]);
	assert_true(request.kinds[JXP__KIND__KIND_CPU] && request.cpu_optional);
	assert_int_equal(request.object_min_size, 1024);
	assert_int_equal(request.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_int_equal(request.period_ns, 0);
	assert_float_equal(request.budget, 0.01, 0);
	assert_int_equal(request.registers, 4);
	assert_int_equal(request.max_frames, 1024);
}

TEST(what_is_said_is_kept)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kinds[] = {JXP__KIND__KIND_SILENT_LOAD, JXP__KIND__KIND_SILENT_LOAD};

	r.kinds = kinds;
	r.n_kinds = 2;
	r.period_ns = NS_PER_MS;
	r.budget = 1;
	r.open_through_daemon = 1;
	assert_int_equal(check(&r), 0);
	assert_false(request.kinds[JXP__KIND__KIND_DEAD_STORE]);
	assert_true(request.kinds[JXP__KIND__KIND_SILENT_LOAD]);
	assert_int_equal(request.period_ns, NS_PER_MS);
	assert_float_equal(request.budget, 1, 0);
	assert_true(request.open_through_daemon);
}

TEST(pids_that_cannot_be_are_refused)
{
	Jxp__AttachRequest r = good();

	r.pid = 0;
	assert_int_equal(check(&r), -EINVAL);
	r.pid = UINT32_MAX;
	assert_int_equal(check(&r), -EINVAL);
}

TEST(the_time_for_the_attach_has_bounds)
{
	static const struct {
		uint32_t ms;
		int result;
	} times[] = {{0, 0},      {1, -EINVAL},      {999, -EINVAL},       {1000, 0},
		     {600000, 0}, {600001, -EINVAL}, {UINT32_MAX, -EINVAL}};
	Jxp__AttachRequest r = good();

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		r.timeout_ms = times[i].ms;
		assert_int_equal(check(&r), times[i].result);
		if (times[i].result == 0)
			assert_int_equal(request.timeout_ms, times[i].ms);
		else
			assert_non_null(strstr(err.message, "--timeout"));
	}
}

TEST(an_unknown_kind_is_refused_with_the_known_ones)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = (Jxp__Kind)9;

	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), -EINVAL);
	assert_non_null(strstr(err.message, "silent-load"));
	kind = JXP__KIND__KIND_NONE;
	assert_int_equal(check(&r), -EINVAL);
	kind = (Jxp__Kind)-1;
	assert_int_equal(check(&r), -EINVAL);
}

TEST(objects_have_a_smallest_size_that_may_be_0)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = JXP__KIND__KIND_OBJECTS;

	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), 0);
	assert_true(request.kinds[JXP__KIND__KIND_OBJECTS]);
	assert_false(request.kinds[JXP__KIND__KIND_NUMA]);
	assert_false(request.kinds[JXP__KIND__KIND_DEAD_STORE]);
	assert_int_equal(request.object_min_size, 1024);
	assert_true(request.object_min_size_adapts);
	assert_true(request.objects_max > 0);
	r.object_min_size_given = 1;
	assert_int_equal(check(&r), 0);
	assert_int_equal(request.object_min_size, 0);
	assert_false(request.object_min_size_adapts);
	kind = JXP__KIND__KIND_NUMA;
	assert_int_equal(check(&r), 0);
	assert_true(request.kinds[JXP__KIND__KIND_NUMA]); /* On one node it needs no objects. */
	kind = JXP__KIND__KIND_DEAD_STORE;
	assert_int_equal(check(&r), 0);
	assert_int_equal(request.objects_max, 0);
}

TEST(ticks_alone_need_neither_pairs_nor_objects)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = JXP__KIND__KIND_CPU;

	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), 0);
	assert_true(request.kinds[JXP__KIND__KIND_CPU]);
	assert_false(request.cpu_optional);
	assert_false(window_request_samples_pairs(&request));
	assert_int_equal(request.objects_max, 0);
}

TEST(loops_take_ticks)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = JXP__KIND__KIND_LOOPS;

	assert_int_equal(check(&r), 0);
	assert_false(request.kinds[JXP__KIND__KIND_LOOPS]); /* Nobody has asked. */
	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), 0);
	assert_true(request.kinds[JXP__KIND__KIND_LOOPS] && request.kinds[JXP__KIND__KIND_CPU]);
	assert_false(request.cpu_optional);
	assert_false(window_request_samples_pairs(&request));
}

TEST(an_event_has_no_ticks)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kinds[] = {JXP__KIND__KIND_OBJECTS, JXP__KIND__KIND_CPU};

	r.event = (char *)"MEM_LOAD_RETIRED:L1_MISS";
	assert_int_equal(check(&r), 0);
	assert_false(request.kinds[JXP__KIND__KIND_CPU]);
	r.kinds = kinds;
	r.n_kinds = 2;
	assert_int_equal(check(&r), -EINVAL);
}

TEST(an_event_cannot_sample_pairs)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kinds[] = {JXP__KIND__KIND_OBJECTS, JXP__KIND__KIND_SILENT_LOAD};

	r.event = (char *)"MEM_LOAD_RETIRED:L1_MISS";
	r.kinds = kinds;
	r.n_kinds = 2;
	assert_int_equal(check(&r), -EINVAL);
	assert_non_null(strstr(err.message, "--kinds objects"));
}

TEST(a_name_that_no_event_has_is_refused)
{
	char name[WINDOW_EVENT_BYTES + 1];
	Jxp__AttachRequest r = good();
	Jxp__Kind pairs = JXP__KIND__KIND_DEAD_STORE;

	memset(name, 'A', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	r.event = name;
	assert_int_equal(check(&r), -EINVAL);
	r.event = (char *)"\x1b[31mred";
	assert_int_equal(check(&r), 0);
	assert_null(strchr(request.event, '\x1b'));
	r.kinds = &pairs;
	r.n_kinds = 1;
	assert_int_equal(check(&r), -EINVAL);
	assert_null(strchr(err.message, '\x1b'));
}

TEST(durations_are_above_0_and_at_most_a_day)
{
	Jxp__AttachRequest r = good();

	r.duration_ns = 0;
	assert_int_equal(check(&r), -EINVAL);
	r.duration_ns = 86400 * NS_PER_S;
	assert_int_equal(check(&r), 0);
	r.duration_ns++;
	assert_int_equal(check(&r), -EINVAL);
}

TEST(periods_are_100us_to_10s)
{
	Jxp__AttachRequest r = good();

	r.period_ns = 100000;
	assert_int_equal(check(&r), 0);
	r.period_ns = 99999;
	assert_int_equal(check(&r), -EINVAL);
	r.period_ns = 10 * NS_PER_S + 1;
	assert_int_equal(check(&r), -EINVAL);
}

TEST(budgets_are_above_0_and_at_most_1)
{
	static const double bad[] = {-0.1, 1.1, NAN, INFINITY, -INFINITY};
	Jxp__AttachRequest r = good();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r.budget = bad[i];
		assert_int_equal(check(&r), -EINVAL);
	}
}
