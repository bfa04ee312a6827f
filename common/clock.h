/* Monotonic time, async-signal-safe (clock_gettime is a vDSO call here). */
#ifndef JXPERF_COMMON_CLOCK_H
#define JXPERF_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

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

#endif
