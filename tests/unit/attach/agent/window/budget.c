/* The period that a budget allows. */
#include "tests/unit/support/test.h"

#include "attach/agent/window/budget.h"
#include "common/clock.h"
#include "proto/jxperf.pb-c.h"

#define MS UINT64_C(1000000)

/* Of so much CPU time ticks have taken so much. */
static void spend(struct budget *b, uint64_t cpu_ns, uint64_t ticks_ns)
{
	b->ledger.cpu_ns = cpu_ns;
	b->ledger.spent_ns[LEDGER_TICKS] = ticks_ns;
}

static const struct signal_costs free_signals;
static const struct signal_costs signals_of_12_us = {.trap_ns = 12000, .tick_ns = 12000};

TEST(a_tick_of_80_us_within_one_percent_needs_8_ms)
{
	assert_in_range(budget_period_for(80e3, 0.01, 1 * MS), 8 * MS - 1, 8 * MS + 1);
}

TEST(the_period_is_never_shorter_than_asked_for)
{
	assert_int_equal(budget_period_for(80e3, 1.0, 5 * MS), 5 * MS);
	assert_int_equal(budget_period_for(0, 0.01, 5 * MS), 5 * MS);
}

TEST(what_the_beginning_took_is_due_over_the_window)
{
	assert_int_equal(budget_setup_due(20 * MS, 1000 * MS, 5000 * MS, 1000 * MS), 0);
	assert_int_equal(budget_setup_due(20 * MS, 1000 * MS, 5000 * MS, 2000 * MS), 5 * MS);
	assert_int_equal(budget_setup_due(20 * MS, 1000 * MS, 5000 * MS, 9000 * MS), 20 * MS);
	assert_int_equal(budget_setup_due(20 * MS, 1000 * MS, 900 * MS, 500 * MS), 20 * MS);
}

/* After 100 ticks of 0.2 ms in a second of CPU time, 1% allowed; all that the beginning took is
 * due. */
static uint64_t period_after(uint64_t overhead_ns, uint64_t setup_ns)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {
	    [JXP__COUNTER__COUNTER_TICKS] = 100, [JXP__COUNTER__COUNTER_HANDLER_NS] = 20 * MS};
	struct budget b;

	budget_start(&b, 0.01, 10 * MS, &free_signals, false, 0);
	spend(&b, 1000 * MS, overhead_ns);
	b.ledger.spent_ns[LEDGER_SETUP] = setup_ns;
	return budget_period(&b, counters);
}

TEST(a_costly_beginning_leaves_less_for_samples)
{
	assert_in_range(period_after(10 * MS, 0), 20 * MS - 10, 20 * MS + 10);
	assert_in_range(period_after(6 * MS, 4 * MS), 33 * MS, 34 * MS);
}

TEST(what_was_left_is_spent_later_a_quarter_at_most)
{
	assert_in_range(period_after(9 * MS, 0), 18 * MS, 19 * MS);
	assert_in_range(period_after(1 * MS, 0), 16 * MS - 10, 16 * MS + 10);
}

TEST(what_events_cost_at_switches_is_overhead_and_not_the_period_s)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};
	uint64_t without, with;
	struct budget b;

	budget_start(&b, 0.01, 10 * MS, &free_signals, false, 0);
	counters[JXP__COUNTER__COUNTER_HANDLER_NS] = 3 * MS;
	budget_note(&b, counters, 0);
	without = ledger_overhead_ns(&b.ledger) - b.ledger.spent_ns[LEDGER_SESSION];
	counters[JXP__COUNTER__COUNTER_SWITCHES_NS] = 5 * MS;
	budget_note(&b, counters, 0);
	with = ledger_overhead_ns(&b.ledger) - b.ledger.spent_ns[LEDGER_SESSION];
	assert_int_equal(with, without + 5 * MS);
	/* Half of the budget is left for ticks, so they are twice as far apart. */
	counters[JXP__COUNTER__COUNTER_TICKS] = 100;
	counters[JXP__COUNTER__COUNTER_HANDLER_NS] = 20 * MS;
	b.ledger.spent_ns[LEDGER_SETUP] = b.ledger.spent_ns[LEDGER_SESSION] = 0;
	spend(&b, 1000 * MS, 5 * MS);
	assert_in_range(budget_period(&b, counters), 40 * MS - 10, 40 * MS + 10);
}

