/*
 * Says what the engine wants to know of a loop of compiled code: turns counted in bursts, what they
 * go by compared in traces, a counter read. One shape, of the engine's analysis, of the wire
 * (LoopPlans of jxperf.proto holds an array of it) and of the agent's handlers: both ends run on
 * one machine, and hellos tell whether they agree on the version.
 *
 * Flags are bytes: 0 is no. Whoever takes one from a socket asks loop_plan_fits; that the places
 * are instructions of the code is for the agent to check.
 */
#ifndef JXPERF_PROTO_LOOP_PLAN_H
#define JXPERF_PROTO_LOOP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/limits.h"

/* A value that an instruction is about to use. */
struct plan_input {
	uint32_t offset;
	uint16_t bytes; /* that its memory operand loads; 0: what is in a register */
	uint16_t reg;   /* as in machine code */
};

/* One that is alike in all turns of an instance: a register's low bytes, or those that lie at so
 * much from where it points. */
struct plan_scalar {
	int32_t displacement;
	uint16_t reg;
	uint8_t bytes; /* 1 to 8 */
	uint8_t slot;
};

/* An instruction, and what holds a loop's counter when it is come to. */
struct plan_counter_place {
	uint32_t offset;
	struct plan_scalar at;
};

struct loop_plan {
	uint64_t code;   /* its number in the agent's code map */
	uint64_t start;  /* of the code there: the agent's; 0 on the wire */
	uint32_t plan;   /* the engine's number, never the same for two in a window */
	uint32_t header; /* offset of the header's first instruction */
	/* Bursts: offsets of instructions to be counted beside the header. */
	uint32_t count; /* of places, */
	uint32_t ahead; /* of which the last so many are drawn first, one of them */
	uint32_t places[LIMIT_PLAN_PLACES];
	/* For two instances, one behind the other: entry, then one of loads, drawn, and scalars,
	 * read where that is. */
	uint32_t entry;     /* offset of what runs once for each instance, before its first turn */
	uint8_t load_count; /* 0: instances are not compared */
	uint8_t scalar_count;
	uint8_t turn_input_count; /* 0: turns are not compared */
	uint8_t end_count;        /* 0: its counter is not read */
	uint8_t counted;          /* bursts are wanted */
	uint8_t recursion;        /* the header is where the method begins: a call is a turn */
	uint8_t unused[6];
	struct plan_input loads[LIMIT_PLAN_LOADS];
	struct plan_scalar scalars[LIMIT_PLAN_SCALARS];
	/* For turns, one behind the other: all of these. */
	struct plan_input turn_inputs[LIMIT_PLAN_TURN_INPUTS];
	/* For how far the counter of one instance goes: come to before the first turn, and where
	 * the loop is left. */
	struct plan_counter_place begin, ends[LIMIT_PLAN_ENDS];
};

_Static_assert(sizeof(struct loop_plan) % sizeof(uint64_t) == 0, "an array has no holes");

/* Has it no more of anything than there is room for? */
static inline bool loop_plan_fits(const struct loop_plan *p)
{
	return p->count <= LIMIT_PLAN_PLACES && p->ahead <= p->count &&
	       p->load_count <= LIMIT_PLAN_LOADS && p->scalar_count <= LIMIT_PLAN_SCALARS &&
	       p->turn_input_count <= LIMIT_PLAN_TURN_INPUTS && p->end_count <= LIMIT_PLAN_ENDS;
}

/* Is anything wanted of it? */
static inline bool loop_plan_asks(const struct loop_plan *p)
{
	return p->counted || p->load_count || p->turn_input_count || p->end_count;
}

#endif
