#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "common/perf/gate_limits.h"

#define END_NS    UINT64_C(123456789)
#define PERIOD_NS (5 * NS_PER_MS)

/* How many samples pass in a second when this many are offered, evenly. */
static unsigned passing(const struct gate_limits *limits, unsigned offered)
{
	struct gate g = {.limits = *limits};
	uint64_t start = UINT64_C(1) << 40;
	unsigned passed = 0;

	g.limits.window_end_ns = UINT64_MAX;
	while (gate_admit(&g, start) == GATE_PASSED) /* The burst is not what is looked at. */
		;
	for (unsigned i = 1; i <= offered; i++)
		passed += gate_admit(&g, start + i * NS_PER_S / offered) == GATE_PASSED;
	return passed;
}

TEST(what_the_period_allows_all_cpus_passes)
{
	struct gate_limits limits;

	gate_limits_for(&limits, END_NS, PERIOD_NS, false, 4);
	assert_int_equal(limits.window_end_ns, END_NS);
	assert_int_equal(passing(&limits, 1600), 1600);
	assert_int_equal(passing(&limits, 16000), 3200);
}

TEST(a_second_of_ticks_may_come_at_once)
{
	struct gate g = {0};
	unsigned passed = 0;

	gate_limits_for(&g.limits, UINT64_MAX, PERIOD_NS, false, 1);
	while (gate_admit(&g, NS_PER_S) == GATE_PASSED)
		passed++;
	assert_int_equal(passed, 800);
}

TEST(a_period_of_operations_allows_what_the_fastest_cpu_retires)
{
	struct gate_limits limits;

	gate_limits_for(&limits, END_NS, 5000000, true, 1);
	assert_int_equal(passing(&limits, 4000), 4000);
	assert_int_equal(passing(&limits, 16000), 8000);
}

TEST(every_period_gives_limits_that_a_gate_takes)
{
	static const uint64_t periods[] = {1, 2, 1000, NS_PER_S, UINT64_MAX};

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
		for (unsigned cpus = 0; cpus < 1000; cpus += 333) {
			struct gate_limits limits;

			gate_limits_for(&limits, END_NS, periods[i], i % 2, cpus);
			assert_in_range(limits.interval_ns, 1, GATE_TIME_MAX_NS);
			assert_in_range(limits.burst_ns, limits.interval_ns, GATE_TIME_MAX_NS);
		}
}

TEST(a_target_that_may_use_less_gets_less)
{
	struct gate_limits whole, half;

	assert_true(gate_cpus(0) >= 1);
	assert_true(gate_cpus(0.5) == 0.5);
	assert_true(gate_cpus(1e9) == gate_cpus(0));
	gate_limits_for(&whole, END_NS, PERIOD_NS, false, 1);
	gate_limits_for(&half, END_NS, PERIOD_NS, false, 0.5);
	assert_true(half.interval_ns == 2 * whole.interval_ns);
	gate_limits_for(&half, END_NS, PERIOD_NS, false, 1e-300);
	assert_true(half.interval_ns == GATE_TIME_MAX_NS);
}
