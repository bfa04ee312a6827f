#include "attach/agent/stack/stack.h"

#include "attach/agent/path/debug_info.h"
#include "attach/agent/stack/executed.h"

/* Where the JVM has noted where it left Java code. False where that is nowhere, and the thread is
 * not in Java code. Unchanged where there is nothing to know. */
static bool find_anchor(const struct stack_walker *walker, struct walk_start *start)
{
	const struct code_layout *code = &walker->layout.code;
	struct anchor a;
	bool in_code;
	uint64_t thread;

	if (!walker->layout.anchor.known)
		return true;
	thread = own_word_read(&walker->layout.anchor.own);
	if (!thread)
		return false;
	a = anchor_of(&walker->layout.anchor, thread);
	if (a.sp == 0)
		return a.in_java;
	in_code = code_heap_covers(code, start->pc);
	if (a.sp < start->sp + (in_code ? 0 : sizeof(a.sp)) || a.sp >= start->stack_high ||
	    (in_code && !a.pc))
		return true;
	*start = (struct walk_start){.pc = a.pc ? a.pc : ((const uint64_t *)(uintptr_t)a.sp)[-1],
				     .sp = a.sp,
				     .fp = a.fp,
				     .at_call = true,
				     .stack_high = start->stack_high,
				     .epoch = start->epoch};
	return true;
}

bool stack_walk(const struct stack_walker *walker, const struct stack_place *place,
		struct frame_walk *w)
{
	const greg_t *regs = place->uc->uc_mcontext.gregs;
	struct executed at = executed_at(&walker->layout.code, place->ip, (uint64_t)regs[REG_RIP],
					 (uint64_t)regs[REG_RSP]);
	struct walk_start start = {.ip = at.ip,
				   .pc = debug_info_ip(place->ip),
				   .sp = at.sp,
				   .fp = (uint64_t)regs[REG_RBP],
				   .bcp = (uint64_t)regs[REG_R13],
				   .regs = regs,
				   .stack_high = place->stack_high,
				   .epoch = place->epoch};

	/* An application may have other stacks, of which nothing is known. */
	if (start.sp < place->stack_low)
		start.stack_high = 0;
	if (start.sp % sizeof(uint64_t) == 0 && !find_anchor(walker, &start))
		return false;
	frame_walk(&walker->layout, &walker->tables, &start, place->calls, place->max_frames, w);
	return true;
}

enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out)
{
	struct frame_walk w;

	*out = (struct stack_outcome){0};
	if (!stack_walk(walker, place, &w))
		return STACK_NO_JAVA;
	out->cut = w.cut;
	out->called_behind = w.called_behind;
	out->compiled = w.compiled;
	if (w.end == WALK_CUT)
		return STACK_UNWALKABLE;
	if (w.count == 0)
		return STACK_NO_JAVA;
	if (walker->witness)
		out->witnessed = walker->witness(walker, place, &w);
	out->context = context_intern_all(table, place->last, place->calls, w.count);
	if (!out->context)
		return STACK_TABLE_FULL;
	return w.end == WALK_DEEP ? STACK_TRUNCATED : STACK_OK;
}
