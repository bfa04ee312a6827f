/* Every stack is one frame of one method: stands in for attach/agent/stack/stack.c, in tests of
 * what has stacks walked. Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_ONE_FRAME_H
#define TESTS_UNIT_AGENT_ONE_FRAME_H

#include "attach/agent/handler/handlers.h"

static enum stack_result one_frame_result = STACK_OK; /* of all walks; the table is full if it is */
static enum walk_cut one_frame_cut = CUT_CODE;        /* why none is walkable */
static enum stack_witness one_frame_witness = WITNESS_NONE;

enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out)
{
	(void)walker, (void)place;
	*out = (struct stack_outcome){0};
	if (one_frame_result == STACK_UNWALKABLE)
		out->cut = one_frame_cut;
	if (one_frame_result != STACK_OK && one_frame_result != STACK_TRUNCATED)
		return one_frame_result;
	out->witnessed = one_frame_witness;
	out->context = context_intern(table, 0, (struct call){.method = 1, .bci = 1});
	return out->context ? one_frame_result : STACK_TABLE_FULL;
}

#endif
