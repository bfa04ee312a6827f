#include "daemon/report/problems/problems.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/report/problems/grouping.h"
#include "daemon/report/problems/operation.h"
#include "daemon/report/problems/problem_kind.h"

/* Groups with evidence that are looked at, those with the most waste. */
#define CANDIDATES_MAX 24

/* A method belongs to the operation whose CPU time is asked for where so much of its waste is
 * there. */
#define STEP_WEIGHT_MIN 0.05

/* Of dead stores, with a silent one for each. */
#define SAME_VALUE_PART 0.7

/* What most comes from is named where it is so much. */
#define CALLER_PART_MIN 0.6

/* ---------------------------------------------------------------- counts */

static void count_pairs(struct problem *out, const struct profile *p, const struct pair_group *g)
{
	double weights[KIND_VALUES] = {0};

	for (size_t i = 0; i < g->count; i++) {
		const struct group_member *m = &g->members[i];
		struct problem_pairs *pairs = &out->pairs[m->pair->kind];

		pairs->count += m->pair->count;
		if (m->weight <= 0) {
			pairs->walked += m->pair->wasteful_count;
			continue;
		}
		pairs->wasteful += m->pair->wasteful_count;
		out->evidence += m->pair->wasteful_count;
		if (cct_is_told(&p->cct, pair_removable_node(m->pair)))
			out->told += m->pair->wasteful_count;
		weights[m->pair->kind] += m->weight;
	}
	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (weights[kind] > weights[out->pairs_kind])
			out->pairs_kind = (Jxp__Kind)kind;
}

static void find_largest(struct problem *out, const struct pair_group *g)
{
	double largest = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].pair->kind == out->pairs_kind && g->members[i].weight > largest) {
			largest = g->members[i].weight;
			out->largest = g->members[i].pair;
		}
}

/* Most of what is stored and overwritten unread may be overwritten with the same value: that says
 * more. */
static void name_kind(struct problem *out, const struct pair_scope *s, const struct pair_group *g)
{
	const struct problem_pairs *dead = &out->pairs[JXP__KIND__KIND_DEAD_STORE];
	const struct problem_pairs *silent = &out->pairs[JXP__KIND__KIND_SILENT_STORE];

	out->kind = problem_kind_of(s, g, out->pairs_kind);
	if (out->kind != PROBLEM_OVERWRITTEN ||
	    (double)silent->wasteful < SAME_VALUE_PART * (double)dead->wasteful)
		return;
	out->kind = PROBLEM_REWRITTEN;
	out->pairs_kind = JXP__KIND__KIND_SILENT_STORE;
}

/* Something that has weight. */
struct weighed {
	uint32_t what;
	double weight;
};

static int compare_whats(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return x->what < y->what ? -1 : x->what > y->what;
}

static int compare_weights(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return compare_whats(a, b);
}

/* Adds up what is the same, the heaviest first; returns how many are left. */
static size_t add_up(struct weighed *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), compare_whats);
	for (size_t i = 0; i < count; i++)
		if (kept > 0 && list[kept - 1].what == list[i].what)
			list[kept - 1].weight += list[i].weight;
		else
			list[kept++] = list[i];
	qsort(list, kept, sizeof(*list), compare_weights);
	return kept;
}

/* Members with weight by what they have in common, the heaviest first; returns how many. */
static size_t weigh(struct weighed *list, const struct pair_scope *s, const struct pair_group *g,
		    uint32_t (*what)(const struct pair_scope *s, const struct group_member *m))
{
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].weight > 0)
			list[count++] = (struct weighed){.what = what(s, &g->members[i]),
							 .weight = g->members[i].weight};
	return add_up(list, count);
}

static void find_places(struct problem *out, const struct pair_scope *s, const struct pair_group *g,
			struct weighed *scratch)
{
	struct location first = {0};
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].weight > 0 && g->members[i].pair->kind == out->pairs_kind)
			scratch[count++] =
			    (struct weighed){.what = s->fields[g->members[i].pair->location],
					     .weight = g->members[i].weight};
	out->place_count = add_up(scratch, count);
	for (size_t i = 0; i < out->place_count; i++) {
		struct location l = locations_get(&s->window->profile.locations, scratch[i].what);

		if (i < PROBLEM_PLACES_MAX)
			out->places[i] = scratch[i].what;
		if (i == 0)
			first = l;
		if (l.kind == JXP__LOCATION__KIND__FIELD && l.kind == first.kind &&
		    l.declared_in == first.declared_in)
			out->field_count++;
	}
}

/* What has called the operation, on behalf of which a step is made. */
static uint32_t caller_of(const struct pair_scope *s, const struct group_member *m)
{
	const struct profile *p = &s->window->profile;
	uint32_t node = m->node;

	while (node && cct_node_method(&p->cct, node) != m->operation)
		node = cct_node(&p->cct, node)->parent;
	return cct_node_method(&p->cct, operation_caller(p, node ? node : m->node));
}

