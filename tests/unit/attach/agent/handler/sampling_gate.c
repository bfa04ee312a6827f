/* The limits of a window, kept by the agent itself. The BPF program's:
 * tests/unit/daemon/broker/gate.c. */
#include "tests/unit/support/test.h"
#include <fcntl.h>
#include <unistd.h>

#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"
#include "common/perf/gate_limits.h"

#define PERIOD_NS  (100 * NS_PER_S)
#define FOREVER_NS UINT64_MAX
#define BURST      3
#define NO_PROGRAM (-1)
#define NOT_AN_FD  (-1)

static struct sampling_gate gate;
static struct thread *thread;

static int take_thread(void **state)
{
	(void)state;
	if (threads_init() < 0)
		return -1;
	thread = thread_take(1);
	return thread ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	sampling_gate_stop(&gate);
	thread_recycle(thread);
	return 0;
}

static uint64_t counter(Jxp__Counter c)
{
	return atomic_load(&thread->counters[c]);
}

/* A period of which every CPU together gives BURST ticks a second. */
static uint64_t period(void)
{
	return NS_PER_S * GATE_SLACK * (unsigned)gate_cpus(0) / BURST;
}

TEST(a_second_of_ticks_passes_at_once_and_no_more, take_thread, stop)
{
	sampling_gate_start(&gate, NO_PROGRAM, false, FOREVER_NS, period(), false, 0);
	for (int i = 0; i < BURST; i++)
		assert_true(sampling_gate_passes(thread));
	assert_false(sampling_gate_passes(thread));
	assert_int_equal(counter(JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT), 1);
	assert_int_equal(counter(JXP__COUNTER__COUNTER_GATE_WINDOW_OVER), 0);
}

TEST(nothing_passes_after_the_deadline, take_thread, stop)
{
	sampling_gate_start(&gate, NO_PROGRAM, false, clock_monotonic_ns(), period(), false, 0);
	assert_false(sampling_gate_passes(thread));
	assert_int_equal(counter(JXP__COUNTER__COUNTER_GATE_WINDOW_OVER), 1);
}

TEST(a_longer_period_gives_fewer_tokens, take_thread, stop)
{
	sampling_gate_start(&gate, NO_PROGRAM, false, FOREVER_NS, period() / 100, false, 0);
	sampling_gate_set_period(&gate, PERIOD_NS);
	assert_true(sampling_gate_passes(thread));
	assert_false(sampling_gate_passes(thread));
}

TEST(a_window_starts_with_all_its_tokens, take_thread, stop)
{
	for (int window = 0; window < 2; window++) {
		sampling_gate_start(&gate, NO_PROGRAM, false, FOREVER_NS, PERIOD_NS, false, 0);
		assert_true(sampling_gate_passes(thread));
		assert_false(sampling_gate_passes(thread));
	}
}

TEST(with_the_kernels_gate_everything_that_comes_passes, take_thread, stop)
{
	sampling_gate_start(&gate, open("/dev/null", O_RDONLY | O_CLOEXEC), true,
			    clock_monotonic_ns(), PERIOD_NS, false, 0);
	for (int i = 0; i < BURST; i++)
		assert_true(sampling_gate_passes(thread));
}

TEST(an_event_that_does_not_take_the_kernels_gate_makes_the_agent_keep_the_limits, take_thread,
     stop)
{
	sampling_gate_start(&gate, open("/dev/null", O_RDONLY | O_CLOEXEC), true, FOREVER_NS,
			    PERIOD_NS, false, 0);
	assert_false(sampling_gate_attach(&gate, NOT_AN_FD));
	assert_true(sampling_gate_passes(thread));
	assert_false(sampling_gate_passes(thread));
}

TEST(without_a_program_there_is_nothing_to_attach, take_thread, stop)
{
	sampling_gate_start(&gate, NO_PROGRAM, false, FOREVER_NS, PERIOD_NS, false, 0);
	assert_true(sampling_gate_attach(&gate, NOT_AN_FD));
}

TEST(an_event_without_the_program_that_was_sent_is_told, take_thread, stop)
{
	sampling_gate_start(&gate, NO_PROGRAM, true, FOREVER_NS, PERIOD_NS, false, 0);
	assert_false(sampling_gate_attach(&gate, NOT_AN_FD));
	assert_true(sampling_gate_passes(thread));
	assert_false(sampling_gate_passes(thread));
}

TEST(the_end_of_a_window_closes_the_program, take_thread, stop)
{
	int program = open("/dev/null", O_RDONLY | O_CLOEXEC);

	sampling_gate_start(&gate, program, true, FOREVER_NS, PERIOD_NS, false, 0);
	sampling_gate_stop(&gate);
	assert_int_equal(fcntl(program, F_GETFD), -1);
}
