/*
 * What the planner knows of one schedule: what was counted of its windows, which shows, and whether
 * it has stopped itself.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_PLANNER_SCHEDULE_H
#define JXPERF_DAEMON_SCHEDULE_PLANNER_SCHEDULE_H

#include <stdint.h>

#include "daemon/schedule/backoff.h"
#include "daemon/shares/miss.h"
#include "daemon/shares/shares.h"
#include "fleet/config/config.h"

#define PLANNER_REASON_BYTES 256

struct planner_schedule {
	const struct config_schedule *config;
	uint64_t windows; /* that ran */
	uint64_t failed;  /* that could not, or ended early by an error */
	uint64_t costly;  /* of those that ran: above their budget */
	uint64_t missed[MISS_MAX];
	uint64_t overhead_ns;      /* CPU time that its windows took of JVMs, as far as they told */
	uint64_t last_ran_unix_ns; /* when a window last ran within its budget; 0: none yet */
	uint32_t in_a_row; /* JVMs whose windows cost too much, since the last that did not */
	char stopped[PLANNER_REASON_BYTES]; /* why it stopped itself, or "" */
	struct backoff backoff;             /* until when, by the planner's clock */
	/* The planner's own. */
	struct shares costly_of; /* of in_a_row, how many are whose */
	uint64_t row;            /* which one it is that is counted */
};

#endif
