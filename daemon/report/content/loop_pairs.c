#include "daemon/report/content/loop_pairs.h"

#include <errno.h>
#include <stdlib.h>

static int by_method(const void *x, const void *y)
{
	const struct loop_body *a = x, *b = y;

	if (a->method != b->method)
		return a->method < b->method ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void find_bodies(struct loop_pairs *l)
{
	for (size_t i = 0; i < l->loops->count; i++) {
		const struct loop_row *row = l->loops->rows[i].row;

		if (!row->key.mapped || row->key.method == 0 || row->key.header > INT32_MAX)
			continue;
		l->bodies[l->body_count++] = (struct loop_body){.method = row->key.method,
								.header = (int32_t)row->key.header,
								.latch = row->latch_bci,
								.line = row->key.line,
								.rank = i};
	}
	qsort(l->bodies, l->body_count, sizeof(*l->bodies), by_method);
}

/* The first of a method's. */
static size_t first_of(const struct loop_pairs *l, uint32_t method)
{
	size_t low = 0, high = l->body_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->bodies[middle].method < method)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool holds(const struct loop_body *body, const struct cct_node *n)
{
	return n->bci >= body->header && n->bci <= body->latch &&
	       (n->line < 0 || body->line < 0 || n->line >= body->line);
}

/* Of two that hold the same place. Where they are overloads', the one whose header is nearer. */
static bool is_inside(const struct loop_body *a, const struct loop_body *b)
{
	if (a->line >= 0 && b->line >= 0 && a->line != b->line)
		return a->line > b->line;
	return a->latch - a->header < b->latch - b->header;
}

struct loop_around loop_pairs_frame(const struct loop_pairs *l, const struct cct *t, uint32_t node)
{
	const struct cct_node *n = cct_node(t, node);
	const struct loop_body *found = NULL;

	if (!n || n->method == 0)
		return (struct loop_around){0};
	for (size_t i = first_of(l, n->method);
	     i < l->body_count && l->bodies[i].method == n->method; i++)
		if (holds(&l->bodies[i], n) && (!found || is_inside(&l->bodies[i], found)))
			found = &l->bodies[i];
	if (!found)
		return (struct loop_around){0};
	return (struct loop_around){.loop = &l->loops->rows[found->rank], .rank = found->rank};
}

struct loop_around loop_pairs_context(const struct loop_pairs *l, const struct cct *t,
				      uint32_t node)
{
	struct loop_around around = loop_pairs_frame(l, t, node);
	const struct cct_node *n = cct_node(t, node);

	while (l->body_count > 0 && !around.loop && n && n->parent) {
		around = loop_pairs_frame(l, t, n->parent);
		around.called = true;
		if (around.loop && around.loop->fraction < LOOP_CPU_MIN)
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
	l->bodies = calloc(loops->count + 1, sizeof(*l->bodies));
	l->wastes = calloc(loops->count * PAIR_KINDS + 1, sizeof(*l->wastes));
	if (!l->bodies || !l->wastes) {
		loop_pairs_release(l);
		return -ENOMEM;
	}
	find_bodies(l);
	add_up(l, &w->profile);
	weigh(l, w);
	return 0;
}

void loop_pairs_release(struct loop_pairs *l)
{
	free(l->bodies);
	free(l->wastes);
	*l = (struct loop_pairs){0};
}

const struct loop_waste *loop_pairs_waste(const struct loop_pairs *l, size_t rank, size_t kind)
{
	const struct loop_waste *waste = &l->wastes[rank * PAIR_KINDS + kind];

	return l->wastes && waste->pairs >= LOOP_PAIRS_MIN ? waste : NULL;
}