static void burn(void)
{
	for (uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 2 * MS;
	     clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		;
}

TEST(cpu_time_counts_from_when_it_begins_until_it_ends)
{
	uint64_t before, at_end;
	struct budget b;

	budget_start(&b, 0.01, 10 * MS, &free_signals, false, 0);
	burn();
	before = budget_cpu_ns(&b);
	assert_true(before >= 2 * MS);
	budget_cpu_begins(&b);
	burn();
	budget_cpu_ends(&b);
	at_end = budget_cpu_ns(&b);
	assert_true(at_end >= 2 * MS);
	burn();
	assert_int_equal(budget_cpu_ns(&b), at_end);
}

TEST(the_first_ticks_cost_little_of_a_small_budget)
{
	struct budget b;

	budget_start(&b, 0.01, 5 * MS, &signals_of_12_us, false, UINT64_MAX);
	assert_in_range(budget_first_period(&b), 20 * MS - 1, 20 * MS + 1);
	assert_in_range(b.period, 20 * MS - 1, 20 * MS + 1);
	budget_start(&b, 0.5, 5 * MS, &signals_of_12_us, false, UINT64_MAX);
	assert_int_equal(budget_first_period(&b), 5 * MS);
	budget_start(&b, 0.01, 100000, &signals_of_12_us, true, UINT64_MAX);
	assert_int_equal(budget_first_period(&b), 100000);
}

TEST(the_period_is_bounded)
{
	assert_int_equal(budget_period_for(1e9, 0.0001, 5 * MS), BUDGET_PERIOD_MAX_NS);
	assert_int_equal(budget_period_for(1e9, 0.0001, 5000 * MS), 5000 * MS);
}

TEST(a_few_ticks_change_nothing)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {
	    [JXP__COUNTER__COUNTER_TICKS] = 9, [JXP__COUNTER__COUNTER_HANDLER_NS] = 1000 * MS};
	struct budget b;

	budget_start(&b, 0.01, 2 * MS, &signals_of_12_us, false, UINT64_MAX);
	spend(&b, 1000 * MS, 0);
	assert_int_equal(budget_period(&b, counters), 2 * MS);
}

TEST(an_expensive_window_slows_down_and_recovers)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 500,
							[JXP__COUNTER__COUNTER_SIGNALS] = 5000,
							[JXP__COUNTER__COUNTER_HANDLER_NS] =
							    40 * MS};
	struct budget b;

	budget_start(&b, 0.01, 2 * MS, &signals_of_12_us, false, UINT64_MAX);
	spend(&b, 1000 * MS, 10 * MS);
	/* 40 ms of handlers and 60 ms of traps in 500 ticks: 200 us each. */
	assert_in_range(budget_period(&b, counters), 20 * MS - 10, 20 * MS + 10);
	b.next_change_ns = 0;
	counters[JXP__COUNTER__COUNTER_TICKS] = 100000;
	assert_int_equal(budget_period(&b, counters), 2 * MS);
}

TEST(what_brings_no_ticks_leaves_its_part_to_what_does)
{
	assert_float_equal(budget_density(100, 200, 10, 20), 0.5, 1e-9);
	assert_float_equal(budget_density(100, 200, 12, 20), 0.5, 1e-9); /* may be chance */
	assert_float_equal(budget_density(100, 200, 100, 100), 0.9, 1e-9);
	assert_float_equal(budget_density(100, 200, 0, 0), 0.5, 1e-9);
	assert_float_equal(budget_density(1, 200, 0, 20), BUDGET_DENSITY_MIN, 1e-9);
	assert_float_equal(budget_density(300, 200, 30, 20), 1, 1e-9);
	assert_float_equal(budget_density(1, 0, 0, 0), 1, 1e-9);
}

