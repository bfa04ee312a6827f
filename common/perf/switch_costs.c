#include "common/perf/switch_costs.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/perf/events.h"

/* The least of some batches: other processes come in between, and never make a batch shorter. */
#define ROUNDS  50u
#define BATCHES 9u

/* Where others have the processor, each switch may wait for their turns: then fewer batches do. */
#define LIMIT_NS (50 * NS_PER_MS)

#define BREAKPOINTS 4u

static bool hand_on(int fd)
{
	char byte = 0;

	return write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1;
}

/* Gives back what it gets until the other end is closed. */
static void *partner(void *arg)
{
	int fd = *(const int *)arg;
	char byte;

	while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
		;
	return NULL;
}

/* This thread's CPU time for one round: a switch away, and one back. */
static int round_ns(int fd, double *ns)
{
	uint64_t least = UINT64_MAX, deadline = clock_monotonic_ns() + LIMIT_NS;

	for (unsigned batch = 0; batch < BATCHES && (batch == 0 || clock_monotonic_ns() < deadline);
	     batch++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

		for (unsigned i = 0; i < ROUNDS; i++)
			if (!hand_on(fd))
				return -EIO;
		took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		if (took < least)
			least = took;
	}
	*ns = (double)least / ROUNDS;
	return 0;
}

static double above(double with_ns, double without_ns)
{
	return with_ns > without_ns ? with_ns - without_ns : 0;
}

static int measure_clock(int fd, double bare_ns, struct switch_costs *costs)
{
	struct perf_event_attr attr;
	_cleanup_close_ int event = -1;
	double ns = 0;
	int r;

	perf_attr_clock(&attr, 100 * NS_PER_S, 0); /* It never fires. */
	event = perf_open(&attr, 0);
	r = event < 0 ? event : perf_enable(event);
	if (r == 0)
		r = round_ns(fd, &ns);
	if (r == 0)
		costs->clock_ns = above(ns, bare_ns);
	return r;
}

static int measure_held_and_armed(int fd, const int *events, double bare_ns,
				  struct switch_costs *costs)
{
	double held_ns = 0, armed_ns = 0;
	int r = round_ns(fd, &held_ns);

	if (r == 0)
		r = perf_enable(events[0]);
	if (r == 0)
		r = round_ns(fd, &armed_ns);
	if (r < 0)
		return r;
	costs->held_ns = above(held_ns, bare_ns);
	costs->armed_ns = above(armed_ns, held_ns);
	return 0;
}

static int measure_breakpoints(int fd, double bare_ns, struct switch_costs *costs)
{
	static uint64_t nobody_touches;
	int events[BREAKPOINTS], r = 0;
	unsigned count = 0;

	while (count < BREAKPOINTS && r == 0) {
		struct perf_event_attr attr;

		perf_attr_breakpoint(&attr, HW_BREAKPOINT_RW, (uintptr_t)&nobody_touches,
				     sizeof(nobody_touches), 0);
		r = perf_open(&attr, 0);
		if (r >= 0)
			events[count++] = r;
		r = r < 0 ? r : 0;
	}
	if (r == 0)
		r = measure_held_and_armed(fd, events, bare_ns, costs);
	fd_close_all(events, count);
	return r;
}

static int measure(int fd, struct switch_costs *costs)
{
	struct switch_costs measured;
	double bare_ns = 0;
	int r = round_ns(fd, &bare_ns); /* The first batches warm up. */

	if (r == 0)
		r = round_ns(fd, &bare_ns);
	if (r == 0)
		r = measure_clock(fd, bare_ns, &measured);
	if (r == 0)
		r = measure_breakpoints(fd, bare_ns, &measured);
	if (r == 0)
		*costs = measured;
	return r;
}

/* With a partner on this thread's processor, which inherits where it may run. */
static int measure_with_partner(struct switch_costs *costs)
{
	int ends[2], r;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	r = -pthread_create(&thread, NULL, partner, &ends[1]);
	if (r == 0) {
		r = measure(ends[0], costs);
		(void)shutdown(ends[0], SHUT_RDWR); /* Ends the partner; cannot fail. */
		(void)pthread_join(thread, NULL);
	}
	fd_close_all(ends, 2);
	return r;
}

int switch_costs_measure(struct switch_costs *costs)
{
	cpu_set_t before, here;
	int cpu = sched_getcpu(), r;

	if (cpu < 0 || sched_getaffinity(0, sizeof(before), &before) < 0)
		return -errno;
	CPU_ZERO(&here);
	CPU_SET((unsigned)cpu, &here);
	if (sched_setaffinity(0, sizeof(here), &here) < 0)
		return -errno;
	r = measure_with_partner(costs);
	(void)sched_setaffinity(0, sizeof(before), &before); /* As it was. */
	return r;
}
