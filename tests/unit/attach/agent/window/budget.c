/* The period that a budget allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/window/budget.h"
#include "proto/jxperf.pb-c.h"

#define MS UINT64_C(1000000)

static void a_tick_of_80_us_within_one_percent_needs_8_ms(void **state)
{
	(void)state;
	assert_in_range(budget_period_for(80e3, 0.01, 1 * MS), 8 * MS - 1, 8 * MS + 1);
}

static void the_period_is_never_shorter_than_asked_for(void **state)
{
	(void)state;
	assert_int_equal(budget_period_for(80e3, 1.0, 5 * MS), 5 * MS);
	assert_int_equal(budget_period_for(0, 0.01, 5 * MS), 5 * MS);
}

static void the_period_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(budget_period_for(1e9, 0.0001, 5 * MS), BUDGET_PERIOD_MAX_NS);
	assert_int_equal(budget_period_for(1e9, 0.0001, 5000 * MS), 5000 * MS);
}

static void a_few_ticks_change_nothing(void **state)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {
	    [JXP__COUNTER__COUNTER_TICKS] = 10, [JXP__COUNTER__COUNTER_HANDLER_NS] = 1000 * MS};
	struct window_cost cost = {.cpu_ns = 1000 * MS};
	struct budget b;

	(void)state;
	budget_start(&b, 0.01, 2 * MS, 12000, false);
	assert_int_equal(budget_period(&b, counters, &cost), 2 * MS);
}

static void an_expensive_window_slows_down_and_recovers(void **state)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100,
							[JXP__COUNTER__COUNTER_SIGNALS] = 1000,
							[JXP__COUNTER__COUNTER_HANDLER_NS] =
							    8 * MS};
	struct window_cost cost = {.cpu_ns = 1000 * MS};
	struct budget b;

	(void)state;
	budget_start(&b, 0.01, 2 * MS, 12000, false);
	/* 8 ms of handlers and 12 ms of traps in 100 ticks: 200 us each. */
	assert_in_range(budget_period(&b, counters, &cost), 20 * MS - 10, 20 * MS + 10);
	b.next_change_ns = 0;
	counters[JXP__COUNTER__COUNTER_TICKS] = 100000;
	assert_int_equal(budget_period(&b, counters, &cost), 2 * MS);
}

static void operations_are_scaled_by_what_they_cost(void **state)
{
	(void)state;
	assert_int_equal(budget_operations_for(5000000, 0.02, 0.01, 5000000), 10000000);
	assert_int_equal(budget_operations_for(40000000, 0.005, 0.01, 5000000), 20000000);
}

static void a_period_in_operations_is_bounded_as_are_its_steps(void **state)
{
	(void)state;
	assert_int_equal(budget_operations_for(5000000, 0, 0.01, 5000000), 5000000);
	assert_int_equal(budget_operations_for(5000000, 0.9, 0.01, 5000000), 40000000);
	assert_int_equal(budget_operations_for(40000000, 0, 0.01, 1000000), 5000000);
	assert_int_equal(budget_operations_for(UINT64_C(900000000), 0.9, 0.01, 1000000),
			 1000000 * (uint64_t)BUDGET_OPERATIONS_MAX);
}

static void operations_follow_the_cost_since_the_last_change(void **state)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {
	    [JXP__COUNTER__COUNTER_TICKS] = 100, [JXP__COUNTER__COUNTER_HANDLER_NS] = 40 * MS};
	struct window_cost cost = {.cpu_ns = 1000 * MS};
	struct budget b;

	(void)state;
	budget_start(&b, 0.01, 5000000, 0, true);
	assert_int_equal(budget_period(&b, counters, &cost), 20000000); /* 4% of 1% */
	b.next_change_ns = 0;
	cost.cpu_ns += 1000 * MS;
	counters[JXP__COUNTER__COUNTER_HANDLER_NS] += 5 * MS; /* now 0.5%: the 4% are past */
	assert_int_equal(budget_period(&b, counters, &cost), 10000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_tick_of_80_us_within_one_percent_needs_8_ms),
	    cmocka_unit_test(the_period_is_never_shorter_than_asked_for),
	    cmocka_unit_test(the_period_is_bounded),
	    cmocka_unit_test(a_few_ticks_change_nothing),
	    cmocka_unit_test(an_expensive_window_slows_down_and_recovers),
	    cmocka_unit_test(operations_are_scaled_by_what_they_cost),
	    cmocka_unit_test(a_period_in_operations_is_bounded_as_are_its_steps),
	    cmocka_unit_test(operations_follow_the_cost_since_the_last_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
