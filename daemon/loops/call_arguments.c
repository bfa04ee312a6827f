#include "daemon/loops/call_arguments.h"

#include "daemon/loops/values.h"

/* Instructions that are looked at before a call. */
#define BEFORE_MAX 64u

struct search {
	uint64_t open, found;
	unsigned left;
};

static uint64_t addressed_by(const struct native_insn *insn)
{
	const struct effect_memory *m = &insn->does.memory;
	uint64_t all = 0;

	if (m->base >= 0)
		all |= EFFECT_GENERAL(m->base);
	if (m->index >= 0)
		all |= EFFECT_GENERAL(m->index);
	return all;
}

static void look_at(struct search *s, const struct native_insn *insn)
{
	uint64_t writes = insn->does.writes, reads = insn->does.reads & ~addressed_by(insn);
	bool tests = insn->does.tests_null && insn->does.kind == EFFECT_COMPARE;

	s->left--;
	if (insn->call) {
		s->open = 0;
		return;
	}
	s->found |= s->open & writes;
	s->open &= ~writes;
	if (!tests)
		s->open &= ~reads;
}

uint64_t call_arguments(const struct native_code *n, uint16_t b, uint32_t k)
{
	struct search s = {.open = CALL_ARGUMENTS | CALL_VECTOR_ARGUMENTS, .left = BEFORE_MAX};

	while (s.open && s.left > 0) {
		while (k > n->first_insn[b] && s.open && s.left > 0)
			look_at(&s, &n->insns[--k]);
		b = native_only_source(n, b);
		if (b == FLOW_NO_BLOCK || b == FLOW_ROOT)
			break;
		k = n->first_insn[b + 1];
		s.left -= s.left > 0; /* Empty blocks may go round. */
	}
	return s.found;
}
