/*
 * The set of threads being profiled: starts their ticks, has those that run Java code hold what
 * they can afford (holdings.h), retires those that end, and sums their counters.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_MONITOR_H
#define JXPERF_AGENT_WINDOW_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/agent/stream/drain.h"
#include "attach/agent/window/holdings.h"
#include "attach/agent/crowd/turnover.h"

struct monitor {
	const struct settings *settings;
	struct drain *drain;
	struct holdings holdings;
	uint64_t settled_ns;      /* no record of an earlier time will be drained */
	struct turnover turnover; /* of the threads that were taken on */
	/* At the last update: */
	uint32_t fullest; /* records in the ring that had most */
	bool newcomers;   /* threads asked for registers */
	/* Those of threads that were retired, and the set's own. */
	uint64_t totals[JXP__COUNTER__COUNTER_MAX];
};

/* All outlive the monitor. */
void monitor_init(struct monitor *m, const struct settings *settings, const struct ledger *ledger,
		  struct opener *opener, const struct sampling_gate *gate, struct drain *drain);

/* How many more threads can be taken on. */
unsigned monitor_room(const struct monitor *m);

/* Starts profiling a thread of this process, whose CPU time is told from from_ns on; one that is
 * profiled already is left alone. 0, or -errno when the session cannot go on (a thread that cannot
 * be opened is counted, not fatal). */
int monitor_add(struct monitor *m, pid_t tid, uint64_t from_ns);

/* Counts a thread that would be profiled if there were room. */
void monitor_refused(struct monitor *m);

/* Makes threads ready that asked, has what is open follow what they do, drains all rings, retires
 * threads that ended. */
int monitor_update(struct monitor *m);

/* Notes the ends of threads, whose numbers may be other threads' by now. */
void monitor_sweep(const struct monitor *m);

/* Begins and ends phases: when handlers asked, and now and then. */
int monitor_phases(struct monitor *m);

/* Is it to be looked at them before long, also when nobody asks? */
bool monitor_has_phases(const struct monitor *m);

/* After handlers.stopping was set: disables and closes the events of all threads; no new signal
 * arises after it, also when another process has a copy of their descriptors. False: handlers are
 * at work yet that may set something again. */
bool monitor_close_events(struct monitor *m);

/* After close_events and once no handler runs: what is still armed has expired; rings are drained
 * and the table is emptied. */
int monitor_finish(struct monitor *m);

/* Sums the counters of the window into counters[COUNTER_MAX]. */
void monitor_counters(const struct monitor *m, uint64_t *counters);

#endif
