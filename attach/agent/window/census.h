/*
 * Which of the JVM's threads are profiled: those that use CPU time. At the start of a window these
 * are the ones that have used most so far; the others are dormant (dormant.h) and looked at now and
 * then. A thread that starts is found in the JVM's list, which is read anew when the JVM has
 * counted another one; while the session thread is within its part of the budget and threads live
 * long enough (turnover.h) soon, and it is profiled at once; else by the next scan, and it starts
 * as dormant. Of what lives shorter, or has not been found yet, ticks of the process tell
 * (guests.h).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_CENSUS_H
#define JXPERF_AGENT_WINDOW_CENSUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/crowd/dormant.h"
#include "attach/agent/crowd/strangers.h"
#include "attach/agent/window/monitor.h"
#include "common/err.h"
#include "proto/ledger.h"

struct census {
	struct monitor *monitor;
	struct dormant dormant;
	struct strangers strangers;
	const struct ledger *ledger;
	uint64_t next_scan_ns;          /* not before this time, */
	uint64_t next_process_ns;       /* nor before the process has used this much */
	uint64_t interval_ns;           /* from the next scan to the one after it */
	uint64_t lost;                  /* threads that could not even be noted */
	const _Atomic uint64_t *starts; /* the JVM's count of threads, or NULL, */
	uint64_t started;               /* and what it was when they were listed */
	uint64_t news_ns, next_news_ns; /* when new ones were looked for last, and may be next */
};

/* starts: the JVM's count of threads that have started, or NULL. All outlive the census. */
void census_init(struct census *c, struct monitor *monitor, const struct ledger *ledger,
		 const _Atomic uint64_t *starts);
void census_release(struct census *c);

/* Finds the JVM's threads and starts to profile the busiest. 0 or -errno. */
int census_start(struct census *c, struct err *err);

/* When it is time to, and eager: takes on the threads that have started. 0 or -errno. */
int census_news(struct census *c, bool eager, struct err *err);

/* When that is, while threads start; else UINT64_MAX. */
uint64_t census_next_ns(const struct census *c, bool eager);

/* When it is time to: threads that woke are profiled from now on. process_ns is the process's CPU
 * time in this window. 0 or -errno. */
int census_scan(struct census *c, uint64_t process_ns, struct err *err);

/* CPU time of threads that are none of Java's, in this window as far as the last scan. */
uint64_t census_strangers_ns(const struct census *c);

/* No thread is taken on any more; census_is_dormant may be asked from now on. */
void census_settle(struct census *c);

/* Has the thread had no event in this window? The argument is the census; for signals_remove. */
bool census_is_dormant(const void *census, pid_t tid);

/* Adds what it knows to the counters of the window. */
void census_counters(const struct census *c, uint64_t *counters);

#endif
