#include "attach/agent/handler/foretell.h"

#include <string.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/pair.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/path/foretell_access.h"

_Static_assert(MACHINE_WATCHED_MAX >= PERF_DEBUG_REGISTERS, "what a thread may watch");

void foretell_view(const struct thread *t, uint64_t sp, struct machine_view *view)
{
	view->regions = &handlers.regions;
	view->stack_high = sp >= t->stack_low && sp < t->stack_high ? t->stack_high : 0;
	view->watched_count = 0;
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		const struct watchpoint *w = &t->watchpoints[i];

		if (w->state != WATCH_ARMED && w->state != WATCH_PENDING)
			continue;
		view->watched[view->watched_count].address = w->address;
		view->watched[view->watched_count++].length = w->length;
	}
}

static struct foretell_watch watch_of(const struct watchpoint *w)
{
	const struct pair_kind *kind = pair_kind_of(w);

	return (struct foretell_watch){.address = w->address,
				       .length = w->length,
				       .stores_only = kind->watched == PAIR_STORE,
				       .ends_with_load = kind->ends & PAIR_LOAD,
				       .ends_with_store = kind->ends & PAIR_STORE,
				       .values = kind->waste != PAIR_WASTE_OVERWRITTEN ||
						 w->then != JXP__KIND__KIND_NONE};
}

/* Goes on from the sampled access, or from a second one that ended the pair of the kind before.
 * False when the pair is to have a watchpoint: it cannot be told, or is one of those that check. */
static bool tell(struct thread *t, struct walk *walk, struct watchpoint *w,
		 struct foretold_access *told, gregset_t regs)
{
	const struct foretell_watch watch = watch_of(w);

	if (!foretell_access(walk, &watch, told))
		return false;
	if (random_below(&t->random, FORETELL_CHECKED) == 0) {
		w->foretold_second = told->insn.ip;
		return false;
	}
	machine_registers(&walk->machine, regs);
	return true;
}

static bool lost(struct thread *t, const struct watchpoint *w)
{
	thread_count(t, JXP__COUNTER__COUNTER_FORETOLD_LOST,
		     w->then == JXP__KIND__KIND_NONE ? 1 : 2);
	return true;
}

bool foretell_pairs(struct thread *t, struct watchpoint *w, double kept, struct walk *walk,
		    const struct walk_access *access, const ucontext_t *uc)
{
	const struct sample first = {.insn = access->insn,
				     .extent =
					 extent_whole(access->address, access->insn.memory.size),
				     .executed = true};
	struct trap_access second;
	gregset_t at_first, at_second;
	/* Recorded as if both accesses had trapped. */
	struct pair_end end = {
	    .access = &second, .regs = at_second, .reg = PERF_DEBUG_REGISTERS, .kept = kept};
	struct foretold_access told;

	w->foretold_second = 0;
	if (!access->passed || !access->framed)
		return false;
	machine_registers(&walk->machine, at_first);
	if (!tell(t, walk, w, &told, at_second))
		return false;
	if (!pair_describe(t, w, &first, at_first, uc))
		return lost(t, w);
	for (;;) {
		second = (struct trap_access){.insn = told.insn,
					      .extent = told.extent,
					      .reads = told.reads,
					      .writes = told.writes};
		memcpy(w->value, told.first, sizeof(w->value));
		memcpy(w->last_value, told.before, sizeof(w->last_value));
		end.now = told.after;
		if (!pair_describe_end(t, w, &end, uc))
			return lost(t, w);
		do {
			pair_complete(t, w, &end);
			thread_count(t, JXP__COUNTER__COUNTER_FORETOLD, 1);
			if (!pair_turn(w))
				return true;
		} while (pair_ends(w, told.reads, told.writes));
		if (!tell(t, walk, w, &told, at_second))
			return false;
	}
}
