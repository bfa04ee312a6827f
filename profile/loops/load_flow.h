/*
 * Where what a loop loads from the heap, or is given back by calls, goes: which of these each
 * register and word of the frame is made of, at each place of a turn.
 *
 * A load is where this begins: what its address was made of goes no further. Not followed are the
 * JVM's own (the thread's words, classes, cards, marks), constants, the frame's words, which are
 * locations, and what collectors' barriers do. Bounded as values are.
 */
#ifndef JXPERF_PROFILE_LOOPS_LOAD_FLOW_H
#define JXPERF_PROFILE_LOOPS_LOAD_FLOW_H

#include "profile/loops/values.h"

#define LOAD_FLOW_MAX 60u /* loads and calls of a loop, without those of loops inside it */

/* Sets of loads and calls, by index, and: */
#define LOAD_FLOW_LOADS ((UINT64_C(1) << LOAD_FLOW_MAX) - 1)
#define LOAD_FLOW_FLOAT (UINT64_C(1) << 61) /* what a call gave back in a vector */
#define LOAD_FLOW_OTHER (UINT64_C(1) << 62) /* what another turn left, other loads and calls */
#define LOAD_FLOW_JVM   (UINT64_C(1) << 63) /* the JVM's own, and what that leads to */

struct load_state {
	uint64_t at[NATIVE_LOCATIONS];
	uint64_t flags; /* by something else than a comparison */
};

struct load_flow {
	const struct loop_values *values;
	unsigned load_count;                            /* with calls */
	bool cut;                                       /* there are more */
	const struct native_insn *loads[LOAD_FLOW_MAX]; /* ascending */
	/* For what the loop writes: what each location was made of in the turns before, and which
	 * begin a turn with what no load or call of the one before told. */
	struct location_set sources[NATIVE_LOCATIONS];
	struct location_set carried;
	bool *barrier;              /* by index of the values' blocks: a collector's */
	struct load_state *leaving; /* ... at its end */
};

/* Blocks to be looked at are taken from *budget. 0; -E2BIG when it is too small, -ENOMEM; then f is
 * empty. The values stay. */
int load_flow_make(struct load_flow *f, const struct loop_values *v, unsigned *budget);
void load_flow_release(struct load_flow *f);

/* What holds at the beginning of the i-th of the blocks, and behind an instruction. */
void load_flow_enter(const struct load_flow *f, unsigned i, struct load_state *state);
void load_flow_pass(const struct load_flow *f, const struct native_insn *insn,
		    struct load_state *state);

/* Index of the load or call that an instruction is, or -1. */
int load_flow_index(const struct load_flow *f, const struct native_insn *insn);

/* What an instruction uses as values, its own load with it, and as the address of its operand. */
uint64_t load_flow_values(const struct load_flow *f, const struct native_insn *insn,
			  const struct load_state *state);
uint64_t load_flow_address(const struct native_insn *insn, const struct load_state *state);

/* The registers and words that it uses as values. */
struct location_set load_flow_value_reads(const struct native_insn *insn);

#endif
