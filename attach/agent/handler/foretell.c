#include "attach/agent/handler/foretell.h"

#include <string.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/pair.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/path/rehearse.h"

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

static struct rehearse_watch watch_of(const struct watchpoint *w)
{
	const struct pair_kind *kind = pair_kind_of(w);

	return (struct rehearse_watch){.address = w->address,
				       .length = w->length,
				       .stores_only = kind->watched == PAIR_STORE,
				       .ends_with_load = kind->ends & PAIR_LOAD,
				       .ends_with_store = kind->ends & PAIR_STORE,
				       .values = kind->waste != PAIR_WASTE_OVERWRITTEN};
}

/* Records the pair as if its two accesses had trapped. at: registers behind either. */
static void record(struct thread *t, struct watchpoint *w, const struct sample *first,
		   const gregset_t at_first, const struct pair_end *end, const ucontext_t *uc)
{
	bool complete = pair_describe(t, w, first, at_first, uc) && pair_complete(t, w, end, uc);

	thread_count(
	    t, complete ? JXP__COUNTER__COUNTER_FORETOLD : JXP__COUNTER__COUNTER_FORETOLD_LOST, 1);
}

bool foretell_pair(struct thread *t, struct watchpoint *w, double kept, struct walk *walk,
		   const struct walk_access *access, const ucontext_t *uc)
{
	const struct rehearse_watch watch = watch_of(w);
	const struct sample first = {.insn = access->insn,
				     .extent =
					 extent_whole(access->address, access->insn.memory.size),
				     .executed = true};
	struct trap_access second;
	gregset_t at_first, at_second;
	struct pair_end end = {
	    .access = &second, .regs = at_second, .reg = PERF_DEBUG_REGISTERS, .kept = kept};
	struct rehearsal told;

	w->foretold = 0;
	if (!access->passed || !access->framed)
		return false;
	machine_registers(&walk->machine, at_first);
	if (!rehearse(walk, &watch, &told))
		return false;
	if (random_below(&t->random, FORETELL_CHECKED) == 0) {
		w->foretold = told.insn.ip;
		return false;
	}
	machine_registers(&walk->machine, at_second);
	second = (struct trap_access){
	    .insn = told.insn, .extent = told.extent, .reads = told.reads, .writes = told.writes};
	memcpy(w->value, told.first, sizeof(w->value));
	memcpy(w->last_value, told.before, sizeof(w->last_value));
	end.now = told.after;
	record(t, w, &first, at_first, &end, uc);
	return true;
}
