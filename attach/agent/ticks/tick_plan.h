/*
 * When a thread's next tick is due, and what a tick stands for.
 *
 * Ticks are due at points of the thread's CPU time, half to one and a half periods apart at random,
 * the first one within a period: so as many come on average as the CPU time has periods, whatever
 * the program does, and each stands for a period. What brings them may be late: a CPU timer by the
 * scheduler's tick, any clock where the thread runs for short times only, where the kernel
 * throttles or the gate drops. Then one tick stands for all that were due.
 *
 * A thread has one event. It comes for a tick, and where something waits by then, PATIENCE_NS after
 * the tick for a look.
 *
 * Pure; one thread. Times are the thread's CPU time.
 */
#ifndef JXPERF_AGENT_TICKS_TICK_PLAN_H
#define JXPERF_AGENT_TICKS_TICK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"

struct tick_plan {
	uint64_t due_ns;    /* when the next tick is */
	uint64_t length_ns; /* from the one before to it, */
	uint64_t period_ns; /* as drawn from this period, for which it stands */
	unsigned alike;     /* ticks to come with this length */
	bool mirrors;       /* it makes up for the one before */
	bool look;          /* the event comes before the tick */
};

/* The CPU time that is told begins at from_ns. */
void tick_plan_begin(struct tick_plan *p, struct random *random, uint64_t period, uint64_t from_ns);

/* Does an event at cpu_ns come for a look? A late one is the tick that was to follow. */
bool tick_plan_is_look(const struct tick_plan *p, uint64_t cpu_ns);

/* A tick came at cpu_ns; the next one is drawn with this period. The CPU time that it stands for;
 * 0: none was due. An event may come before it is due by a little, as clocks differ. */
uint64_t tick_plan_tick(struct tick_plan *p, struct random *random, uint64_t period,
			uint64_t cpu_ns);

/* When the event is to come next, at or after cpu_ns. look: something waits. */
uint64_t tick_plan_next(struct tick_plan *p, uint64_t cpu_ns, bool look);

#endif
