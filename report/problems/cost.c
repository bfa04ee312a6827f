#include "report/problems/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cleanup.h"

/* A method belongs to the operation whose CPU time is asked for where so much of its waste is
 * there. */
#define STEP_WEIGHT_MIN 0.05

/* ---------------------------------------------------------------- whose ticks */

/* Sums of ticks, on behalf of the operation: */
struct operation_time {
	struct cpu_sum own;   /* its own (see above), */
	struct cpu_sum least; /* at what it allocates, */
	struct cpu_sum most;  /* in what makes the accesses, with all that that calls, */
	struct cpu_sum total; /* and in the operation with all that it calls */
};

/* By node of the profile's tree, in one array. */
enum mark {
	MARK_UNDER = 1, /* the operation is on its path */
	MARK_OWN = 2,
	MARK_LEAST = 4,
	MARK_MOST = 8,
};

static unsigned char *mark_under(const struct cct *t, uint32_t method)
{
	unsigned char *marks = calloc(t->node_count + 1, 1);

	for (uint32_t id = 1; marks && id <= t->node_count; id++) {
		const struct cct_node *node = cct_node(t, id);

		if (node->method == method || (marks[node->parent] & MARK_UNDER))
			marks[id] = MARK_UNDER;
	}
	return marks;
}

/* By method: what it wastes, and what it makes either access of. */
struct method_use {
	double wasted, accessed;
};

static struct method_use *steps_new(const struct cct *t, const struct pair_group *g)
{
	struct method_use *steps = calloc(t->method_count + 1, sizeof(*steps));

	for (size_t i = 0; steps && i < g->count; i++) {
		const struct pair *pair = g->members[i].pair;
		uint32_t watch = cct_node_method(t, pair->watch_node);
		uint32_t trap = cct_node_method(t, pair->trap_node);
		double weight = fmax(0, g->members[i].weight);

		steps[cct_node_method(t, pair_removable_node(pair))].wasted += weight;
		steps[watch].accessed += weight;
		if (trap != watch)
			steps[trap].accessed += weight;
	}
	return steps;
}

/* Its own ticks are those of the operation's method, and of those that make much of the accesses
 * that could go: ticks of what is inlined are told by the access that they waited for, which may be
 * the one that brings the line. */
static int mark_steps(unsigned char *marks, const struct cct *t, const struct pair_group *g)
{
	_cleanup_free_ struct method_use *steps = steps_new(t, g);
	double least = STEP_WEIGHT_MIN * g->weight;

	if (!steps)
		return -ENOMEM;
	for (uint32_t id = 1; id <= t->node_count; id++) {
		uint32_t method = cct_node_method(t, id);

		if (!method || !(marks[id] & MARK_UNDER))
			continue;
		if (method == g->method || steps[method].wasted >= least)
			marks[id] |= MARK_OWN;
		if (steps[method].accessed >= least || (marks[cct_node(t, id)->parent] & MARK_MOST))
			marks[id] |= MARK_MOST;
	}
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Ticks at its allocations, and in methods of the classes that are allocated, with all that these
 * call. */
static int mark_allocations(unsigned char *marks, const struct pair_scope *s,
			    const struct allocation_group *g)
{
	const struct object_site *sites = s->window->objects.sites;
	const struct cct *t = &s->window->profile.cct;
	_cleanup_free_ uint32_t *classes = calloc(g->count + 1, sizeof(*classes));
	_cleanup_free_ bool *at = calloc(t->node_count + 1, sizeof(*at));

	if (!classes || !at)
		return -ENOMEM;
	for (size_t i = 0; i < g->count; i++) {
		classes[i] = sites[g->sites[i]].class_name;
		at[s->paths[sites[g->sites[i]].node]] = true;
	}
	qsort(classes, g->count, sizeof(*classes), compare_ids);
	for (uint32_t id = 1; id <= t->node_count; id++) {
		const struct cct_node *node = cct_node(t, id);

		if (at[s->paths[id]])
			marks[id] |= MARK_OWN | MARK_LEAST;
		else if ((marks[node->parent] & MARK_OWN) ||
			 ((marks[node->parent] & MARK_UNDER) && node->method &&
			  node->method != g->method &&
			  bsearch(&cct_method(t, node->method)->class_name, classes, g->count,
				  sizeof(*classes), compare_ids)))
			marks[id] |= MARK_OWN;
	}
	return 0;
}

static struct operation_time sum_ticks(const unsigned char *marks, const struct cpu_profile *cpu)
{
	struct operation_time out = {.own.samples = 0};

	for (size_t i = 0; i < cpu->context_count; i++) {
		const struct cpu_context *c = &cpu->contexts[i];
		struct cpu_sum sum = cpu_context_sum(c);

		if (marks[c->node] & MARK_UNDER)
			cpu_sum_add(&out.total, &sum, 1);
		if (marks[c->node] & MARK_OWN)
			cpu_sum_add(&out.own, &sum, 1);
		if (marks[c->node] & (MARK_OWN | MARK_MOST))
			cpu_sum_add(&out.most, &sum, 1);
		if (marks[c->node] & MARK_LEAST)
			cpu_sum_add(&out.least, &sum, 1);
	}
	return out;
}

/* All sites where the operation, or what it calls, allocates. */
static int allocated_under(struct candidate *c, const unsigned char *marks,
			   const struct window_result *w)
{
	_cleanup_free_ uint32_t *sites = calloc(w->objects.site_count + 1, sizeof(*sites));
	size_t count = 0;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < w->objects.site_count; i++)
		if (marks[w->objects.sites[i].node] & MARK_UNDER)
			sites[count++] = (uint32_t)i;
	return problem_allocation_init(&c->problem.allocated, w, c->frames, sites, count);
}

