/* Timers on CPU clocks, by the kernel's own: what they bring, and where it finds a thread. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "attach/agent/handler/cpu_sample.h"
#include "attach/agent/ticks/cpu_timer.h"
#include "common/clock.h"

#define SIG_DATA UINT64_C(0x4a58000100000200)
#define MANY     12

static int timer;
static volatile sig_atomic_t signals, user, kernel, returning;
static struct cpu_sides last;
static uint64_t scheduler_tick_ns;
static uint64_t data_seen;

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct cpu_sides now;

	(void)number;
	data_seen = info->si_code == SI_TIMER ? (uint64_t)info->si_value.sival_ptr : 0;
	cpu_timer_sides(&now);
	/* One tick since the last signal, so it is known where that was. */
	if (now.user_ns + now.kernel_ns - last.user_ns - last.kernel_ns < 2 * scheduler_tick_ns) {
		user += now.user_ns > last.user_ns;
		kernel += now.kernel_ns > last.kernel_ns;
		returning += cpu_sample_side(context) == CPU_KERNEL;
	}
	last = now;
	signals++;
	(void)cpu_timer_set(timer, 1);
}

static int set_up(void **state)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};

	(void)state;
	scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	signals = user = kernel = returning = 0;
	timer = cpu_timer_create((pid_t)syscall(SYS_gettid), SIG_DATA);
	return timer < 0 || sigaction(SIGTRAP, &action, NULL) < 0;
}

static int tear_down(void **state)
{
	(void)state;
	cpu_timer_delete(timer);
	return 0;
}

static void in_user_mode(void)
{
	for (volatile unsigned i = 0; i < 100000; i++)
		;
}

static void in_a_system_call(void)
{
	static char bytes[1 << 20];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	/* Not by read(): ThreadSanitizer's takes user time for all of the buffer. */
	assert_int_equal(syscall(SYS_read, fd, bytes, sizeof(bytes)), sizeof(bytes));
	(void)close(fd);
}

static void in_page_faults(void)
{
	const size_t size = 8u << 20;
	volatile char *p =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	(void)munmap((void *)p, size);
}

static void run_until_many(void (*work)(void))
{
	cpu_timer_sides(&last);
	assert_int_equal(cpu_timer_set(timer, 1), 0);
	while (signals < 4 * MANY)
		work();
	assert_int_equal(data_seen, SIG_DATA);
	assert_true(user + kernel >= MANY);
}

TEST(user_time_is_told, set_up, tear_down)
{
	run_until_many(in_user_mode);
	assert_true(user > 4 * kernel);
	assert_true(returning * 4 < user);
}

TEST(time_in_system_calls_is_told_and_seen_at_their_return, set_up, tear_down)
{
	run_until_many(in_a_system_call);
	assert_true(kernel > 4 * user);
	assert_true(returning > kernel / 2);
}

/* Nothing in the registers says so. */
TEST(time_in_page_faults_is_told, set_up, tear_down)
{
	run_until_many(in_page_faults);
	assert_true(kernel > user);
}

TEST(a_timer_that_is_off_brings_nothing, set_up, tear_down)
{
	assert_int_equal(cpu_timer_set(timer, 1), 0);
	assert_int_equal(cpu_timer_set(timer, 0), 0);
	for (uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 3 * scheduler_tick_ns;
	     clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		in_user_mode();
	assert_int_equal(signals, 0);
}

TEST(no_system_call_is_cut_short, set_up, tear_down)
{
	assert_int_equal(cpu_timer_set(timer, 1), 0);
	while (signals < MANY) {
		/* poll is never restarted by the kernel. */
		assert_int_equal(poll(NULL, 0, 1), 0);
		in_a_system_call();
	}
}

TEST(a_thread_that_is_not_there_is_refused, set_up, tear_down)
{
	assert_int_equal(cpu_timer_create(1, SIG_DATA), -EINVAL);
}
