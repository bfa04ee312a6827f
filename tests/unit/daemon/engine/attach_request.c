#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/engine/attach_request.h"

static struct window_settings settings;
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
	return attach_request_settings(r, &settings, &err);
}

static void what_is_not_said_has_the_documented_default(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	assert_int_equal(check(&r), 0);
	for (size_t i = 0; i < PAIR_KINDS; i++)
		assert_true(settings.kinds[pair_kinds[i].kind]);
	assert_true(settings.objects);
	assert_int_equal(settings.object_min_size, 1024);
	assert_int_not_equal(settings.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_true(settings.sampler_reason[0]);
	assert_int_equal(settings.period_ns, 5 * NS_PER_MS);
	assert_float_equal(settings.budget, 0.01, 0);
	assert_int_equal(settings.registers, 4);
	assert_int_equal(settings.max_frames, 128);
}

static void what_is_said_is_kept(void **state)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kinds[] = {JXP__KIND__KIND_SILENT_LOAD, JXP__KIND__KIND_SILENT_LOAD};

	(void)state;
	r.kinds = kinds;
	r.n_kinds = 2;
	r.period_ns = NS_PER_MS;
	r.budget = 1;
	r.open_through_daemon = 1;
	assert_int_equal(check(&r), 0);
	assert_false(settings.kinds[JXP__KIND__KIND_DEAD_STORE]);
	assert_true(settings.kinds[JXP__KIND__KIND_SILENT_LOAD]);
	assert_int_equal(settings.period_ns, NS_PER_MS);
	assert_float_equal(settings.budget, 1, 0);
	assert_true(settings.open_through_daemon);
}

static void pids_that_cannot_be_are_refused(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.pid = 0;
	assert_int_equal(check(&r), -EINVAL);
	r.pid = UINT32_MAX;
	assert_int_equal(check(&r), -EINVAL);
}

static void an_unknown_kind_is_refused_with_the_known_ones(void **state)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = (Jxp__Kind)9;

	(void)state;
	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), -EINVAL);
	assert_non_null(strstr(err.message, "silent-load"));
	kind = JXP__KIND__KIND_NONE;
	assert_int_equal(check(&r), -EINVAL);
	kind = (Jxp__Kind)-1;
	assert_int_equal(check(&r), -EINVAL);
}

static void objects_have_a_smallest_size_that_may_be_0(void **state)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kind = JXP__KIND__KIND_OBJECTS;

	(void)state;
	r.kinds = &kind;
	r.n_kinds = 1;
	assert_int_equal(check(&r), 0);
	assert_true(settings.objects);
	assert_false(settings.numa);
	assert_false(settings.kinds[JXP__KIND__KIND_DEAD_STORE]);
	assert_int_equal(settings.object_min_size, 1024);
	assert_true(settings.objects_max > 0);
	r.object_min_size_given = 1;
	assert_int_equal(check(&r), 0);
	assert_int_equal(settings.object_min_size, 0);
	kind = JXP__KIND__KIND_NUMA;
	assert_int_equal(check(&r), 0);
	assert_true(settings.numa); /* On one node it needs no objects. */
	kind = JXP__KIND__KIND_DEAD_STORE;
	assert_int_equal(check(&r), 0);
	assert_int_equal(settings.objects_max, 0);
}

static void an_event_needs_a_hardware_sampler(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.event = (char *)"MEM_LOAD_RETIRED:L1_MISS";
	r.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	assert_int_equal(check(&r), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "'MEM_LOAD_RETIRED:L1_MISS' needs pebs or ibs"));
	assert_non_null(strstr(err.message, "leave out --event"));
}

static void an_event_cannot_sample_pairs(void **state)
{
	Jxp__AttachRequest r = good();
	Jxp__Kind kinds[] = {JXP__KIND__KIND_OBJECTS, JXP__KIND__KIND_SILENT_LOAD};

	(void)state;
	r.event = (char *)"MEM_LOAD_RETIRED:L1_MISS";
	r.kinds = kinds;
	r.n_kinds = 2;
	assert_int_equal(check(&r), -EINVAL);
	assert_non_null(strstr(err.message, "--kinds objects"));
}

static void a_name_that_no_event_has_is_refused(void **state)
{
	char name[WINDOW_EVENT_BYTES + 1];
	Jxp__AttachRequest r = good();

	(void)state;
	memset(name, 'A', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	r.event = name;
	assert_int_equal(check(&r), -EINVAL);
	r.event = (char *)"\x1b[31mred";
	r.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	assert_int_equal(check(&r), -EOPNOTSUPP);
	assert_null(strchr(err.message, '\x1b'));
}

static void durations_are_above_0_and_at_most_a_day(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.duration_ns = 0;
	assert_int_equal(check(&r), -EINVAL);
	r.duration_ns = 86400 * NS_PER_S;
	assert_int_equal(check(&r), 0);
	r.duration_ns++;
	assert_int_equal(check(&r), -EINVAL);
}

static void periods_are_100us_to_10s(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.period_ns = 100000;
	assert_int_equal(check(&r), 0);
	r.period_ns = 99999;
	assert_int_equal(check(&r), -EINVAL);
	r.period_ns = 10 * NS_PER_S + 1;
	assert_int_equal(check(&r), -EINVAL);
}

static void budgets_are_above_0_and_at_most_1(void **state)
{
	static const double bad[] = {-0.1, 1.1, NAN, INFINITY, -INFINITY};
	Jxp__AttachRequest r = good();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r.budget = bad[i];
		assert_int_equal(check(&r), -EINVAL);
	}
}

static void samplers_of_other_machines_are_refused_with_the_one_that_works(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	if (check(&r) == 0) /* No machine has both. */
		r.sampler = JXP__SAMPLER__SAMPLER_IBS;
	assert_int_equal(check(&r), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "does not work here"));
	assert_non_null(strstr(err.message, "--sampler clock"));
	r.sampler = (Jxp__Sampler)12;
	assert_int_equal(check(&r), -EINVAL);
}

static void a_format_that_is_not_there_is_refused_before_the_attach(void **state)
{
	Jxp__AttachRequest r = good();

	(void)state;
	r.format = JXP__FORMAT__FORMAT_PPROF;
	assert_int_equal(check(&r), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_not_said_has_the_documented_default),
	    cmocka_unit_test(what_is_said_is_kept),
	    cmocka_unit_test(pids_that_cannot_be_are_refused),
	    cmocka_unit_test(an_unknown_kind_is_refused_with_the_known_ones),
	    cmocka_unit_test(objects_have_a_smallest_size_that_may_be_0),
	    cmocka_unit_test(an_event_needs_a_hardware_sampler),
	    cmocka_unit_test(an_event_cannot_sample_pairs),
	    cmocka_unit_test(a_name_that_no_event_has_is_refused),
	    cmocka_unit_test(durations_are_above_0_and_at_most_a_day),
	    cmocka_unit_test(periods_are_100us_to_10s),
	    cmocka_unit_test(budgets_are_above_0_and_at_most_1),
	    cmocka_unit_test(samplers_of_other_machines_are_refused_with_the_one_that_works),
	    cmocka_unit_test(a_format_that_is_not_there_is_refused_before_the_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