/* A window of 10 s on two processors, looked at four times a second: which part of the CPU time
 * brings ticks, first and after so many looks. Returns what was spent, of the budget of 1%. */
static double spent(double first, double later, unsigned from_quarter)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};
	double ticks = 0;
	struct budget b;

	budget_start(&b, 0.01, 2 * MS, &free_signals, false, UINT64_MAX);
	for (unsigned quarter = 0; quarter < 40; quarter++) {
		double part = quarter < from_quarter ? first : later;

		ticks += 500.0 * MS * part / (double)b.period;
		counters[JXP__COUNTER__COUNTER_TICKS] = (uint64_t)ticks;
		counters[JXP__COUNTER__COUNTER_HANDLER_NS] = (uint64_t)ticks * 200000;
		spend(&b, b.ledger.cpu_ns + 500 * MS, counters[JXP__COUNTER__COUNTER_HANDLER_NS]);
		if (quarter % 2 == 1)
			b.next_change_ns = 0;
		(void)budget_period(&b, counters);
	}
	return (double)b.ledger.spent_ns[LEDGER_TICKS] / (double)b.ledger.cpu_ns / 0.01;
}

/* The first ticks come at the period that was asked for. */
TEST(a_window_uses_its_budget_whatever_part_brings_ticks)
{
	const double parts[] = {1, 0.7, 0.4, 0.25};

	for (unsigned i = 0; i < 4; i++)
		assert_float_equal(spent(parts[i], parts[i], 0), 1, 0.1);
	/* Not made up for. */
	assert_true(spent(0.1, 0.1, 0) < 0.6);
}

TEST(a_program_that_turns_to_something_else_stays_within_the_budget)
{
	for (unsigned quarter = 4; quarter < 36; quarter++)
		for (unsigned first = 0; first <= 10; first++)
			for (unsigned later = 0; later <= 10; later++)
				assert_true(spent(first / 10.0, later / 10.0, quarter) < 1.1);
}

TEST(operations_are_scaled_by_what_they_cost)
{
	assert_int_equal(budget_operations_for(5000000, 0.02, 0.01, 5000000), 10000000);
	assert_int_equal(budget_operations_for(40000000, 0.005, 0.01, 5000000), 20000000);
}

TEST(a_period_in_operations_is_bounded_as_are_its_steps)
{
	assert_int_equal(budget_operations_for(5000000, 0, 0.01, 5000000), 5000000);
	assert_int_equal(budget_operations_for(5000000, 0.9, 0.01, 5000000), 40000000);
	assert_int_equal(budget_operations_for(40000000, 0, 0.01, 1000000), 5000000);
	assert_int_equal(budget_operations_for(UINT64_C(900000000), 0.9, 0.01, 1000000),
			 1000000 * (uint64_t)BUDGET_OPERATIONS_MAX);
}

TEST(operations_follow_the_cost_since_the_last_change)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {
	    [JXP__COUNTER__COUNTER_TICKS] = 100, [JXP__COUNTER__COUNTER_HANDLER_NS] = 40 * MS};
	struct budget b;

	budget_start(&b, 0.01, 5000000, &free_signals, true, UINT64_MAX);
	spend(&b, 1000 * MS, 10 * MS);
	assert_int_equal(budget_period(&b, counters), 20000000); /* 4% of 1% */
	b.next_change_ns = 0;
	spend(&b, 2000 * MS, 20 * MS);
	counters[JXP__COUNTER__COUNTER_HANDLER_NS] += 5 * MS; /* now 0.5%: the 4% are past */
	assert_int_equal(budget_period(&b, counters), 10000000);
}
