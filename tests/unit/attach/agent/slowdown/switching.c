/* How often a thread switches, and how long it is in the kernel. */
#include "tests/unit/support/test.h"

#include "attach/agent/slowdown/switching.h"
#include "common/clock.h"

TEST(a_thread_is_judged_by_its_life_at_first)
{
	struct switching s = {0};

	assert_int_equal(switching_note(&s, 5000, NS_PER_S, NS_PER_S / 4), 0);
	assert_float_equal(s.per_ns * 1e9, 5000, 1);
	assert_float_equal(s.kernel, 0.25, 1e-9);
}

TEST(what_it_does_now_counts_more_the_longer_it_does)
{
	struct switching s = {0};
	uint64_t cpu = NS_PER_S, switches = 0;

	(void)switching_note(&s, switches, cpu, 0);
	cpu += SWITCHING_MEMORY_NS;
	assert_int_equal(switching_note(&s, switches += 1000, cpu, SWITCHING_MEMORY_NS), 1000);
	assert_float_equal(s.per_ns * 1e9, 5000, 1);
	assert_float_equal(s.kernel, 0.5, 1e-9);
	for (unsigned i = 0; i < 20; i++)
		(void)switching_note(&s, switches += 1000, cpu += SWITCHING_MEMORY_NS, 0);
	assert_float_equal(s.per_ns * 1e9, 10000, 10);
}

TEST(counts_that_went_back_are_passed_over)
{
	struct switching s = {0};

	(void)switching_note(&s, 1000, NS_PER_S, NS_PER_MS);
	assert_int_equal(switching_note(&s, 999, 2 * NS_PER_S, NS_PER_MS), 0);
	assert_int_equal(switching_note(&s, 1001, NS_PER_S, NS_PER_MS), 0);
	assert_int_equal(s.switches, 1000);
}
