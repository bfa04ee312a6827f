/* The samplers' self-test. Page faults stand in for a PMU's event where there is none: the kernel
 * gives their records the instruction and the address too. */
#include "tests/unit/support/test.h"
#include <errno.h>

#include "daemon/inspector/check_sampler.h"
#include "machine/pmu.h"

static const struct perf_hardware_event page_faults = {.type = PERF_TYPE_SOFTWARE,
						       .config = PERF_COUNT_SW_PAGE_FAULTS,
						       .user_only = true,
						       .access = PERF_ACCESS_STORES};

/* Of some hundred that the loop makes. */
#define FAULTS_ELSEWHERE_MAX 5

static bool is_refused(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOSYS;
}

TEST(records_of_the_loop_are_recognised)
{
	struct sampler_trial trial;

	sampler_trial_run(&page_faults, 1, &trial);
	if (is_refused(trial.error))
		skip();
	assert_int_equal(trial.error, 0);
	assert_true(trial.records > 0);
	assert_int_equal(trial.accesses, trial.read);
	/* Between two reads of the ring the thread may touch a page outside of the loop for the
	 * first time, above all in a sanitizer's run time. */
	assert_in_range(trial.right, trial.accesses - FAULTS_ELSEWHERE_MAX, trial.accesses);
}

TEST(records_that_say_nothing_of_loads_or_stores_are_no_accesses)
{
	struct perf_hardware_event event = page_faults;
	struct sampler_trial trial;

	event.access = PERF_ACCESS_ANY;
	sampler_trial_run(&event, 1, &trial);
	if (is_refused(trial.error))
		skip();
	assert_int_equal(trial.error, 0);
	assert_true(trial.records > 0);
	assert_int_equal(trial.accesses, 0);
}

TEST(an_event_that_is_not_there_is_an_error)
{
	const struct perf_hardware_event event = {.type = UINT32_MAX, .user_only = true};
	struct sampler_trial trial;

	sampler_trial_run(&event, 1000, &trial);
	assert_true(trial.error < 0);
	assert_int_equal(trial.records, 0);
}

TEST(the_result_says_what_there_is)
{
	struct check_items items;
	Jxp__CheckResult *result;

	check_items_init(&items);
	check_sampler(&items);
	result = check_items_take(&items);
	assert_non_null(result);
	assert_true(result->n_items >= 2);
	assert_string_equal(result->items[0]->name, "hardware sampling");
	assert_string_equal(result->items[1]->name, "sampler");
	if (pmu_selection()->event_count == 0) {
		assert_memory_equal(result->items[0]->detail, "none: ", 6);
		assert_memory_equal(result->items[1]->detail, "auto picks clock", 16);
		assert_int_equal(result->n_items, 3);
		assert_memory_equal(result->items[2]->detail, "not run: ", 9);
	}
	jxp__check_result__free_unpacked(result, NULL);
}
