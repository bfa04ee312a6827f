#include "profile/loops/liveness.h"

#include <errno.h>
#include <stdlib.h>

/* Passes are few; code that takes more is nobody's. What is not found then is not live. */
#define PASSES_MAX 16u

/* Bytecodes that return. */
enum {
	IRETURN = 0xac,
	LRETURN = 0xad,
	FRETURN = 0xae,
	DRETURN = 0xaf,
	ARETURN = 0xb0,
};

/* What a return hands back, by the bytes of the method's bytecodes that may be returns. Where they
 * are not known, it may be either. */
static struct location_set returned_by(const struct code_image *image)
{
	const struct code_method *method =
	    image->method < image->method_count ? &image->methods[image->method] : NULL;
	const uint8_t *code = method ? image->bytecodes + method->bytecode : NULL;
	struct location_set returned = {0};

	if (!method || method->bytecode_bytes == 0)
		return (struct location_set){.registers =
						 REGISTER_GENERAL(RAX) | REGISTER_VECTOR(0)};
	for (uint32_t i = 0; i < method->bytecode_bytes; i++) {
		if (code[i] == IRETURN || code[i] == LRETURN || code[i] == ARETURN)
			returned.registers |= REGISTER_GENERAL(RAX);
		if (code[i] == FRETURN || code[i] == DRETURN)
			returned.registers |= REGISTER_VECTOR(0);
	}
	return returned;
}

static struct location_set without(struct location_set a, struct location_set b)
{
	return (struct location_set){a.registers & ~b.registers, a.slots & ~b.slots};
}

static struct location_set at_end(const struct liveness *l, const struct native_code *n, uint16_t b)
{
	uint32_t first = n->first_insn[b], end = n->first_insn[b + 1];
	struct location_set live = {0};
	uint32_t cursor = 0;
	uint16_t next;

	if (end > first && n->insns[end - 1].returns)
		return l->returned;
	if (n->undecoded[b])
		return (struct location_set){LOCATIONS_REGISTERS, UINT64_MAX};
	while ((next = flow_successor(n->graph, b, &cursor)) != FLOW_NO_BLOCK)
		live = locations_both(live, l->entering[next]);
	return live;
}

static bool pass(struct liveness *l, const struct native_code *n)
{
	const struct flow_graph *g = n->graph;
	bool changed = false;

	for (unsigned i = g->block_count; i-- > g->ordered;) {
		uint16_t b = g->order[i];
		struct location_set live = at_end(l, n, b);

		if (n->cold[b])
			continue;
		for (uint32_t k = n->first_insn[b + 1]; k-- > n->first_insn[b];)
			live = locations_both(without(live, native_writes(&n->insns[k])),
					      native_reads(&n->insns[k]));
		changed |= live.registers != l->entering[b].registers ||
			   live.slots != l->entering[b].slots;
		l->entering[b] = live;
	}
	return changed;
}

int liveness_make(struct liveness *l, const struct native_code *n)
{
	l->entering = calloc(n->graph->block_count, sizeof(l->entering[0]));
	if (!l->entering)
		return -ENOMEM;
	l->returned = returned_by(n->image);
	for (unsigned passes = 0; passes < PASSES_MAX && pass(l, n); passes++)
		continue;
	return 0;
}

void liveness_release(struct liveness *l)
{
	free(l->entering);
	*l = (struct liveness){0};
}
