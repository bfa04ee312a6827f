/*
 * When the clock sampler's event is to come next, and what for.
 *
 * A thread has one event. It comes for a tick, and where something waits by then, PATIENCE_NS after
 * the tick for a look. The event's period holds until it is set again, also for what the kernel or
 * the gate drops: so none is ever shorter than PATIENCE_NS, unless ticks are.
 *
 * Pure; one thread. Times are the thread's CPU time.
 */
#ifndef JXPERF_AGENT_RESERVOIR_TICK_PLAN_H
#define JXPERF_AGENT_RESERVOIR_TICK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"

/* All 0: as a thread begins, whose event has the sampler's period. */
struct tick_plan {
	uint64_t length_ns; /* from the last tick to the next one */
	unsigned alike;     /* ticks to come with this length */
	uint64_t tick_ns;   /* when the last one was */
	bool look;          /* the event comes before the tick */
};

/* Does an event at cpu_ns come for a look? A late one is the tick that was to follow. */
bool tick_plan_is_look(const struct tick_plan *p, uint64_t cpu_ns);

/* After a tick at cpu_ns, the sampler's period being period: the period that the event is to have.
 * look: something waits. */
uint64_t tick_plan_next(struct tick_plan *p, struct random *random, uint64_t period,
			uint64_t cpu_ns, bool look);

/* No look is wanted any more: likewise. */
uint64_t tick_plan_end_look(struct tick_plan *p, uint64_t cpu_ns);

/* What the event came for was refused: likewise. */
uint64_t tick_plan_refused(struct tick_plan *p, uint64_t period);

#endif
