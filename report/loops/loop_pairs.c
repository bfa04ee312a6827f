#include "report/loops/loop_pairs.h"

#include <errno.h>
#include <stdlib.h>

struct loop_around loop_pairs_frame(const struct loop_pairs *l, const struct cct *t, uint32_t node)
{
	const struct cct_node *n = cct_node(t, node);
	const struct loop_body *found = n ? loop_bodies_find(&l->bodies, n) : NULL;

	if (!found)
		return (struct loop_around){0};
	return (struct loop_around){.loop = &l->loops->rows[found->id], .rank = found->id};
}

struct loop_around loop_pairs_context(const struct loop_pairs *l, const struct cct *t,
				      uint32_t node)
{
	struct loop_around around = loop_pairs_frame(l, t, node);
	const struct cct_node *n = cct_node(t, node);

	while (l->bodies.count > 0 && !around.loop && n && n->parent) {
		around = loop_pairs_frame(l, t, n->parent);
		around.called = true;
		if (around.loop && around.loop->inclusive_fraction < LOOP_CPU_MIN)
			around.loop = NULL;
		n = cct_node(t, n->parent);
	}
	return around;
}

/* ---------------------------------------------------------------- what is wasteful */

static size_t position_of(Jxp__Kind kind)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (pair_kinds[i].kind == kind)
			return i;
	return PAIR_KINDS;
}

static void add_up(struct loop_pairs *l, const struct profile *p)
{
	for (size_t i = 0; i < p->pair_count; i++) {
		const struct pair *pair = &p->pairs[i];
		struct loop_around around = loop_pairs_frame(l, &p->cct, pair->watch_node);
		size_t kind = position_of((Jxp__Kind)pair->kind);

		if (!around.loop || kind == PAIR_KINDS)
			continue;
		l->wastes[around.rank * PAIR_KINDS + kind].pairs += pair->count;
		l->wastes[around.rank * PAIR_KINDS + kind].wasteful += pair->wasteful_count;
	}
}

static void weigh(struct loop_pairs *l, const struct window_result *w)
{
	for (size_t i = 0; i < l->loops->count * PAIR_KINDS; i++) {
		struct loop_waste *waste = &l->wastes[i];
		double pairs = (double)waste->pairs, wasteful = (double)waste->wasteful;
		double effect = window_result_design_effect(w, pair_kinds[i % PAIR_KINDS].kind);

		waste->fraction = estimate_fraction(wasteful, pairs);
		waste->ci95 = estimate_ci95(wasteful, pairs, effect * pairs);
	}
}

int loop_pairs_init(struct loop_pairs *l, const struct report_loops *loops,
		    const struct window_result *w)
{
	*l = (struct loop_pairs){.loops = loops};
	l->wastes = calloc(loops->count * PAIR_KINDS + 1, sizeof(*l->wastes));
	if (!l->wastes || report_loops_bodies(loops, &l->bodies) < 0) {
		loop_pairs_release(l);
		return -ENOMEM;
	}
	add_up(l, &w->profile);
	weigh(l, w);
	return 0;
}

void loop_pairs_release(struct loop_pairs *l)
{
	loop_bodies_release(&l->bodies);
	free(l->wastes);
	*l = (struct loop_pairs){0};
}

const struct loop_waste *loop_pairs_waste(const struct loop_pairs *l, size_t rank, size_t kind)
{
	const struct loop_waste *waste;

	if (!l->wastes)
		return NULL;
	waste = &l->wastes[rank * PAIR_KINDS + kind];
	return waste->pairs >= LOOP_PAIRS_MIN ? waste : NULL;
}
