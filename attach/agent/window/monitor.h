/*
 * The set of threads being profiled: opens their events, gives registers to those that run Java
 * code, retires those that end, and sums their counters.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_MONITOR_H
#define JXPERF_AGENT_WINDOW_MONITOR_H

#include <stdint.h>
#include <sys/types.h>

#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/stream/drain.h"
#include "attach/agent/window/opener.h"
#include "attach/agent/window/settings.h"
#include "attach/agent/window/turnover.h"

struct monitor {
	const struct settings *settings;
	bool objects; /* the window is for objects, too: threads get what that takes */
	struct opener *opener;
	const struct sampling_gate *gate; /* which the threads' sampling events get */
	struct drain *drain;
	uint64_t settled_ns;      /* no record of an earlier time will be drained */
	unsigned fds_left;        /* descriptors that may still be taken from the target */
	struct turnover turnover; /* of the threads that were taken on */
	/* At the last update: */
	uint32_t fullest; /* records in the ring that had most */
	bool newcomers;   /* threads asked for registers */
	/* Of threads that were retired, and the set's own. */
	uint64_t totals[JXP__COUNTER__COUNTER_MAX];
};

/* All outlive the monitor. */
void monitor_init(struct monitor *m, const struct settings *settings, struct opener *opener,
		  const struct sampling_gate *gate, struct drain *drain);

/* How many more threads can be taken on. */
unsigned monitor_room(const struct monitor *m);

/* Starts profiling a thread of this process; one that is profiled already is left alone. 0, or
 * -errno when the session cannot go on (a thread that cannot be opened is counted, not fatal). */
int monitor_add(struct monitor *m, pid_t tid);

/* Counts a thread that would be profiled if there were room. */
void monitor_refused(struct monitor *m);

/* Opens registers for threads that asked, gives threads that get ticks handlers.period, drains all
 * rings, retires threads that ended. */
int monitor_update(struct monitor *m);

/* After handlers.stopping was set: disables and closes the events of all threads; no new signal
 * arises after it, also when another process has a copy of their descriptors. */
void monitor_close_events(struct monitor *m);

/* After close_events and once no handler runs: what is still armed has expired; rings are drained
 * and the table is emptied. */
int monitor_finish(struct monitor *m);

/* Sums the counters of the window into counters[COUNTER_MAX]. */
void monitor_counters(const struct monitor *m, uint64_t *counters);

#endif
