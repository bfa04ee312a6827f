/* What this machine offers; that of others is tests/unit/machine/sampler_choice.c. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "profile/window/findings.h"

static struct window_findings findings;
static struct err err;

static int find(const struct window_request *r)
{
	memset(&findings, 0, sizeof(findings));
	err.message[0] = '\0';
	return window_findings_here(r, &findings, &err);
}

TEST(the_best_sampler_is_found_with_its_period_and_nodes)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true};

	assert_int_equal(find(&r), 0);
	assert_int_not_equal(findings.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_true(findings.sampler_reason[0]);
	assert_int_not_equal(findings.period, 0);
	assert_int_equal(findings.event_count > 0, findings.sampler != JXP__SAMPLER__SAMPLER_CLOCK);
	assert_true(findings.numa.node_count >= 1);
	assert_false(findings.kernel_gate); /* Nobody has asked for it yet. */
}

TEST(the_clock_has_the_period_asked_for_or_its_own)
{
	struct window_request r = {.sampler = JXP__SAMPLER__SAMPLER_CLOCK};

	assert_int_equal(find(&r), 0);
	assert_int_equal(findings.period, WINDOW_PERIOD_DEFAULT_NS);
	assert_int_equal(findings.event_count, 0);
	r.period_ns = NS_PER_MS;
	assert_int_equal(find(&r), 0);
	assert_int_equal(findings.period, NS_PER_MS);
	r.sampler = JXP__SAMPLER__SAMPLER_AUTO;
	assert_int_equal(find(&r), 0);
	assert_int_equal(findings.sampler, JXP__SAMPLER__SAMPLER_CLOCK);
}

TEST(an_event_needs_a_hardware_sampler)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
				   .sampler = JXP__SAMPLER__SAMPLER_CLOCK};

	(void)snprintf(r.event, sizeof(r.event), "MEM_LOAD_RETIRED:L1_MISS");
	assert_int_equal(find(&r), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "'MEM_LOAD_RETIRED:L1_MISS' needs pebs or ibs"));
	assert_non_null(strstr(err.message, "leave out --event"));
	assert_int_equal(findings.numa.node_count, 0); /* unchanged on failure */
}

TEST(samplers_of_other_machines_are_refused_with_the_one_that_works)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
				   .sampler = JXP__SAMPLER__SAMPLER_PEBS};

	if (find(&r) == 0) /* No machine has both. */
		r.sampler = JXP__SAMPLER__SAMPLER_IBS;
	assert_int_equal(find(&r), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "does not work here"));
	assert_non_null(strstr(err.message, "--sampler clock"));
	r.sampler = (Jxp__Sampler)12;
	assert_int_equal(find(&r), -EINVAL);
}

/* Where the machine has no other sampler this says nothing. */
TEST(ticks_that_were_asked_for_need_the_clock)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_CPU] = true};
	int found;

	found = find(&r);
	if (found == 0) {
		assert_int_equal(findings.sampler, JXP__SAMPLER__SAMPLER_CLOCK);
	} else {
		assert_int_equal(found, -EOPNOTSUPP);
		assert_non_null(strstr(err.message, "kind cpu needs the ticks of the clock"));
	}
	r.kinds[JXP__KIND__KIND_LOOPS] = true;
	assert_int_equal(find(&r), found);
	if (found < 0)
		assert_non_null(strstr(err.message, "kind loops needs the ticks of the clock"));
	r.kinds[JXP__KIND__KIND_LOOPS] = false;
	r.cpu_optional = true;
	assert_int_equal(find(&r), 0);
}

/* The broker may see more of the machine than we do. */
TEST(a_broker_that_can_open_events_does_not_make_up_for_knowing_none)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true};

	sampler_tried(0);
	assert_int_equal(find(&r), 0);
	assert_int_not_equal(findings.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_int_equal(findings.event_count > 0, findings.sampler != JXP__SAMPLER__SAMPLER_CLOCK);
	assert_int_not_equal(findings.period, 0);
}
