/*
 * Finds out on which node the pages of a window's sampled accesses are: asks the broker, a batch at
 * a time, and places them in the window's NUMA profile.
 *
 * Loop thread only. A page may have moved between the access and the question, which comes within
 * milliseconds of the batch that brought the access.
 */
#ifndef JXPERF_DAEMON_ENGINE_NUMA_QUERY_H
#define JXPERF_DAEMON_ENGINE_NUMA_QUERY_H

#include <sys/types.h>

#include "daemon/broker/client.h"
#include "profile/numa_profile.h"

/* All zero: nothing is asked. */
struct numa_query {
	struct broker_client *broker;
	const struct numa_topology *topology;
	struct numa_profile *profile;
	uint64_t *touches_lost;
	pid_t pid;
	int request; /* open one, or 0 */
	struct numa_access asked[BROKER_PAGES_MAX];
	size_t asked_count;
};

/* Borrows all; no question is asked yet. touches_lost is where replies say how many first touches
 * there was no room for. */
void numa_query_init(struct numa_query *q, struct broker_client *broker, pid_t pid,
		     const struct numa_topology *topology, struct numa_profile *profile,
		     uint64_t *touches_lost);

/* Asks for the oldest waiting accesses, unless a question is open; its answer asks for the next. */
void numa_query_pump(struct numa_query *q);

/* No answer is taken any more; what was asked counts as unplaced. */
void numa_query_release(struct numa_query *q);

#endif
