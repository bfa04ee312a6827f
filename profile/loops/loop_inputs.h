/*
 * What the turns of a loop of machine code go by: what they load from the heap and compare or
 * compute with, what is alike in all of them, and what they hand to calls (LDoctor, section 3.2.2:
 * inputs of an instance and of a turn).
 *
 * What loads give that only leads to other values is none: a pointer along a list, a reference to
 * an array. Nor is what only says how far the loop goes, nor what the loop itself keeps in memory.
 */
#ifndef JXPERF_PROFILE_LOOPS_LOOP_INPUTS_H
#define JXPERF_PROFILE_LOOPS_LOOP_INPUTS_H

#include "profile/loops/liveness.h"
#include "profile/loops/loop_kind.h"
#include "profile/loops/result_sites.h"
#include "profile/loops/values.h"
#include "proto/limits.h"

#define LOOP_LOADS_MAX   32u /* of a loop; of copies of its body, all */
#define LOOP_SCALARS_MAX 8u

struct loop_inputs {
	unsigned load_count, scalar_count, turn_input_count;
	struct loop_input loads[LOOP_LOADS_MAX]; /* ascending; methods are not told yet */
	uint8_t copy_of[LOOP_LOADS_MAX]; /* of these, the first that looks like it; or itself */
	struct plan_scalar scalars[LOOP_SCALARS_MAX];
	struct loop_input turn_inputs[LIMIT_PLAN_TURN_INPUTS];
};

/* Blocks to be looked at are taken from *budget; where it is too small nothing is found. 0;
 * -ENOMEM.
 */
int loop_inputs_find(struct loop_inputs *in, const struct loop_values *v,
		     const struct liveness *live, const struct result_sites *results,
		     unsigned *budget);

#endif
