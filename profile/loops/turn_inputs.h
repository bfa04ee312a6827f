/*
 * Which inputs tell one turn of a loop from another: loads of data, and what calls that are not
 * inlined are handed, where nothing counts the turns (LDoctor, section 3.2.5).
 *
 * Filled in as the loop is gone through, block by block; profile/loops/loop_inputs.h does.
 */
#ifndef JXPERF_PROFILE_LOOPS_TURN_INPUTS_H
#define JXPERF_PROFILE_LOOPS_TURN_INPUTS_H

#include "profile/loops/load_flow.h"
#include "profile/loops/loop_kind.h"
#include "profile/loops/result_sites.h"
#include "proto/limits.h"

#define TURN_ARGUMENTS_MAX 8u

struct turn_argument {
	uint32_t call; /* offset */
	uint8_t reg;
};

struct turn_inputs {
	const struct load_flow *flow;
	unsigned work; /* instructions beside loads and progress */
	bool calls;    /* ... and what takes longer */
	bool none;     /* something cannot be told, or counts */
	unsigned argument_count;
	struct turn_argument arguments[TURN_ARGUMENTS_MAX];
	bool counted[LOAD_FLOW_MAX]; /* by load: from an address that a counter goes into */
	bool steady[LOAD_FLOW_MAX];  /* ... that is the same in all turns */
	uint64_t asking; /* calls that are handed nothing that changes: what they give is new */
	/* What came of it; methods are not told yet. */
	unsigned count;
	struct loop_input inputs[LIMIT_PLAN_TURN_INPUTS];
};

void turn_inputs_begin(struct turn_inputs *t, const struct load_flow *f,
		       const struct result_sites *results);

/* An instruction, and what holds before it; arguments: of a call, its registers. */
void turn_inputs_look(struct turn_inputs *t, const struct native_insn *insn, uint64_t arguments,
		      const struct value_state *values, const struct load_state *loads);

/* data: the loads and calls that are compared or computed with what they give. */
void turn_inputs_end(struct turn_inputs *t, uint64_t data);

#endif
