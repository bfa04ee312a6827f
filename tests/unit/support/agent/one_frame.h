/* Every stack is one frame of one method: stands in for attach/agent/stack/stack.c, in tests of
 * what has stacks walked. Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_ONE_FRAME_H
#define TESTS_UNIT_AGENT_ONE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/handler/handlers.h"

static bool one_frame_walkable = true; /* or no walk succeeds */

enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out)
{
	(void)walker, (void)place;
	*out = (struct stack_outcome){.cut = one_frame_walkable ? CUT_NOT : CUT_CODE};
	if (!one_frame_walkable)
		return STACK_UNWALKABLE;
	out->context = context_intern(table, 0, (struct call){.method = 1, .bci = 1});
	return out->context ? STACK_OK : STACK_TABLE_FULL;
}

#endif
