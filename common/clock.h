/* Clocks, async-signal-safe (clock_gettime is a vDSO call here, a system call for CPU time). */
#ifndef JXPERF_COMMON_CLOCK_H
#define JXPERF_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

static inline double clock_s(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts); /* Cannot fail for a valid clock and address. */
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of a thread of this process. False, and *ns unchanged, when the process has no such
 * thread: the kernel gives the clock of its own threads only (kernel/time/posix-cpu-timers.c). The
 * clock's id is that of pthread_getcpuclockid(3). About a tenth of what reading /proc costs. */
static inline bool clock_thread_ns(pid_t tid, uint64_t *ns)
{
	struct timespec ts;

	if (clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6u), &ts) < 0)
		return false;
	*ns = (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
	return true;
}

#endif
