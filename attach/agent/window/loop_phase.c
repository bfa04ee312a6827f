#include "attach/agent/window/loop_phase.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/stack/code_copy.h"

void loop_phase_start(struct loop_phase *l, bool wanted, struct vm *vm, struct orders *orders,
		      struct drain *drain)
{
	*l = (struct loop_phase){.wanted = wanted, .orders = orders, .drain = drain};
	/* Without them loops have no place in the source, and no more is lost. */
	l->bytecodes = wanted && vm_want_bytecodes(vm);
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
		return "it was unloaded";
	case -E2BIG:
		return "it is too large";
	default:
		return "the agent has no memory for it";
	}
}

int loop_phase_answer(struct loop_phase *l)
{
	struct orders *o = l->orders;
	struct code_copy *copy;
	uint64_t code;
	int r;

	if (!l->wanted || o->codes_answered == o->codes_asked)
		return 0;
	code = o->codes[o->codes_answered++];
	r = code_copy_take(&copy, &handlers.walker.layout, code);
	if (r < 0) {
		l->codes_gone++;
		return drain_code_refused(l->drain, code, reason_of(r));
	}
	r = drain_code_image(l->drain, copy, l->bytecodes);
	l->codes_sent++;
	l->codes_cut += copy->cut;
	free(copy);
	return r;
}

void loop_phase_counters(const struct loop_phase *l, uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_CODES_SENT] = l->codes_sent;
	counters[JXP__COUNTER__COUNTER_CODES_GONE] = l->codes_gone;
	/* Like what the code map has no room for: a part of the code is not known. */
	counters[JXP__COUNTER__COUNTER_CODE_DROPPED] += l->codes_cut;
}
