/*
 * In which loops a frame of a calling context lies, and what CPU time passes in what loops call.
 *
 * A frame is in a loop by its method and bytecode index, which is in the loop from its header to
 * its last jump back. Overloads of a method have the same names, so the same method in the window's
 * tree: where lines are known, no line of a loop is before that of its header, and of two loops
 * that have a place it is in the one with the later header.
 *
 * A tick is in a loop when a frame of its context is, once, however often the loop's method calls
 * itself. It is nearest to the innermost loop of the innermost frame that is in any.
 */
#ifndef JXPERF_PROFILE_REACH_LOOP_BODIES_H
#define JXPERF_PROFILE_REACH_LOOP_BODIES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/cct.h"
#include "profile/cpu_profile.h"
#include "profile/loop_profile.h"

struct loop_body {
	struct loop_key key; /* its method is not 0, its header a bytecode index */
	int32_t latch;
	uint32_t id; /* the caller's */
};

/* All zero is empty. */
struct loop_bodies {
	struct loop_body *bodies; /* by method */
	size_t count;
};

/* Sums of ticks whose context is known. */
struct loop_reach {
	struct cpu_sum inclusive; /* in the loop, or in what it calls */
	struct cpu_sum called;    /* of this, in what its frame calls, inlined or not */
	struct cpu_sum nearest;   /* of inclusive, in no loop that is nearer */
};

/* Takes an array for the heap's. */
void loop_bodies_init(struct loop_bodies *b, struct loop_body *taken, size_t count);
void loop_bodies_release(struct loop_bodies *b);

/* The innermost one around a node's own frame; NULL: none. */
const struct loop_body *loop_bodies_find(const struct loop_bodies *b, const struct cct_node *n);

/* The ticks of all that a node calls, and not its own, by node id - 1, in an array to be freed;
 * NULL without memory. Time in what a callee calls is worth share of what it would be in the
 * callee: 1 for plain sums. */
struct cpu_sum *loop_reach_called(const struct cct *t, const struct cpu_profile *c, double share);

/* Fills in reach by the position of bodies. Where a tree is so large, or so many loops have the
 * same name, that it would take too long, less is found. 0 or -ENOMEM. */
int loop_bodies_reach(const struct loop_bodies *b, const struct cct *t, const struct cpu_profile *c,
		      struct loop_reach *reach);

#endif