static void find_caller(struct problem *out, const struct pair_scope *s, const struct pair_group *g,
			struct weighed *scratch)
{
	if (weigh(scratch, s, g, caller_of) == 0 || scratch[0].weight < CALLER_PART_MIN * g->weight)
		return;
	out->caller = scratch[0].what;
	out->caller_part = scratch[0].weight / g->weight;
}

/* ---------------------------------------------------------------- CPU time */

/* Of ticks. */
struct operation_time {
	struct cpu_sum own; /* in the methods that make the accesses, on behalf of the operation */
	struct cpu_sum total; /* and in all that it calls */
};

static uint32_t step_of(const struct pair_scope *s, const struct group_member *m)
{
	return cct_node_method(&s->window->profile.cct, pair_removable_node(m->pair));
}

/* The operation's method, and those that make much of the accesses that could go: ticks of what is
 * inlined are told by the access that they waited for, which may be the one that brings the line.
 */
static void mark_steps(bool *steps, const struct pair_scope *s, const struct pair_group *g,
		       struct weighed *scratch)
{
	size_t count = weigh(scratch, s, g, step_of);

	for (size_t i = 0; i < count; i++)
		steps[scratch[i].what] = scratch[i].weight >= STEP_WEIGHT_MIN * g->weight;
	steps[g->method] = true;
}

/* 0 or -ENOMEM. */
static int time_of(struct operation_time *out, const struct pair_scope *s,
		   const struct pair_group *g, struct weighed *scratch)
{
	const struct window_result *w = s->window;
	const struct cct *t = &w->profile.cct;
	_cleanup_free_ bool *steps = calloc(t->method_count + 1, sizeof(*steps));
	_cleanup_free_ bool *under = calloc(t->node_count + 1, sizeof(*under));

	*out = (struct operation_time){0};
	if (!steps || !under)
		return -ENOMEM;
	mark_steps(steps, s, g, scratch);
	for (uint32_t id = 1; id <= t->node_count; id++) {
		const struct cct_node *node = cct_node(t, id);

		under[id] = node->method == g->method || under[node->parent];
	}
	for (size_t i = 0; i < w->cpu.context_count; i++) {
		const struct cpu_context *c = &w->cpu.contexts[i];
		struct cpu_sum sum = cpu_context_sum(c);

		if (!under[c->node])
			continue;
		cpu_sum_add(&out->total, &sum, 1);
		if (steps[cct_node_method(&w->profile.cct, c->node)])
			cpu_sum_add(&out->own, &sum, 1);
	}
	return 0;
}

/* ---------------------------------------------------------------- what is in vain */

/* Of the accesses of the operation that were looked at, the part in vain: of its loads and stores,
 * or of its stores alone where all else is done for them. A store is looked at for both kinds. Of
 * a search the walk is in vain, too. */
static void in_vain(struct problem *out, const struct window_result *w)
{
	const struct problem_pairs *dead = &out->pairs[JXP__KIND__KIND_DEAD_STORE];
	const struct problem_pairs *silent = &out->pairs[JXP__KIND__KIND_SILENT_STORE];
	const struct problem_pairs *loads = &out->pairs[JXP__KIND__KIND_SILENT_LOAD];
	double of_stores = fmax(estimate_fraction((double)dead->wasteful, (double)dead->count),
				estimate_fraction((double)silent->wasteful, (double)silent->count));
	double stores = fmax((double)dead->count, (double)silent->count);
	double all = stores, wasteful = of_stores * stores;

	if (!problem_words[out->kind].whole) {
		all += (double)loads->count;
		wasteful += (double)loads->wasteful;
	}
	if (out->kind == PROBLEM_SEARCHED)
		wasteful += (double)loads->walked;
	out->fraction = fmin(1, estimate_fraction(wasteful, all));
	all /= window_result_design_effect(w, out->pairs_kind);
	out->fraction_ci95 = estimate_ci95(out->fraction * all, all, all);
}

static uint64_t ticks_of(const struct gain_sums *sums)
{
	return (uint64_t)ceil(sums->ticks);
}

static struct cpu_share share_of(const struct gain_sums *sums, const struct cpu_whole *whole)
{
	return cpu_share_estimate(&sums->cpu, ticks_of(sums), whole);
}

/* At each access that could go the kind in which most of it could: it goes once. */
static struct gain_sums gains_of(const struct pair_scope *s, const struct pair_group *g)
{
	struct gain_sums sum = {0};