/* ---------------------------------------------------------------- what is in vain */

/* The part in vain of the operation's accesses that were looked at: of its loads and stores,
 * or of its stores alone where all else is done for them. A store is looked at for both kinds. Of
 * a search the walk is in vain, too. */
static void accesses_in_vain(struct problem *out, const struct window_result *w)
{
	const struct problem_pairs *dead = &out->pairs[JXP__KIND__KIND_DEAD_STORE];
	const struct problem_pairs *silent = &out->pairs[JXP__KIND__KIND_SILENT_STORE];
	const struct problem_pairs *loads = &out->pairs[JXP__KIND__KIND_SILENT_LOAD];
	double of_stores = fmax(estimate_fraction((double)dead->wasteful, (double)dead->count),
				estimate_fraction((double)silent->wasteful, (double)silent->count));
	/* Of windows that were merged, not all may have looked at both. */
	double stores =
	    fmax(window_result_expansion(w, JXP__KIND__KIND_DEAD_STORE) * (double)dead->count,
		 window_result_expansion(w, JXP__KIND__KIND_SILENT_STORE) * (double)silent->count);
	double of_loads = window_result_expansion(w, JXP__KIND__KIND_SILENT_LOAD);
	double expanded = stores, wasteful = of_stores * stores;
	double all = fmax((double)dead->count, (double)silent->count);

	if (!problem_words[out->kind].whole) {
		all += (double)loads->count;
		expanded += of_loads * (double)loads->count;
		wasteful += of_loads * (double)loads->wasteful;
	}
	if (out->kind == PROBLEM_SEARCHED)
		wasteful += of_loads * (double)loads->walked;
	out->fraction = fmin(1, estimate_fraction(wasteful, expanded));
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

/* ---------------------------------------------------------------- CPU time */

static void collectors_part(struct problem_allocation *a, const struct window_result *w)
{
	double gc = estimate_fraction(window_result_beside_ns(w, w->cpu.beside.gc_ns),
				      window_result_whole_ns(w));

	a->gc_share = gc * a->fraction;
	a->gc_ci95 =
	    (struct interval){.low = gc * a->fraction_ci95.low, .high = gc * a->fraction_ci95.high};
}

/* What no context tells may be anybody's. */
static double nobodys(const struct window_result *w, const struct cpu_whole *whole)
{
	return estimate_fraction(w->cpu.truncated.ns + window_result_outside_ns(w), whole->ns);
}

static struct cpu_share share_of_ticks(const struct cpu_sum *ticks, const struct cpu_whole *whole)
{
	struct gain_sums sums = gain_all(ticks);

	return share_of(&sums, whole);
}

/* Tells what pairs show to be in vain; of one that allocates, all is. */
static struct cpu_share saved_of(const struct candidate *c, const struct window_result *w,
				 const struct cpu_sum *ticks, const struct cpu_whole *whole)
{
	Jxp__Kind kind = c->problem.pairs_kind;
	struct gain_sums sums;

	if (c->sites)
		return share_of_ticks(ticks, whole);
	sums =
	    gain_part(ticks, c->problem.fraction,
		      (double)c->problem.pairs[kind].count / window_result_design_effect(w, kind));
	return share_of(&sums, whole);
}

static void estimate_saved(struct candidate *c, const struct pair_scope *s,
			   const struct operation_time *time)
{
	struct problem *out = &c->problem;
	const struct window_result *w = s->window;
	struct cpu_whole pairs = window_result_tick_whole(w, out->pairs_kind), whole = pairs;
	/* Who loads again does all of it again; where stores are in vain the rest may have to be
	 * done. */
	bool all = c->sites || out->pairs_kind == JXP__KIND__KIND_SILENT_LOAD;
	double ticks = window_result_tick_whole(w, JXP__KIND__KIND_CPU).ticks;
	struct cpu_share most;

	/* They may be other windows' than the pairs; where there are none, nothing is told by them.
	 */
	if (ticks > 0)
		whole.ticks = ticks;
	most = share_of_ticks(all ? &time->total : &time->most, &whole);
	out->own = share_of_ticks(&time->own, &whole);
	out->saved = saved_of(c, w, &time->own, &whole);
	out->inclusive = estimate_fraction(time->total.ns, whole.ns);
	out->saved_bounds.high =
	    fmin(1, most.ci95.high + out->allocated.gc_ci95.high + nobodys(w, &whole));
	if (c->sites) {
		out->saved.share = fmin(1, out->saved.share + out->allocated.gc_share);
		out->saved.ci95.low += out->allocated.gc_ci95.low;
		out->saved.ci95.high = fmin(1, out->saved.ci95.high + out->allocated.gc_ci95.high);
		out->saved_bounds.low = share_of_ticks(&time->least, &whole).ci95.low;
		return;
	}
	struct gain_sums gain = gains_of(s, c->pairs);
	uint64_t wasteful = 0;

	for (int kind = 0; kind < KIND_VALUES; kind++)
		wasteful += out->pairs[kind].wasteful;
	if (2 * gain.untold <= wasteful)
		out->gain = share_of(&gain, &pairs);
	out->saved_bounds.low =
	    out->gain.known ? fmin(out->gain.ci95.low, out->saved.ci95.low) : out->saved.ci95.low;
	/* Whoever does nothing of it does not make these accesses either. */
	if (out->gain.known && out->gain.share > out->saved.share)
		out->saved = out->gain;
}

static void estimate(struct candidate *c, const struct pair_scope *s,
		     const struct operation_time *time)
{
	struct problem *out = &c->problem;

	estimate_saved(c, s, time);
	/* Accesses that could go may be in many small steps, none of which is the operation's. */
	out->saved_bounds.high = fmax(out->saved_bounds.high, out->saved.ci95.high);
}

int candidate_estimate(struct candidate *c, const struct pair_scope *s)
{
	struct problem *out = &c->problem;
	const struct window_result *w = s->window;
	_cleanup_free_ unsigned char *marks = mark_under(&w->profile.cct, out->method);
	struct operation_time time;
	int r;

	if (!marks)
		return -ENOMEM;
	if (c->sites) {
		r = problem_allocation_init(&out->allocated, w, c->frames, c->sites->sites,
					    c->sites->count);
		if (r == 0)
			r = mark_allocations(marks, s, c->sites);
		out->fraction = out->allocated.fraction;
		out->fraction_ci95 = out->allocated.fraction_ci95;
	} else {
		r = allocated_under(c, marks, w);
		if (r == 0)
			r = mark_steps(marks, &w->profile.cct, c->pairs);
		accesses_in_vain(out, w);
	}
	if (r < 0)
		return r;
	if (out->allocated.samples > 0)
		out->allocated.operation = out->method;
	out->own = out->saved = out->gain = (struct cpu_share){.ci95 = {0, 1}};
	out->saved_bounds = (struct interval){0, 1};
	if (!w->request.kinds[JXP__KIND__KIND_CPU])
		return 0;
	collectors_part(&out->allocated, w);
	time = sum_ticks(marks, &w->cpu);
	estimate(c, s, &time);
	return 0;
}
