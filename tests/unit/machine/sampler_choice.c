/* Which sampler a window gets, and why. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <string.h>

#include "machine/sampler_choice.h"

static const struct pmu_selection pebs = {.sampler = JXP__SAMPLER__SAMPLER_PEBS,
					  .event_count = 2,
					  .events = {{.user_only = true}, {.user_only = true}},
					  .period = 5000011,
					  .reason = "Intel PEBS: A and B"};
static const struct pmu_selection ibs = {.sampler = JXP__SAMPLER__SAMPLER_IBS,
					 .event_count = 1,
					 .events = {{.user_only = true}},
					 .period = 5000000,
					 .reason = "AMD IBS: ibs_op"};
static const struct pmu_selection none = {.sampler = JXP__SAMPLER__SAMPLER_AUTO,
					  .reason = "no PMU"};

static struct sampler_choice choice;
static struct err err;

static int choose(Jxp__Sampler wanted, bool period_asked, const struct pmu_selection *selection,
		  int error)
{
	struct sampler_hardware hardware = {.selection = selection, .error = error};

	memset(&choice, 0, sizeof(choice));
	return sampler_choose(wanted, period_asked, &hardware, &choice, &err);
}

static void expect(Jxp__Sampler sampler, const struct pmu_selection *hardware, const char *reason)
{
	assert_int_equal(choice.sampler, sampler);
	assert_ptr_equal(choice.hardware, hardware);
	assert_string_equal(choice.reason, reason);
}

TEST(auto_takes_the_hardware_that_works)
{
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &pebs, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_PEBS, &pebs, "Intel PEBS: A and B");
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &ibs, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_IBS, &ibs, "AMD IBS: ibs_op");
}

TEST(auto_takes_no_hardware_without_events_whoever_says_that_it_works)
{
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &none, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_CLOCK, NULL, "no PMU");
}

/* No kernel has this type of events. */
TEST(an_event_that_a_service_cannot_try_is_refused_with_what_to_do)
{
	static const struct perf_hardware_event event = {.type = 0x7fffffff};

	assert_true(sampler_try_event("A:B", &event, 1000, &err) < 0);
	assert_non_null(strstr(err.message, "event 'A:B' cannot be opened: "));
	sampler_tried(0);
	assert_true(sampler_try_event("A:B", &event, 1000, &err) < 0);
	assert_non_null(strstr(err.message, "as a service"));
	assert_non_null(strstr(err.message, "leave out --event"));
}

TEST(what_samples_the_kernel_has_to_be_asked_for)
{
	struct pmu_selection old = ibs;

	old.events[0].user_only = false;
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &old, 0), 0);
	assert_int_equal(choice.sampler, JXP__SAMPLER__SAMPLER_CLOCK);
	assert_non_null(strstr(choice.reason, "Linux 6.14"));
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_IBS, false, &old, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_IBS, &old, "AMD IBS: ibs_op");
}

TEST(auto_is_the_clock_where_nothing_better_works)
{
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &none, -ENOENT), 0);
	expect(JXP__SAMPLER__SAMPLER_CLOCK, NULL, "no PMU");
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, false, &pebs, -EACCES), 0);
	expect(JXP__SAMPLER__SAMPLER_CLOCK, NULL,
	       "Intel PEBS: A and B cannot be opened (Permission denied)");
}

TEST(a_period_in_time_needs_the_clock)
{
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_AUTO, true, &pebs, 0), 0);
	assert_int_equal(choice.sampler, JXP__SAMPLER__SAMPLER_CLOCK);
	assert_non_null(strstr(choice.reason, "period in time"));
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_PEBS, true, &pebs, 0), -EINVAL);
	assert_non_null(strstr(err.message, "--period"));
}

TEST(what_is_asked_for_is_taken_or_refused)
{
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_CLOCK, false, &pebs, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_CLOCK, NULL, "it was asked for");
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_PEBS, false, &pebs, 0), 0);
	expect(JXP__SAMPLER__SAMPLER_PEBS, &pebs, "Intel PEBS: A and B");
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_IBS, false, &pebs, 0), -EOPNOTSUPP);
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_PEBS, false, &pebs, -EBUSY), -EOPNOTSUPP);
	assert_int_equal(choose(JXP__SAMPLER__SAMPLER_PEBS, false, &none, -ENOENT), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "'pebs' does not work here: no PMU"));
	assert_int_equal(choice.reason[0], '\0'); /* unchanged on failure */
}

TEST(a_machine_without_events_has_nothing_to_try)
{
	assert_int_equal(sampler_try(&none), -ENOENT);
}

TEST(every_sampler_says_what_its_fractions_are_weighted_by)
{
	assert_non_null(strstr(sampler_note(JXP__SAMPLER__SAMPLER_CLOCK), "weighted by time"));
	assert_non_null(strstr(sampler_note(JXP__SAMPLER__SAMPLER_PEBS), "by access count"));
	assert_non_null(strstr(sampler_note(JXP__SAMPLER__SAMPLER_IBS), "by access count"));
	assert_null(sampler_note(JXP__SAMPLER__SAMPLER_AUTO));
	assert_null(sampler_note((Jxp__Sampler)12));
}
