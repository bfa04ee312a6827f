/*
 * The threads that are known and not profiled, because they have used next to no CPU time since
 * they were noted: most threads of most servers wait. One costs a few bytes and one reading of its
 * CPU clock a scan, instead of events, descriptors and a place in the thread table.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_CROWD_DORMANT_H
#define JXPERF_AGENT_CROWD_DORMANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/limits.h"

/* A thread that has used this much is no longer idle. Less than one sampling period, so that hardly
 * a sample is lost by waiting for it. */
#define DORMANT_AWAKE_NS UINT64_C(1000000)

/* The same while most threads that are taken on end without a tick (turnover.h): then one has to
 * have lived for some ticks before it is worth its events. */
#define DORMANT_AWAKE_TURNOVER_NS (20 * DORMANT_AWAKE_NS)

/* Threads of the largest JVM that is followed, as many as the engine takes: 24 bytes each. */
#define DORMANT_MAX LIMIT_THREADS

struct dormant_thread {
	pid_t tid;
	bool refused;      /* it woke before and could not be profiled: counted already */
	uint64_t since_ns; /* its CPU time when it was noted */
	uint64_t cpu_ns;   /* at the last scan */
};

/* Zeroed is empty. */
struct dormant {
	struct dormant_thread *threads;
	size_t count;
	size_t capacity;
	size_t sorted; /* this many, from the first, are in order of tid */
};

void dormant_release(struct dormant *d);

/* Notes a thread that is not noted, with its CPU time so far counted (whole true) or from now on
 * only. 0; -ESRCH when it has ended; -ENOSPC; -ENOMEM. */
int dormant_add(struct dormant *d, pid_t tid, bool whole);

/* No longer dormant, or ended. One that is not noted is left alone. */
void dormant_remove(struct dormant *d, pid_t tid);

/* Reads all clocks, forgets threads that have ended, and moves those that are awake, having used
 * awake_ns, to the front, busiest first. Returns how many are awake: threads[0..] of them. */
size_t dormant_scan(struct dormant *d, uint64_t awake_ns);

/* Counts every thread's CPU time from the last scan on. */
void dormant_rebase(struct dormant *d);

/* Orders the threads by tid, for dormant_contains. */
void dormant_sort(struct dormant *d);

/* Was the thread noted when dormant_sort was last called? Until the next scan or removal. */
bool dormant_contains(const struct dormant *d, pid_t tid);

#endif
