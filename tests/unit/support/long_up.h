/*
 * For tests of what has lasted a while: to them, the machine has been up for an hour longer than it
 * has. They may run in the first minute after it started.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_LONG_UP_H
#define JXPERF_TESTS_UNIT_SUPPORT_LONG_UP_H

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In place of the C library's, also for libuv. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	int r = (int)syscall(SYS_clock_gettime, clock, out);

	if (r == 0 && clock == CLOCK_MONOTONIC)
		out->tv_sec += 3600;
	return r;
}

#endif
