#include "subsume/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/mix.h"
#include "common/wilson.h"
#include "subsume/caller_path.h"

#define FIRST_PAIRS 1024u

/* ---------------------------------------------------------------- ranking */

enum rank { INDUCED, INCLUSIVE, EXCLUSIVE };

struct ranking {
	const struct subsume_tree *tree;
	const struct subsume_facts *methods;
	enum rank by;
};

static uint64_t value_of(const struct subsume_facts *f, enum rank by)
{
	switch (by) {
	case INDUCED:
		return f->induced;
	case INCLUSIVE:
		return f->inclusive;
	default:
		return f->exclusive;
	}
}

/* Labels, and only then numbers, which depend on the order in which stacks came. */
static int compare_labels(const struct subsume_tree *tree, uint32_t a, uint32_t b)
{
	int order = strcmp(tree->methods[a].label, tree->methods[b].label);

	return order ? order : (a > b) - (a < b);
}

static int compare_methods(const void *left, const void *right, void *context)
{
	const struct ranking *r = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = value_of(&r->methods[a], r->by), y = value_of(&r->methods[b], r->by);

	return x != y ? (x < y) - (x > y) : compare_labels(r->tree, a, b);
}

/* The first methods by one of their costs, at most top, into out, which has room for all. The
 * virtual root, which includes everything, is only ranked by what it induces. */
static size_t rank(const struct subsume_tree *tree, const struct subsume_analysis *a, enum rank by,
		   bool subsuming, size_t top, uint32_t *out)
{
	struct ranking ranking = {.tree = tree, .methods = a->methods, .by = by};
	size_t count = 0;

	for (uint32_t m = by == INDUCED ? 0 : 1; m < a->method_count; m++)
		if (value_of(&a->methods[m], by) > 0 && (!subsuming || a->methods[m].subsumes))
			out[count++] = m;
	qsort_r(out, count, sizeof(*out), compare_methods, &ranking);
	return count < top ? count : top;
}

/* ---------------------------------------------------------------- costs of pairs of methods */

/* The part of one method's inclusive cost that came by a caller; or the part of its induced cost
 * that is the own cost of a member. */
enum relation { CALLER = 1, MEMBER };

struct summary_pair {
	uint64_t key; /* 0: free */
	uint64_t cost;
};

/* Open addressing, at most half full. */
struct pairs {
	struct summary_pair *slots;
	size_t capacity;
	size_t used;
};

static uint64_t pair_key(enum relation relation, uint32_t method, uint32_t other)
{
	return (uint64_t)relation << 60 | (uint64_t)method << 30 | other;
}

static enum relation pair_relation(uint64_t key)
{
	return (enum relation)(key >> 60);
}

static uint32_t pair_method(uint64_t key)
{
	return (uint32_t)(key >> 30 & ((1u << 30) - 1));
}

static uint32_t pair_other(uint64_t key)
{
	return (uint32_t)(key & ((1u << 30) - 1));
}

static struct summary_pair *pair_slot(struct summary_pair *slots, size_t capacity, uint64_t key)
{
	size_t at = mix(key) & (capacity - 1);

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static int grow_pairs(struct pairs *p)
{
	size_t capacity = p->capacity ? p->capacity * 2 : FIRST_PAIRS;
	struct summary_pair *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < p->capacity; i++)
		if (p->slots[i].key)
			*pair_slot(slots, capacity, p->slots[i].key) = p->slots[i];
	free(p->slots);
	p->slots = slots;
	p->capacity = capacity;
	return 0;
}

static int add_pair(struct pairs *p, uint64_t key, uint64_t cost)
{
	struct summary_pair *pair;
	int r = p->used < p->capacity / 2 ? 0 : grow_pairs(p);

	if (r < 0)
		return r;
	pair = pair_slot(p->slots, p->capacity, key);
	p->used += pair->key == 0;
	pair->key = key;
	pair->cost += cost;
	return 0;
}

/* ---------------------------------------------------------------- one walk for all rows */

struct visit {
	uint64_t before; /* costs that came before this node's */
	uint32_t method;
	bool counted; /* it has a row, and no node above has the same method */
};

struct summary_walk {
	const struct subsume_tree *tree;
	const struct subsume_analysis *analysis;
	const uint8_t *wanted; /* by method: it has a row */
	uint16_t *active;      /* by method with a row: its nodes on the path */
	struct visit path[SUBSUME_DEPTH_MAX + 1];
	uint64_t total;
	struct pairs pairs;
};

static int leave(struct summary_walk *w, unsigned depth)
{
	const struct visit *v = &w->path[depth];

	if (w->wanted[v->method])
		w->active[v->method]--;
	if (!v->counted || w->total == v->before)
		return 0;
	return add_pair(&w->pairs, pair_key(CALLER, v->method, w->path[depth - 1].method),
			w->total - v->before);
}

