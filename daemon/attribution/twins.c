#include "daemon/attribution/twins.h"

#include <stdbool.h>

#define REFERENCE_BYTES 8 /* that compressed references count in, where their base is not 0 */

/* Of an operand that is a word of an object, which register leads to that; -1: it is none, or not
 * known to be. */
static int object_register(const struct native_insn *insn)
{
	const struct effect_memory *m = &insn->does.memory;

	if (insn->call || m->strange || m->rip_relative || !(m->loads || m->stores))
		return -1;
	if (m->base == EFFECT_R12 && m->index >= 0 && m->scale == REFERENCE_BYTES)
		return m->index;
	return m->index >= 0 || m->base == EFFECT_RSP || m->base == EFFECT_R15 ? -1 : m->base;
}

static bool same_word(const struct effect_memory *a, const struct effect_memory *b)
{
	return a->displacement == b->displacement && a->size == b->size && a->loads == b->loads &&
	       a->stores == b->stores && (a->index < 0) == (b->index < 0);
}

/* A way from an instruction, on which objects are told by the registers that lead to them. */
struct twin_way {
	const struct native_insn *from;
	uint64_t met; /* registers of objects whose same word was accessed */
	uint8_t count;
};

static void meet(struct twin_way *w, const struct native_insn *insn)
{
	int of = object_register(insn);

	if (of < 0 || !same_word(&insn->does.memory, &w->from->does.memory) ||
	    (w->met & EFFECT_GENERAL(of)))
		return;
	w->met |= EFFECT_GENERAL(of);
	w->count++;
}

static bool ends_way(const struct native_insn *insn)
{
	return insn->call || insn->returns;
}

static uint8_t count_back(const struct native_code *n, size_t at, size_t first)
{
	struct twin_way w = {&n->insns[at], EFFECT_GENERAL(object_register(&n->insns[at])), 0};

	for (unsigned steps = 0; at-- > first && steps < TWINS_STEPS_MAX; steps++) {
		if (ends_way(&n->insns[at]))
			break;
		/* What it writes is of another object before it. */
		w.met &= ~n->insns[at].does.writes;
		meet(&w, &n->insns[at]);
	}
	return w.count;
}

static uint8_t count_on(const struct native_code *n, size_t at, size_t end)
{
	struct twin_way w = {&n->insns[at], EFFECT_GENERAL(object_register(&n->insns[at])), 0};

	w.met &= ~n->insns[at].does.writes;
	for (unsigned steps = 0; ++at < end && steps < TWINS_STEPS_MAX; steps++) {
		if (ends_way(&n->insns[at]))
			break;
		meet(&w, &n->insns[at]);
		w.met &= ~n->insns[at].does.writes;
	}
	return w.count;
}

struct twins twins_find(const struct native_code *n, size_t at)
{
	uint16_t b = flow_block_at(n->graph, n->insns[at].offset);
	uint8_t before;

	if (object_register(&n->insns[at]) < 0)
		return (struct twins){0, 1};
	before = count_back(n, at, n->first_insn[b]);
	return (struct twins){before, before + 1 + count_on(n, at, n->first_insn[b + 1])};
}
