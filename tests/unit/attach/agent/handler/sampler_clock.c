/* When a timer's signal is a tick: by what the scheduler has counted of this thread. */
#include "tests/unit/support/test.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"

static struct thread *t;

static int set_up(void **state)
{
	(void)state;
	handlers.scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	if (threads_init() < 0 || signal(SIGTRAP, SIG_IGN) == SIG_ERR)
		return -1;
	t = thread_take((pid_t)syscall(SYS_gettid));
	t->timer = cpu_timer_create(t->tid, thread_sig_data(t, THREAD_ROLE_SAMPLING));
	t->signal_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return t->timer < 0;
}

static int tear_down(void **state)
{
	(void)state;
	cpu_timer_delete(t->timer);
	thread_recycle(t);
	return 0;
}

/* In user mode, until so many ticks have come since the thread's sides were looked at. */
static void run_for(unsigned ticks)
{
	uint64_t begin = t->sides.user_ns + t->sides.kernel_ns;
	struct cpu_sides now;

	do
		cpu_timer_sides(&now);
	while (now.user_ns + now.kernel_ns < begin + ticks * handlers.scheduler_tick_ns);
}

TEST(a_tick_behind_another_is_taken, set_up, tear_down)
{
	run_for(3);
	assert_true(sampler_clock.on_stop(t));
	run_for(1);
	assert_false(sampler_clock.on_stop(t));
	assert_int_not_equal(t->side, CPU_UNKNOWN);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS_STOPS]), 1);
}

/* As where each waits for the end of a system call that lasts for some. */
TEST(ticks_that_never_come_alone_are_taken_in_the_end, set_up, tear_down)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < 9; i++) {
		run_for(3);
		taken += !sampler_clock.on_stop(t);
	}
	assert_int_equal(taken, 3);
}

TEST(a_perf_clock_s_signals_are_ticks_at_once, set_up, tear_down)
{
	t->clock_on = true;
	run_for(3);
	assert_false(sampler_clock.on_stop(t));
	assert_int_equal(t->side, CPU_UNKNOWN);
}
