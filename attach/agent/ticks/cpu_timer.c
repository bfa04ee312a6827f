#include "attach/agent/ticks/cpu_timer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

/* The kernel's numbers of a thread's clocks (include/linux/posix-timers.h): the thread, that it is
 * one, and which clock. Thread 0 is the caller. */
#define CLOCK_OF_THREAD(tid, which) ((clockid_t)(~(unsigned)(tid) << 3 | 4u | (which)))
#define WHICH_ALL_TICKS             0u
#define WHICH_USER_TICKS            1u
#define WHICH_CPU_TIME              2u

/* tid: of the thread that its signals come to, with SIGEV_THREAD_ID. */
static int create(clockid_t clock, int notify, pid_t tid, uint64_t sig_data)
{
	struct sigevent event;
	int timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = notify;
	event.sigev_signo = SIGTRAP;
	event.sigev_value.sival_ptr = (void *)sig_data;
	event._sigev_un._tid = tid;
	if (syscall(SYS_timer_create, clock, &event, &timer) < 0)
		return -errno;
	return timer;
}

int cpu_timer_create_for_process(uint64_t sig_data)
{
	return create(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, 0, sig_data);
}

int cpu_timer_create(pid_t tid, uint64_t sig_data)
{
	return create(CLOCK_OF_THREAD(tid, WHICH_CPU_TIME), SIGEV_THREAD_ID, tid, sig_data);
}

int cpu_timer_set(int timer, uint64_t cpu_ns)
{
	const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(cpu_ns / NS_PER_S),
						     .tv_nsec = (long)(cpu_ns % NS_PER_S)}};

	return syscall(SYS_timer_settime, timer, 0, &when, NULL) < 0 ? -errno : 0;
}

bool cpu_timer_is_set(int timer)
{
	struct itimerspec when = {0};

	return syscall(SYS_timer_gettime, timer, &when) == 0 &&
	       (when.it_value.tv_sec > 0 || when.it_value.tv_nsec > 0);
}

void cpu_timer_delete(int timer)
{
	if (timer >= 0)
		(void)syscall(SYS_timer_delete, timer); /* It is ours: cannot fail. */
}

void cpu_timer_sides(struct cpu_sides *sides)
{
	uint64_t user = clock_ns(CLOCK_OF_THREAD(0, WHICH_USER_TICKS));
	uint64_t all = clock_ns(CLOCK_OF_THREAD(0, WHICH_ALL_TICKS));

	sides->user_ns = user;
	sides->kernel_ns = all > user ? all - user : 0;
}

uint64_t cpu_timer_scheduler_tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || tick.tv_nsec <= 0)
		return 4 * NS_PER_MS; /* Cannot be, by clock_getres(2). */
	return (uint64_t)tick.tv_nsec;
}
