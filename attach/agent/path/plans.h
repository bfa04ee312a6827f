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
#include "proto/loop_plan.h"

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
