/*
 * Loops whose turns are to be counted, or what they go by or are counted by read, as handlers look
 * for them: a table that is replaced as a whole. Written by the session thread, which has checked
 * what is in it; read by handlers, whole plans or none (a sequence number says whether the table
 * changed meanwhile).
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PATH_PLANS_H
#define JXPERF_AGENT_PATH_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/insn.h"
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
	uint8_t bytes;
	bool slot;
};

/* Where a loop's counter is read. */
struct plan_counter_place {
	uint32_t offset;
	struct plan_scalar at;
};

/* LoopPlan (jxperf.proto). */
struct loop_plan {
	uint64_t code;  /* its number in the code map, and there */
	uint64_t start; /* its first instruction */
	uint32_t plan;  /* the engine's number */
	uint32_t header;
	uint32_t count; /* of places, */
	uint32_t ahead; /* of which the last so many are drawn first, one of them */
	uint32_t places[LIMIT_PLAN_PLACES];
	uint32_t entry;
	uint8_t load_count, scalar_count, turn_input_count;
	uint8_t end_count; /* 0: its counter is not read */
	bool counted;
	bool recursion;
	struct plan_input loads[LIMIT_PLAN_LOADS];
	struct plan_scalar scalars[LIMIT_PLAN_SCALARS];
	struct plan_input turn_inputs[LIMIT_PLAN_TURN_INPUTS];
	struct plan_counter_place begin, ends[LIMIT_PLAN_ENDS];
};

#define PLANS_BYTES (LIMIT_PLANS * sizeof(struct loop_plan) + 64u)

/* The widest operand of an input. */
#define PLAN_INPUT_BYTES_MAX 64u

/* Does the instruction at ip load so many bytes, and all of them, through an operand that lies
 * where registers say, and so is there when the thread is about to run it? */
bool plan_input_fits(const uint8_t *code, size_t available, uint64_t ip, unsigned bytes,
		     struct insn *out);

/* Session thread: from now on these, at most LIMIT_PLANS. */
void plans_set(const struct loop_plan *plans, unsigned count);

/* Forgets all. */
void plans_clear(void);

/* How many there are. */
unsigned plans_count(void);

/* Plan i, if it is one of the code. False also when the table is being replaced. */
bool plans_read(unsigned i, uint64_t code, struct loop_plan *out);

#endif
