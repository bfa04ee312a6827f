#include "profile/loops/arguments.h"

#include <errno.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- of a call */

/* Instructions, and blocks, that are looked at before a call. */
#define BEFORE_MAX 96u
#define BLOCKS_MAX 12u

/* On one of the ways that lead to a call. */
struct call_path {
	uint16_t block;
	uint64_t open; /* what is not known of yet */
	uint64_t live; /* what is read behind */
	bool merged;   /* it has come by where others lead, too */
};

struct call_search {
	const struct native_code *n;
	struct call_path ways[BLOCKS_MAX];
	unsigned count;
	unsigned left;
	uint64_t found, refused;
};

static uint64_t addressed_by(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;
	uint64_t all = 0;

	if (m->base >= 0)
		all |= REGISTER_GENERAL(m->base);
	if (m->index >= 0)
		all |= REGISTER_GENERAL(m->index);
	return all;
}

/* One of what a division leaves, quotient and remainder, is wanted. */
static uint64_t left_over(const struct call_path *w, uint64_t writes)
{
	uint64_t registers = writes & REGISTER_GENERALS;

	return __builtin_popcountll(registers) > 1 && (w->live & registers) ? registers & ~w->live
									    : 0;
}

static void look_at(struct call_search *s, struct call_path *w, const struct native_insn *insn)
{
	uint64_t writes = insn->does.writes;
	uint64_t reads = insn->does.reads & ~(w->merged ? 0 : addressed_by(insn));
	bool tests = insn->does.tests_null && insn->does.kind == EFFECT_COMPARE;
	uint64_t left;

	s->left--;
	if (insn->call) {
		w->open = 0;
		return;
	}
	left = left_over(w, writes);
	s->found |= w->open & writes & ~left;
	s->refused |= w->open & left;
	w->open &= ~writes;
	if (!tests) {
		s->refused |= w->open & reads;
		w->open &= ~reads;
	}
	w->live = (w->live & ~writes) | insn->does.reads;
}

static void go_back(struct call_search *s, struct call_path w, uint32_t k)
{
	const struct flow_graph *g = s->n->graph;
	uint16_t b = w.block;

	while (k > s->n->first_insn[b] && w.open && s->left > 0)
		look_at(s, &w, &s->n->insns[--k]);
	w.merged |= native_only_source(s->n, b) == FLOW_NO_BLOCK;
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1] && w.open; e++) {
		w.block = g->edges[e];
		if (w.block != FLOW_ROOT && g->rank[w.block] != FLOW_NO_BLOCK &&
		    s->count < BLOCKS_MAX)
			s->ways[s->count++] = w;
	}
}

uint64_t call_arguments(const struct native_code *n, uint16_t b, uint32_t k)
{
	struct call_search s = {.n = n, .left = BEFORE_MAX};
	struct call_path first = {.block = b, .open = ARGUMENTS_GENERAL | ARGUMENTS_VECTOR};

	go_back(&s, first, k);
	for (unsigned i = 0; i < s.count; i++)
		go_back(&s, s.ways[i], n->first_insn[s.ways[i].block + 1]);
	/* An argument is put there on all ways. */
	return s.found & ~s.refused;
}

/* ---------------------------------------------------------------- of a method */

struct argument_liveness {
	const struct native_code *n;
	uint64_t *left; /* by block: registers that still hold what they came with, on some way */
	uint16_t *work;
	unsigned depth;
	uint64_t read;
};

static uint64_t go_through(struct argument_liveness *s, uint16_t b, uint32_t from, uint64_t left)
{
	for (uint32_t k = from; k < s->n->first_insn[b + 1] && left; k++) {
		const struct native_insn *insn = &s->n->insns[k];

		if (insn->call)
			return 0;
		s->read |= left & insn->does.reads;
		left &= ~insn->does.writes;
	}
	return left;
}

static void lead_on(struct argument_liveness *s, uint16_t b, uint64_t left)
{
	uint32_t cursor = 0;
	uint16_t next;

	while (left && (next = flow_successor(s->n->graph, b, &cursor)) != FLOW_NO_BLOCK) {
		if (!(left & ~s->left[next]))
			continue;
		/* A block is on the list while its bit is set that no register has. */
		if (!(s->left[next] >> 63))
			s->work[s->depth++] = next;
		s->left[next] |= left | UINT64_C(1) << 63;
	}
}

int method_arguments(const struct native_code *n, uint32_t entry, uint64_t *registers)
{
	unsigned count = n->graph->block_count;
	struct argument_liveness s = {.n = n,
				      .left = calloc(count, sizeof(s.left[0])),
				      .work = malloc(count * sizeof(s.work[0]))};
	const struct native_insn *first = native_insn_at(n, entry);
	uint16_t b = flow_block_at(n->graph, entry);

	if (s.left && s.work) {
		lead_on(&s, b,
			go_through(&s, b, (uint32_t)(first - n->insns),
				   ARGUMENTS_GENERAL | ARGUMENTS_VECTOR));
		while (s.depth > 0) {
			b = s.work[--s.depth];
			s.left[b] &= ~(UINT64_C(1) << 63);
			lead_on(&s, b, go_through(&s, b, n->first_insn[b], s.left[b]));
		}
	}
	free(s.left);
	free(s.work);
	*registers = s.read;
	return s.left && s.work ? 0 : -ENOMEM;
}