	for (size_t i = 0, next; i < g->count; i = next) {
		struct gain_sums kinds[KIND_VALUES] = {0};
		uint32_t node = pair_removable_node(g->members[i].pair);
		int best = 0;

		for (next = i;
		     next < g->count && pair_removable_node(g->members[next].pair) == node; next++)
			if (g->members[next].weight > 0)
				gain_sums_add(
				    &kinds[g->members[next].pair->kind],
				    &s->gains[g->members[next].pair - s->window->profile.pairs]);
		for (int kind = 0; kind < KIND_VALUES; kind++)
			if (kinds[kind].cpu.ns > kinds[best].cpu.ns)
				best = kind;
		for (int kind = 0; kind < KIND_VALUES; kind++)
			if (kind != best)
				sum.untold += kinds[kind].untold;
		gain_sums_add(&sum, &kinds[best]);
	}
	return sum;
}

static void estimate(struct problem *out, const struct pair_scope *s, const struct pair_group *g,
		     const struct operation_time *time)
{
	const struct window_result *w = s->window;
	struct cpu_whole whole = window_result_tick_whole(w, out->pairs_kind);
	double seen = (double)out->pairs[out->pairs_kind].count /
		      window_result_design_effect(w, out->pairs_kind);
	struct gain_sums own = gain_all(&time->own);
	struct gain_sums saved = gain_part(&time->own, out->fraction, seen);
	struct gain_sums gain = gains_of(s, g);

	out->own = out->saved = out->gain = (struct cpu_share){.ci95 = {0, 1}};
	if (!w->request.cpu)
		return;
	out->own = share_of(&own, &whole);
	out->saved = share_of(&saved, &whole);
	out->inclusive = estimate_fraction(time->total.ns, whole.ns);
	if (2 * gain.untold <= out->evidence)
		out->gain = share_of(&gain, &whole);
	/* Whoever does nothing of it does not make these accesses either. */
	if (out->gain.known && out->gain.share > out->saved.share)
		out->saved = out->gain;
}

/* ---------------------------------------------------------------- ranking */

/* What is saved at least; where that is not known, the part of accesses in vain. */
static double rank_of(const struct problem *problem)
{
	return problem->saved.known ? problem->saved.ci95.low : problem->fraction_ci95.low;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	if (rank_of(x) != rank_of(y))
		return rank_of(x) > rank_of(y) ? -1 : 1;
	return x->method < y->method ? -1 : x->method > y->method;
}

/* One kind of thing, of which one operation does all for the other one. */
static bool is_one(const struct problem *a, const struct problem *b)
{
	return a->kind == b->kind && ((a->caller == b->method && a->caller_part >= MERGED_PART) ||
				      (b->caller == a->method && b->caller_part >= MERGED_PART));
}

static void offer(struct problems *out, const struct problem *problem)
{
	bool known = out->count == PROBLEMS_MAX;

	for (size_t i = 0; i < out->count; i++)
		known = known || is_one(&out->list[i], problem);
	if (!known)
		out->list[out->count++] = *problem;
}

/* 1 with the problem that a group is, 0 where there is too little of it, or -ENOMEM. */
static int problem_of(struct problem *out, const struct pair_scope *s, const struct pair_group *g,
		      struct weighed *scratch)
{
	const struct profile *p = &s->window->profile;
	struct operation_time time;

	*out = (struct problem){.method = g->method};
	count_pairs(out, p, g);
	if (out->evidence < PAIRS_EVIDENCE)
		return 0;
	if (time_of(&time, s, g, scratch) < 0)
		return -ENOMEM;
	name_kind(out, s, g);
	find_largest(out, g);
	find_places(out, s, g, scratch);
	find_caller(out, s, g, scratch);
	in_vain(out, s->window);
	estimate(out, s, g, &time);
	return 1;
}

static bool is_small(const struct problem *problem)
{
	return problem->saved.known &&
	       fmax(problem->saved.share, problem->gain.share) < PROBLEM_SHARE_MIN;
}

/* Of so many of the largest groups. */
static int rank(struct problems *out, const struct pair_scope *s, const struct pair_groups *groups,
		struct weighed *scratch)
{
	struct problem found[CANDIDATES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < groups->count && count + out->small < CANDIDATES_MAX; i++) {
		int r = problem_of(&found[count], s, &groups->list[i], scratch);

		if (r < 0)
			return r;
		if (r > 0 && is_small(&found[count]))
			out->small++;
		else
			count += (size_t)r;
	}
	qsort(found, count, sizeof(found[0]), compare_ranks);
	for (size_t i = 0; i < count; i++)
		offer(out, &found[i]);
	return 0;
}

int problems_init(struct problems *out, const struct pair_scope *s)
{
	_cleanup_free_ struct weighed *scratch =
	    calloc(s->window->profile.pair_count + 1, sizeof(*scratch));
	struct pair_groups groups;
	int r = scratch ? pair_groups_init(&groups, s) : -ENOMEM;

	*out = (struct problems){0};
	if (!scratch)
		return -ENOMEM;
	if (r == 0)
		r = rank(out, s, &groups, scratch);
	pair_groups_release(&groups);
	if (r < 0)
		*out = (struct problems){0};
	return r;
}
