/*
 * Which of the JVM's threads are profiled: those that use CPU time. At the start of a window these
 * are the ones that have used most so far; the others are dormant (dormant.h) and looked at now and
 * then. A thread that starts is profiled at once while the session thread is within its part of the
 * budget and threads live long enough (turnover.h), else it starts as dormant. Where thousands
 * start in a second of CPU time nobody is told of them: what stays is found by the next scan. Of
 * those that live too short for either a share is sampled (guests.h): they are guests in spans of
 * time.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_CENSUS_H
#define JXPERF_AGENT_WINDOW_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/jvm/vm.h"
#include "attach/agent/crowd/dormant.h"
#include "attach/agent/window/monitor.h"
#include "common/err.h"
#include "common/random.h"

/* Of each cycle a span, somewhere in it, whose guests stand for the threads that start in all of
 * it. */
struct guest_spans {
	uint64_t told_until_ns;       /* where the cycle begins, */
	uint64_t begin_ns, length_ns; /* and its span */
	uint64_t open_ns;             /* since when guests are taken; 0: they are not */
	uint64_t started;             /* threads, by then */
	double told; /* what it takes to be told of threads all the time, of the CPU time */
	struct random random;
};

struct census {
	struct vm *vm;
	struct monitor *monitor;
	struct dormant dormant;
	double budget;            /* of the window */
	uint64_t next_scan_ns;    /* not before this time, */
	uint64_t next_process_ns; /* nor before the process has used this much */
	uint64_t interval_ns;     /* from the next scan to the one after it */
	uint64_t lost;            /* threads that could not even be noted */
	bool listens;             /* to the roster; else not before deaf_until_ns, */
	uint64_t deaf_until_ns;
	uint64_t deaf_ns; /* and when that does not help, not for so long */
	bool missed_ends; /* since the last scan, maybe */
	uint64_t started,
	    started_process_ns;     /* threads, and process_ns, from which they are counted */
	uint64_t start_ns, scan_ns; /* of the window, and at the last scan */
	struct guest_spans spans;
};

void census_init(struct census *c, struct vm *vm, struct monitor *monitor, double budget);
void census_release(struct census *c);

/* Finds the JVM's threads and starts to profile the busiest. 0 or -errno. */
int census_start(struct census *c, struct err *err);

/* Takes on the threads that have started (attach/agent/jvm/roster.h): profiled at once when eager.
 * 0 or -errno. */
int census_news(struct census *c, bool eager, struct err *err);

/* When it is time to: threads that woke are profiled from now on. process_ns is the process's CPU
 * time in this window. 0 or -errno. */
int census_scan(struct census *c, uint64_t process_ns, struct err *err);

/* Begins and ends spans in which threads that start are guests, when it is time to; and when that
 * is. */
void census_guests(struct census *c, uint64_t process_ns);
uint64_t census_next_ns(const struct census *c);

/* No thread is taken on any more; census_is_dormant may be asked from now on. */
void census_settle(struct census *c);

/* Has the thread had no event in this window? The argument is the census; for signals_remove. */
bool census_is_dormant(const void *census, pid_t tid);

/* Adds what it knows to the counters of the window. */
void census_counters(const struct census *c, uint64_t *counters);

#endif