static int enter(struct summary_walk *w, size_t n)
{
	uint32_t method = w->tree->method[n];
	uint32_t owner = w->tree->method[w->analysis->owner[n]];
	struct visit *v = &w->path[w->tree->depth[n]];
	uint64_t cost = w->tree->cost[n];

	v->method = method;
	v->before = w->total;
	v->counted = n > 0 && w->wanted[method] && w->active[method] == 0;
	if (w->wanted[method])
		w->active[method]++;
	w->total += cost;
	if (cost == 0 || !w->wanted[owner])
		return 0;
	return add_pair(&w->pairs, pair_key(MEMBER, owner, method), cost);
}

static int walk(struct summary_walk *w)
{
	unsigned depth = 0;
	int r = enter(w, 0);

	for (size_t n = 1; n < w->tree->node_count && r == 0; n++) {
		for (; depth >= w->tree->depth[n] && r == 0; depth--)
			r = leave(w, depth);
		depth = w->tree->depth[n];
		if (r == 0)
			r = enter(w, n);
	}
	for (; depth > 0 && r == 0; depth--)
		r = leave(w, depth);
	return r;
}

/* ---------------------------------------------------------------- rows */

static double fraction(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Keeps the largest parts, in order. */
static unsigned add_part(const struct subsume_tree *tree, struct subsume_part *parts,
			 unsigned count, struct subsume_part part)
{
	unsigned at = count;

	while (at > 0 && (parts[at - 1].fraction < part.fraction ||
			  (parts[at - 1].fraction == part.fraction &&
			   compare_labels(tree, part.method, parts[at - 1].method) < 0)))
		at--;
	if (at == SUBSUME_PARTS_MAX)
		return count;
	if (count < SUBSUME_PARTS_MAX)
		count++;
	memmove(&parts[at + 1], &parts[at], (count - at - 1) * sizeof(*parts));
	parts[at] = part;
	return count;
}

static void add_parts(const struct subsume_tree *tree, const struct pairs *pairs,
		      struct subsume_row *rows, size_t row_count, uint32_t *row_of)
{
	for (size_t i = 0; i < row_count; i++)
		row_of[rows[i].method] = (uint32_t)i + 1;
	for (size_t i = 0; i < pairs->capacity; i++) {
		uint64_t key = pairs->slots[i].key, cost = pairs->slots[i].cost;
		struct subsume_part part = {.method = pair_other(key)};
		struct subsume_row *row;

		if (!key || !row_of[pair_method(key)])
			continue;
		row = &rows[row_of[pair_method(key)] - 1];
		if (pair_relation(key) == CALLER) {
			part.fraction = fraction(cost, row->facts->inclusive);
			row->caller_count = add_part(tree, row->callers, row->caller_count, part);
		} else {
			part.fraction = fraction(cost, row->facts->induced);
			row->pattern_count = add_part(tree, row->pattern, row->pattern_count, part);
		}
	}
	for (size_t i = 0; i < row_count; i++)
		row_of[rows[i].method] = 0;
}

static void fill_row(const struct subsume_tree *tree, const struct subsume_analysis *a,
		     uint32_t method, struct subsume_row *row)
{
	const struct subsume_facts *f = &a->methods[method];

	row->method = method;
	row->facts = f;
	row->induced = fraction(f->induced, a->total);
	row->inclusive = fraction(f->inclusive, a->total);
	row->exclusive = fraction(f->exclusive, a->total);
	row->sampled = tree->samples > 0;
	if (row->sampled) {
		struct wilson w = wilson_ci95(row->induced, (double)tree->samples);

		row->induced_ci95[0] = w.low;
		row->induced_ci95[1] = w.high;
	}
	row->borderline = method > 0 && (f->height == a->bounds.height + 1 ||
					 f->distance == a->bounds.distance + 1);
}

static int make_rows(const struct subsume_tree *tree, const struct subsume_analysis *a,
		     const uint32_t *methods, size_t count, struct subsume_row **out)
{
	/* Room for one at least: NULL is for no memory. */
	struct subsume_row *rows = calloc(count + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		fill_row(tree, a, methods[i], &rows[i]);
	*out = rows;
	return 0;
}

/* ---------------------------------------------------------------- a summary */

/* Good 1953, "The population frequencies of species": samples that are alone of their sort are as
 * many as those still to come that would be of a new one. Where samples have weights a node has one
 * of them if its cost is below one and a half of a mean weight. */
static double coverage(const struct subsume_tree *tree, uint64_t total)
{
	double mean, alone = 0;

	if (tree->samples == 0 || total == 0)
		return 1;
	mean = (double)total / (double)tree->samples;
	for (size_t n = 0; n < tree->node_count; n++)
		alone += tree->cost[n] > 0 && (double)tree->cost[n] < 1.5 * mean;
	return alone < (double)tree->samples ? 1 - alone / (double)tree->samples : 0;
}

/* This is needed while one is made. */
struct work {
	struct summary_walk walk;
	uint32_t *methods; /* as rank finds them */
	uint32_t *row_of;
	uint8_t *wanted;
};

static void release_work(struct work **w)
{
	if (!*w)
		return;
	free((*w)->walk.active);
	free((*w)->walk.pairs.slots);
	free((*w)->methods);
	free((*w)->row_of);
	free((*w)->wanted);
	free(*w);
}

static struct work *new_work(const struct subsume_tree *tree,
			     const struct subsume_analysis *analysis)
{
	_cleanup_(release_work) struct work *w = calloc(1, sizeof(*w));
	size_t count = analysis->method_count;

	if (!w)
		return NULL;
	w->methods = calloc(count, sizeof(*w->methods));
	w->row_of = calloc(count, sizeof(*w->row_of));
	w->wanted = calloc(count, sizeof(*w->wanted));
	w->walk.active = calloc(count, sizeof(*w->walk.active));
	w->walk.tree = tree;
	w->walk.analysis = analysis;
	w->walk.wanted = w->wanted;
	if (!w->methods || !w->row_of || !w->wanted || !w->walk.active)
		return NULL;
	return TAKE_PTR(w);
}

/* Both lists, without callers and patterns. */
static int list(struct work *w, unsigned top, struct subsume_summary *s)
{
	const struct subsume_tree *tree = s->tree;
	const struct subsume_analysis *a = s->analysis;
	int r;

	s->by_induced_count = rank(tree, a, INDUCED, true, top, w->methods);
	r = make_rows(tree, a, w->methods, s->by_induced_count, &s->by_induced);
	if (r < 0)
		return r;
	s->by_inclusive_count = rank(tree, a, INCLUSIVE, true, top, w->methods);
	return make_rows(tree, a, w->methods, s->by_inclusive_count, &s->by_inclusive);
}

/* The rows of both lists, one after the other. */
static struct subsume_row *row_at(const struct subsume_summary *s, size_t i)
{
	return i < s->by_induced_count ? &s->by_induced[i]
				       : &s->by_inclusive[i - s->by_induced_count];
}

/* Which rows are among the first by what profilers show anyway. */
static void mark_top(struct work *w, enum rank by, unsigned top, const struct subsume_summary *s)
{
	size_t count = rank(s->tree, s->analysis, by, false, top, w->methods);

	for (size_t i = 0; i < count; i++)
		w->row_of[w->methods[i]] = 1;
	for (size_t i = 0; i < s->by_induced_count + s->by_inclusive_count; i++) {
		struct subsume_row *row = row_at(s, i);

		w->wanted[row->method] = 1;
		*(by == EXCLUSIVE ? &row->in_top_exclusive : &row->in_top_inclusive) =
		    w->row_of[row->method];
	}
	for (size_t i = 0; i < count; i++)
		w->row_of[w->methods[i]] = 0;
}

/* For both lists' methods at once, where one caller has more than half. */
static int find_caller_paths(struct work *w, const struct subsume_summary *s)
{
	size_t rows = s->by_induced_count + s->by_inclusive_count, count = 0;
	_cleanup_free_ struct subsume_caller_path *paths = calloc(rows + 1, sizeof(*paths));
	int r;

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++) {
		const struct subsume_row *row = row_at(s, i);
		const struct subsume_part *caller = &row->callers[0];

		if (w->row_of[row->method] || row->caller_count == 0 || caller->method == 0 ||
		    caller->fraction <= 0.5)
			continue;
		paths[count] = (struct subsume_caller_path){.method = row->method,
							    .inclusive = row->facts->inclusive,
							    .steps = {*caller},
							    .count = 1};
		w->row_of[row->method] = (uint32_t)++count;
	}
	r = subsume_caller_paths(s->tree, paths, count);
	for (size_t i = 0; i < rows; i++) {
		struct subsume_row *row = row_at(s, i);

		if (!w->row_of[row->method])
			continue;
		memcpy(row->caller_path, paths[w->row_of[row->method] - 1].steps,
		       sizeof(row->caller_path));
		row->caller_path_count = paths[w->row_of[row->method] - 1].count;
	}
	return r;
}

int subsume_summarise(const struct subsume_tree *tree, const struct subsume_analysis *analysis,
		      unsigned top, struct subsume_summary *out)
{
	struct subsume_summary s = {.tree = tree, .analysis = analysis};
	_cleanup_(release_work) struct work *w = new_work(tree, analysis);
	int r = w ? list(w, top, &s) : -ENOMEM;

	if (r == 0) {
		mark_top(w, EXCLUSIVE, top, &s);
		mark_top(w, INCLUSIVE, top, &s);
		r = walk(&w->walk);
	}
	if (r == 0) {
		add_parts(tree, &w->walk.pairs, s.by_induced, s.by_induced_count, w->row_of);
		add_parts(tree, &w->walk.pairs, s.by_inclusive, s.by_inclusive_count, w->row_of);
		r = find_caller_paths(w, &s);
	}
	if (r < 0) {
		subsume_summary_release(&s);
		return r;
	}
	s.coverage = coverage(tree, analysis->total);
	*out = s;
	return 0;
}

void subsume_summary_release(struct subsume_summary *s)
{
	free(s->by_induced);
	free(s->by_inclusive);
	*s = (struct subsume_summary){0};
}
