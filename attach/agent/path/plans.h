/*
 * Loops whose turns are to be counted, as handlers look for them: a table that is replaced as a
 * whole. Written by the session thread, which has checked what is in it; read by handlers, whole
 * plans or none (a sequence number says whether the table changed meanwhile).
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PATH_PLANS_H
#define JXPERF_AGENT_PATH_PLANS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/limits.h"

struct loop_plan {
	uint64_t code;  /* its number in the code map, and there */
	uint64_t start; /* its first instruction */
	uint32_t plan;  /* the engine's number */
	uint32_t header;
	uint32_t count; /* of places, */
	uint32_t ahead; /* of which the last so many are drawn first, one of them */
	uint32_t places[LIMIT_PLAN_PLACES];
};

#define PLANS_BYTES (LIMIT_PLANS * sizeof(struct loop_plan) + 64u)

/* Session thread: from now on these, at most LIMIT_PLANS. */
void plans_set(const struct loop_plan *plans, unsigned count);

/* Forgets all. */
void plans_clear(void);

/* How many there are. */
unsigned plans_count(void);

/* Plan i, if it is one of the code. False also when the table is being replaced. */
bool plans_read(unsigned i, uint64_t code, struct loop_plan *out);

#endif
