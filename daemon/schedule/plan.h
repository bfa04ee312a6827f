/*
 * The plan of one schedule for one JVM: whether a window is due in the epoch that it is now, and
 * since when it has to wait. One plan an epoch; what was missed is not caught up.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_PLAN_H
#define JXPERF_DAEMON_SCHEDULE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/schedule/backoff.h"
#include "daemon/shares/miss.h"
#include "fleet/config/config.h"
#include "fleet/draw.h"

enum plan_state {
	PLAN_NONE, /* not drawn in this epoch, or not in time */
	PLAN_DUE,  /* waits for its time, or for what is in the way */
	PLAN_DONE, /* run, running or missed */
};

/* Epochs from the present one on in which the next window is looked for, to show it. */
#define PLAN_EPOCHS_AHEAD_MAX 1000
/* Times that the clock may be set whose epochs are told apart from those that were looked at. */
#define PLAN_SPANS 4

/* Epochs in a row. */
struct plan_span {
	uint64_t first, last;
};

/* All zero: no epoch was looked at yet. */
struct plan {
	bool matches;
	unsigned spans; /* that there were; the last PLAN_SPANS of them are known */
	struct plan_span looked_at[PLAN_SPANS];
	enum plan_state state;
	uint64_t epoch;
	uint64_t start_unix_ns;
	enum miss in_the_way;
	double weight_s;        /* draw_weight_s when the epoch was looked at */
	double probability;     /* jvm_fraction from here on, of a schedule with a target; 0: it is
				 * not known */
	enum miss refused;      /* the last window of this schedule was, before it began */
	enum miss trouble;      /* why its last windows make that it is left alone; */
	struct backoff backoff; /* for so long, by the planner's clock */
	uint64_t row;           /* the planner's: the JVM counts in this row of its schedule */
	/* The next window beyond this epoch: those after ahead_from up to ahead_to were drawn, and
	 * the last of them begins next_unix_ns, or none does (0). */
	uint64_t ahead_from;
	uint64_t ahead_to;
	uint64_t next_unix_ns;
};

/* Makes the plan of the epoch that unix_ns is in, once: when the clock is set back to one that was
 * looked at, nothing is run there again. Epochs that it is set over have no plan. With a
 * jvm_fraction of 0, which is not known yet, an epoch is not looked at. True with *missed
 * set when the plan that there was has not been run and never will be. */
bool plan_look(struct plan *plan, const struct draw *d, const char *jvm, uint64_t unix_ns,
	       enum miss *missed);

/* Looks for the next window beyond the epoch that it is now, until there is one that begins after
 * unix_ns, with at most *draws draws, which are taken off; what was drawn is not drawn again. False
 * when they did not suffice. With a jvm_fraction of 0 there is none. */
bool plan_look_ahead(struct plan *plan, const struct draw *d, const char *jvm, uint64_t unix_ns,
		     unsigned *draws);

/* Has its time come? */
bool plan_is_due(const struct plan *plan, uint64_t unix_ns);

/* Has it waited too long? */
bool plan_is_late(const struct plan *plan, const struct config_schedule *s, uint64_t unix_ns);

#endif
