#include "attach/agent/handler/placing.h"

#include "attach/agent/code/barrier.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"

/* Compiled code addresses its own frame by the stack pointer, or by rbp where it keeps frames. */
static bool is_spill(const struct insn *in)
{
	const struct operand *m = &in->memory;

	return in->has_memory && m->index < 0 && (m->base == RSP || m->base == RBP) &&
	       codemap_covers(in->ip);
}

/* String instructions have moved their registers, or will; those that store clear new objects, or
 * fill them. */
static struct place_operand operand_of(const struct insn *in, const gregset_t regs)
{
	bool backward = (uint64_t)regs[REG_EFL] & INSN_FLAG_DIRECTION;
	const struct operand *m = &in->memory;

	if (!in->has_memory)
		return (struct place_operand){
		    .base = -1,
		    .index = -1,
		    .plain_store = in->string && in->string_writes,
		    .stored_to = in->string && !backward ? (uint64_t)regs[REG_RDI] : 0};
	return (struct place_operand){.base = m->base,
				      .index = m->index,
				      .plain_store = m->stores && !m->loads,
				      .to_made = barrier_stores_to_field(in)};
}

enum place_result placing_find(struct thread *t, int region, uint64_t address,
			       const struct insn *in, const gregset_t regs, struct place *out)
{
	ACCOUNT_AS(t, ACCOUNT_PLACES);
	struct place_operand operand;

	*out = (struct place){.kind = PLACE_NONE};
	switch (region) {
	case JXP__REGION__REGION_HEAP:
		operand = operand_of(in, regs);
		return place_find(&handlers.layout, &handlers.regions, address, &operand, regs,
				  &t->places, out);
	case JXP__REGION__REGION_STACK:
		out->kind = is_spill(in) ? PLACE_SPILL : PLACE_STACK;
		return PLACE_FOUND;
	default:
		return PLACE_NO_OBJECT;
	}
}

void placing_count(struct thread *t, int region, enum place_result result)
{
	static const Jxp__Counter counters[] = {
	    [PLACE_FOUND] = JXP__COUNTER__COUNTER_PLACES_FOUND,
	    [PLACE_NO_OBJECT] = JXP__COUNTER__COUNTER_PLACES_NO_OBJECT,
	    [PLACE_NO_CLASS] = JXP__COUNTER__COUNTER_PLACES_NO_CLASS,
	    [PLACE_FRESH] = JXP__COUNTER__COUNTER_PLACES_FRESH,
	    [PLACE_FULL] = JXP__COUNTER__COUNTER_PLACES_FULL,
	};

	if (region == JXP__REGION__REGION_HEAP)
		thread_count(t, counters[result], 1);
}
