/* Opens real events on this thread; where the machine forbids them the tests say SKIP. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/perf/events.h"

/* What the handler saw. */
static volatile sig_atomic_t traps, trap_code, trap_async;
static volatile uint64_t trap_data;

static volatile uint64_t watched __attribute__((aligned(8)));

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	traps++;
	trap_code = info->si_code;
	trap_data = perf_siginfo_data(info);
	trap_async = perf_siginfo_async(info);
}

static int setup(void **state)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	(void)state;
	traps = 0;
	return sigaction(SIGTRAP, &action, NULL);
}

/* Opens attr on this thread or skips the test. */
static int open_or_skip(const struct perf_event_attr *attr)
{
	int fd = perf_open(attr, 0);

	if (fd == -EPERM || fd == -EACCES || fd == -ENOENT || fd == -EINVAL || fd == -ENOSYS) {
		print_message("perf_event_open: %s\n", strerror(-fd));
		skip();
	}
	assert_true(fd >= 0);
	return fd;
}

static void busy_for(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	/* The clock of a thread is read by a system call: look at it rarely, because ticks in the
	 * kernel are not ours. */
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile unsigned spin = 0; spin < 20000; spin++)
			;
}

TEST(the_clock_fires_in_cpu_time_with_its_data, setup)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_clock(&attr, NS_PER_MS, 0x1234567890);
	fd = open_or_skip(&attr);
	busy_for(5 * NS_PER_MS);
	assert_int_equal(traps, 0); /* Created disabled. */
	assert_int_equal(perf_enable(fd), 0);
	busy_for(50 * NS_PER_MS);
	assert_int_equal(perf_disable(fd), 0);
	assert_true(traps >= 5); /* 50 on an idle machine; ticks in the kernel are not ours. */
	assert_int_equal(trap_code, PERF_TRAP_CODE);
	assert_true(trap_data == 0x1234567890);
	assert_false(trap_async);
	close(fd);
}

TEST(a_disabled_event_is_silent, setup)
{
	struct perf_event_attr attr;
	int fd, seen;

	perf_attr_clock(&attr, NS_PER_MS, 0);
	fd = open_or_skip(&attr);
	assert_int_equal(perf_enable(fd), 0);
	busy_for(5 * NS_PER_MS);
	assert_int_equal(perf_disable(fd), 0);
	seen = traps;
	busy_for(10 * NS_PER_MS);
	assert_int_equal(traps, seen);
	close(fd);
}

TEST(a_longer_period_fires_less, setup)
{
	struct perf_event_attr attr;
	int fd, fast;

	perf_attr_clock(&attr, NS_PER_MS, 0);
	fd = open_or_skip(&attr);
	assert_int_equal(perf_enable(fd), 0);
	busy_for(40 * NS_PER_MS);
	fast = traps;
	assert_int_equal(perf_set_period(fd, 20 * NS_PER_MS), 0);
	traps = 0;
	busy_for(40 * NS_PER_MS);
	assert_int_equal(perf_disable(fd), 0);
	assert_true(traps < fast);
	close(fd);
}

TEST(a_write_watchpoint_traps_on_writes_only, setup)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched, 8, 42);
	fd = open_or_skip(&attr);
	assert_int_equal(perf_enable(fd), 0);
	(void)watched;
	assert_int_equal(traps, 0);
	watched = 1;
	assert_int_equal(traps, 1);
	assert_true(trap_data == 42);
	assert_int_equal(perf_disable(fd), 0);
	close(fd);
}

TEST(a_read_write_watchpoint_traps_on_both, setup)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_breakpoint(&attr, HW_BREAKPOINT_RW, (uintptr_t)&watched, 8, 0);
	fd = open_or_skip(&attr);
	assert_int_equal(perf_enable(fd), 0);
	(void)watched;
	assert_int_equal(traps, 1);
	watched = 2;
	assert_int_equal(traps, 2);
	assert_int_equal(perf_disable(fd), 0);
	close(fd);
}

__attribute__((noinline)) static void target_function(void)
{
	__asm__ volatile("nop");
}

/* The way a register goes from an execution breakpoint to the watchpoint of what it found. */
TEST(one_event_changes_from_execution_to_data, setup)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_breakpoint(&attr, HW_BREAKPOINT_X, (uintptr_t)target_function, 0, 7);
	fd = open_or_skip(&attr);
	assert_int_equal(perf_enable(fd), 0);
	target_function();
	assert_int_equal(traps, 1);
	perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched, 4, 7);
	attr.disabled = 0;
	assert_int_equal(perf_modify(fd, &attr), 0);
	target_function();
	assert_int_equal(traps, 1);
	watched = 3;
	assert_int_equal(traps, 2);
	assert_int_equal(perf_disable(fd), 0);
	close(fd);
}

TEST(every_debug_register_can_be_had, setup)
{
	static volatile uint64_t words[PERF_DEBUG_REGISTERS];
	int fds[PERF_DEBUG_REGISTERS];
	struct perf_event_attr attr;

	for (int i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&words[i], 8, (uint64_t)i);
		fds[i] = open_or_skip(&attr);
		assert_int_equal(perf_enable(fds[i]), 0);
	}
	for (int i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		words[i] = 1;
		assert_int_equal(traps, i + 1);
		assert_int_equal(trap_data, i);
	}
	for (int i = 0; i < PERF_DEBUG_REGISTERS; i++)
		close(fds[i]);
}

TEST(descriptors_are_closed_on_exec, setup)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_clock(&attr, NS_PER_MS, 0);
	fd = open_or_skip(&attr);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

TEST(a_thread_that_is_gone_cannot_be_watched, setup)
{
	struct perf_event_attr attr;

	perf_attr_clock(&attr, NS_PER_MS, 0);
	/* Above the kernel's largest pid, PID_MAX_LIMIT. */
	assert_int_equal(perf_open(&attr, 4194305), -ESRCH);
}
