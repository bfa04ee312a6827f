#include "attach/agent/handler/sample.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/trap.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "proto/kinds.h"

#define POLLING_PAGE_BYTES 4096u

enum access_type sample_access(uint8_t kind)
{
	return pair_kind_find((Jxp__Kind)kind)->sampled == PAIR_LOAD ? ACCESS_LOAD : ACCESS_STORE;
}

unsigned sample_part(const struct extent *extent, uint32_t offset, uint64_t *start)
{
	uint64_t byte = extent->address + offset;

	for (unsigned length = 8; length > 1; length /= 2) {
		*start = byte & ~(uint64_t)(length - 1);
		if (trap_shared(extent, *start, length) == (1u << length) - 1)
			return length;
	}
	*start = byte;
	return 1;
}

unsigned sample_weight(unsigned shared, unsigned length, unsigned width, struct random *random)
{
	return (shared * width + random_below(random, length)) / length;
}

/* A loop's safepoint poll reads the first word of a page that the JVM protects to stop threads
 * (SafepointMechanism). */
static bool is_safepoint_poll(const struct sample *s)
{
	return s->insn.tests_memory && s->extent.size == 4 &&
	       s->extent.address % POLLING_PAGE_BYTES == 0;
}

/* Whose memory the access touches. Some things only the instruction tells: stores below the stack
 * pointer are stack banging (the JVM probing its guard pages), and r15 is the JavaThread in
 * compiled code (TLAB pointers, barrier queues, safepoint state). */
int sample_region(const struct thread *t, const struct sample *s, const gregset_t regs)
{
	int region;

	if (s->extent.address >= t->stack_low && s->extent.address < t->stack_high)
		return s->extent.address < (uint64_t)regs[REG_RSP] ? JXP__REGION__REGION_JVM
								   : JXP__REGION__REGION_STACK;
	if (s->insn.has_memory && s->insn.memory.base == R15 && codemap_covers(s->insn.ip))
		return JXP__REGION__REGION_JVM;
	region = region_find(&handlers.regions, s->extent.address);
	if (region == JXP__REGION__REGION_OTHER && is_safepoint_poll(s))
		return JXP__REGION__REGION_JVM;
	return region;
}

static void count_cut(struct thread *t, enum walk_cut cut)
{
	static const uint8_t counters[CUTS] = {
	    [CUT_INTERPRETER] = JXP__COUNTER__COUNTER_CUT_INTERPRETER,
	    [CUT_STUB] = JXP__COUNTER__COUNTER_CUT_STUB,
	    [CUT_EDGE] = JXP__COUNTER__COUNTER_CUT_EDGE,
	    [CUT_CODE] = JXP__COUNTER__COUNTER_CUT_NATIVE,
	    [CUT_METHOD] = JXP__COUNTER__COUNTER_CUT_UNKNOWN,
	    [CUT_STACK] = JXP__COUNTER__COUNTER_CUT_OTHER,
	    [CUT_ENTRY] = JXP__COUNTER__COUNTER_CUT_OTHER,
	};

	if (cut != CUT_NOT)
		thread_count(t, (Jxp__Counter)counters[cut], 1);
}

enum stack_result sample_stack(struct thread *t, const ucontext_t *uc, uint64_t ip,
			       struct sample_maker *maker)
{
	ACCOUNT_AS(t, ACCOUNT_CONTEXTS);
	const struct stack_place place = {.uc = uc,
					  .ip = ip,
					  .stack_low = t->stack_low,
					  .stack_high = t->stack_high,
					  .epoch = t->epoch,
					  .max_frames = t->max_frames,
					  .calls = t->memory->calls,
					  .last = &t->memory->last};
	struct stack_outcome outcome;
	enum stack_result result =
	    stack_capture(&handlers.walker, &place, handlers.contexts, &outcome);

	maker->context = outcome.context;
	maker->at = codemap_place(ip, outcome.called_behind);
	maker->calls = outcome.compiled < UINT8_MAX ? (uint8_t)outcome.compiled : UINT8_MAX;
	if (result == STACK_UNWALKABLE)
		count_cut(t, outcome.cut);
	else if (result != STACK_NO_JAVA)
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_RECOGNISED, 1);
	if (outcome.witnessed)
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_WALKED, 1);
	if (outcome.witnessed == WITNESS_DIFFERS)
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_DIFFER, 1);
	return result;
}

bool sample_capture(struct thread *t, const ucontext_t *uc, uint64_t ip, struct sample_maker *maker)
{
	switch (sample_stack(t, uc, ip, maker)) {
	case STACK_OK:
		return true;
	case STACK_TRUNCATED:
		thread_count(t, JXP__COUNTER__COUNTER_TRUNCATED, 1);
		return true;
	case STACK_UNWALKABLE:
	case STACK_NO_JAVA:
		thread_count(t, JXP__COUNTER__COUNTER_UNWALKABLE, 1);
		return false;
	case STACK_TABLE_FULL:
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_FULL, 1);
		return false;
	}
	return false;
}

void sample_code(struct code_bytes *to, const struct insn *in)
{
	to->length = in->length;
	memcpy(to->bytes, in->bytes, sizeof(to->bytes));
}
