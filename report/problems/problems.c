#include "report/problems/problems.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "report/problems/allocations.h"
#include "report/problems/cost.h"
#include "report/problems/grouping.h"
#include "report/problems/operation.h"
#include "report/problems/problem_kind.h"
#include "report/problems/weighed.h"

/* Groups with evidence that are looked at, those with the most waste. */
#define CANDIDATES_MAX 24

/* What is allocated is a problem where it is so much of all bytes, by the lower end, and so much of
 * it was garbage before the window ended. */
#define ALLOCATED_MIN 0.02
#define GARBAGE_MIN   0.5

/* Work of more than so much for each object, and each of its bytes, is not done for the object. */
#define OBJECT_NS 1000
#define BYTE_NS   1

/* Problems of this kind: that something is in vain is sure of the others alone. */
#define ALLOCATED_MAX 3

/* ---------------------------------------------------------------- counts */

static void count_pairs(struct problem *out, const struct profile *p, const struct pair_group *g)
{
	double weights[KIND_VALUES] = {0};
	uint64_t told[KIND_VALUES] = {0};
	Jxp__Kind stores = JXP__KIND__KIND_DEAD_STORE;

	for (size_t i = 0; i < g->count; i++) {
		const struct group_member *m = &g->members[i];
		struct problem_pairs *pairs = &out->pairs[m->pair->kind];

		pairs->count += m->pair->count;
		if (m->weight <= 0) {
			pairs->walked += m->pair->wasteful_count;
			continue;
		}
		pairs->wasteful += m->pair->wasteful_count;
		if (cct_is_told(&p->cct, pair_removable_node(m->pair)))
			told[m->pair->kind] += m->pair->wasteful_count;
		weights[m->pair->kind] += m->weight;
	}
	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (weights[kind] > weights[out->pairs_kind])
			out->pairs_kind = (Jxp__Kind)kind;
	/* A store may be of both kinds. */
	if (out->pairs[JXP__KIND__KIND_SILENT_STORE].wasteful > out->pairs[stores].wasteful)
		stores = JXP__KIND__KIND_SILENT_STORE;
	out->evidence =
	    out->pairs[stores].wasteful + out->pairs[JXP__KIND__KIND_SILENT_LOAD].wasteful;
	out->told = told[stores] + told[JXP__KIND__KIND_SILENT_LOAD];
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
	out->place_count = weighed_add_up(scratch, count);
	out->all_fields = true;
	for (size_t i = 0; i < out->place_count; i++) {
		struct location l = locations_get(&s->window->profile.locations, scratch[i].what);

		if (i < PROBLEM_PLACES_MAX)
			out->places[i] = scratch[i].what;
		if (i == 0)
			first = l;
		out->all_fields &= l.kind == JXP__LOCATION__KIND__FIELD;
		if (l.kind == JXP__LOCATION__KIND__FIELD && l.kind == first.kind &&
		    l.declared_in == first.declared_in)
			out->field_count++;
	}
}

/* list: the operation's callers. */
static void name_callers(struct problem *out, struct weighed *list, size_t count, double all)
{
	size_t callers = weighed_add_up(list, count), named = 0;

	for (size_t i = 0; i < callers && named < PROBLEM_CALLERS_MAX; i++)
		if (list[i].what)
			out->callers[named++] = (struct problem_caller){
			    .method = list[i].what, .part = list[i].weight / all};
}

/* The operation's frame, on behalf of which a step is made; the step's where that is not known. */
static uint32_t frame_of(const struct profile *p, uint32_t step, uint32_t operation)
{
	uint32_t node = step;

	while (node && cct_node_method(&p->cct, node) != operation)
		node = cct_node(&p->cct, node)->parent;
	return node ? node : step;
}

static uint32_t caller_of(const struct profile *p, uint32_t step, uint32_t operation)
{
	return cct_node_method(&p->cct, operation_caller(p, frame_of(p, step, operation)));
}

static void find_caller(struct problem *out, const struct profile *p, const struct pair_group *g,
			struct weighed *scratch)
{
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->members[i].weight > 0)
			scratch[count++] = (struct weighed){
			    .what = caller_of(p, g->members[i].node, g->members[i].operation),
			    .weight = g->members[i].weight};
	name_callers(out, scratch, count, g->weight);
}

static void find_allocations_caller(struct problem *out, const struct window_result *w,
				    const struct allocation_group *g, struct weighed *scratch)
{
	double all = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct object_site *site = &w->objects.sites[g->sites[i]];

		scratch[i] = (struct weighed){.what = caller_of(&w->profile, site->node, g->method),
					      .weight = site->alloc_bytes};
		all += site->alloc_bytes;
	}
	name_callers(out, scratch, g->count, all);
}

/* ---------------------------------------------------------------- ranking */

/* Larger ones come first: what is saved at least; where that is not known, the part of accesses in
 * vain. */
static double rank_of(const struct problem *problem)
{
	return problem->saved.known ? problem->saved.ci95.low : problem->fraction_ci95.low;
}

bool problem_is_sure(const struct problem *problem, bool enough)
{
	const struct cpu_share *saved = &problem->saved;

	return enough &&
	       (!saved->known || (saved->ci95.high < 1 && saved->ci95.low * saved->ci95.low >=
							      PROBLEM_SHARE_MIN * saved->share));
}

bool problem_is_before(const struct problem *a, const struct problem *b)
{
	return a->sure != b->sure ? a->sure : rank_of(a) > rank_of(b);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (problem_is_before(&x->problem, &y->problem))
		return -1;
	if (problem_is_before(&y->problem, &x->problem))
		return 1;
	return x->problem.method < y->problem.method ? -1 : x->problem.method > y->problem.method;
}

/* Has a method called a problem's operation, on behalf of which a step is made? */
static bool is_under(const struct profile *p, uint32_t step, const struct problem *problem,
		     uint32_t method)
{
	uint32_t node = frame_of(p, step, problem->method);

	while (node && cct_node_method(&p->cct, node) != method)
		node = cct_node(&p->cct, node)->parent;
	return node != 0;
}

/* The part of what a candidate wastes or allocates that a method has called, or that is near to
 * it. */
static double part_from(const struct candidate *c, const struct window_result *w, uint32_t method,
			bool called)
{
	double all = 0, near = 0;

	for (size_t i = 0; c->pairs && i < c->pairs->count; i++) {
		const struct group_member *m = &c->pairs->members[i];

		all += m->weight;
		if (m->weight > 0 &&
		    (called ? is_under(&w->profile, m->node, &c->problem, method)
			    : allocation_is_near(&w->profile, c->frames, m->node, method)))
			near += m->weight;
	}
	for (size_t i = 0; c->sites && i < c->sites->count; i++) {
		const struct object_site *site = &w->objects.sites[c->sites->sites[i]];

		all += site->alloc_bytes;
		if (called ? is_under(&w->profile, site->node, &c->problem, method)
			   : allocation_is_near(&w->profile, c->frames, site->node, method))
			near += site->alloc_bytes;
	}
	return estimate_fraction(near, all);
}

static double part_near(const struct candidate *c, const struct window_result *w, uint32_t method)
{
	return part_from(c, w, method, false);
}

/* Who mends the operation that calls another one may have mended that as well; but not who drives
 * all, and has next to no waste besides. */
static void find_part_of(struct problems *out, const struct candidate *listed,
			 const struct window_result *w)
{
	for (size_t i = 0; i < out->count; i++)
		for (size_t j = 0; j < out->count && !out->list[i].part_of.method; j++) {
			uint32_t method = out->list[j].method;
			double part;

			if (i == j ||
			    rank_of(&out->list[j]) < MERGED_WASTE * rank_of(&out->list[i]))
				continue;
			part = part_from(&listed[i], w, method, true);
			if (part >= PROBLEM_CALLER_MIN &&
			    part_from(&listed[j], w, out->list[i].method, true) <
				PROBLEM_CALLER_MIN)
				out->list[i].part_of =
				    (struct problem_caller){.method = method, .part = part};
		}
}

static bool is_called_by(const struct problem *x, const struct problem *y, double part)
{
	return x->callers[0].method == y->method && x->callers[0].part >= part;
}

static bool have_a_place_in_common(const struct problem *x, const struct problem *y)
{
	for (size_t i = 0; i < x->place_count && i < PROBLEM_PLACES_MAX; i++)
		for (size_t j = 0; j < y->place_count && j < PROBLEM_PLACES_MAX; j++)
			if (x->places[i] == y->places[j])
				return true;
	return false;
}

static bool is_of_loads(const struct problem *x)
{
	return x->pairs_kind == JXP__KIND__KIND_SILENT_LOAD;
}

/* One kind of thing, of which one operation does all for the other one; or what one has the other
 * load, or store, as it does itself. */
static bool is_done_for(const struct problem *x, const struct problem *y)
{
	return (x->kind == y->kind && is_called_by(x, y, MERGED_PART)) ||
	       (is_called_by(x, y, PROBLEM_CALLER_MIN) && is_of_loads(x) == is_of_loads(y) &&
		have_a_place_in_common(x, y));
}

/* Does one load, or store, again what the other one has just loaded, or stored? */
static bool goes_on(const struct problem *x, const struct problem *y, const struct cct *t)
{
	return x->largest && y->largest && x->places[0] == y->places[0] &&
	       cct_node_method(t, x->largest->trap_node) ==
		   cct_node_method(t, y->largest->watch_node);
}

/* Is one done for the other, or does it go on with that? Of what is allocated, and accessed, most
 * of one may be the other's doing. */
static bool is_one(const struct candidate *a, const struct candidate *b,
		   const struct window_result *w)
{
	const struct problem *x = &a->problem, *y = &b->problem;
	const struct cct *t = &w->profile.cct;

	if (a->sites || b->sites)
		return part_near(a, w, y->method) >= MERGED_PART ||
		       part_near(b, w, x->method) >= MERGED_PART;
	return is_done_for(x, y) || is_done_for(y, x) ||
	       (x->kind == y->kind && (goes_on(x, y, t) || goes_on(y, x, t)));
}

/* Takes over the evidence of one that is the same problem. What somebody has allocated who calls
 * the operation comes on top of what that takes. */
static void absorb(struct problem *to, const struct candidate *from, const struct window_result *w)
{
	const struct problem *more = &from->problem;

	if (from->sites && to->allocated.samples < more->allocated.samples) {
		to->allocated = more->allocated;
		if (part_near(from, w, to->method) >= MERGED_PART)
			to->allocated.operation = to->method;
		else if (to->kind != PROBLEM_ALLOCATED)
			to->saved_bounds.high =
			    fmin(1, to->saved_bounds.high + more->saved.ci95.high);
	}
	to->sure |= more->sure;
	if (to->evidence > 0)
		return;
	memcpy(to->pairs, more->pairs, sizeof(to->pairs));
	to->evidence = more->evidence;
	to->told = more->told;
}

/* found: in the order of their ranks; those that are listed come first. */
static void offer(struct problems *out, struct candidate *found, size_t position,
		  const struct window_result *w)
{
	struct candidate *candidate = &found[position];
	unsigned allocated = 0;
	double left = 1; /* of the CPU time, when those before it are mended */

	for (size_t i = 0; i < out->count; i++) {
		left -= out->list[i].saved.ci95.low;
		allocated += found[i].sites != NULL;
		if (is_one(&found[i], candidate, w)) {
			absorb(&out->list[i], candidate, w);
			return;
		}
	}
	if (out->count == PROBLEMS_MAX || (candidate->sites && allocated == ALLOCATED_MAX))
		return;
	out->list[out->count] = candidate->problem;
	if (candidate->problem.saved.known)
		out->list[out->count].saved_bounds.high =
		    fmin(candidate->problem.saved_bounds.high,
			 fmax(left, candidate->problem.saved.ci95.high));
	found[out->count++] = *candidate;
}

/* 1 with the problem that a group is, 0 where there is too little of it, or -ENOMEM. */
static int problem_of(struct candidate *c, const struct pair_scope *s, const struct pair_group *g,
		      const uint32_t *frames, struct weighed *scratch)
{
	const struct profile *p = &s->window->profile;
	struct problem *out = &c->problem;

	*c = (struct candidate){.problem.method = g->method, .pairs = g, .frames = frames};
	count_pairs(out, p, g);
	if (out->evidence < PAIRS_EVIDENCE)
		return 0;
	name_kind(out, s, g);
	find_largest(out, g);
	find_places(out, s, g, scratch);
	find_caller(out, p, g, scratch);
	out->basic = operation_method_is_basic(p, g->method);
	out->advice = problem_advice(p, out);
	if (candidate_estimate(c, s) < 0)
		return -ENOMEM;
	out->sure = problem_is_sure(
	    out, (double)out->evidence >=
		     PROBLEM_SURE * window_result_design_effect(s->window, out->pairs_kind));
	return 1;
}

/* Not one that has a few lists of its own to do something else with. CPU time is the whole
 * window's; objects may have been tracked for less. */
static bool is_made_of_objects(const struct problem *problem, const struct window_result *w)
{
	const struct problem_allocation *a = &problem->allocated;
	double elapsed = (double)window_result_elapsed_ns(w);
	double tracked = (double)window_result_objects_ns(w);
	double longer = tracked > 0 ? fmax(1, elapsed / tracked) : 1;

	return problem->saved.ci95.low * window_result_whole_ns(w) <=
	       longer * (OBJECT_NS * a->objects + BYTE_NS * a->bytes);
}

static int problem_of_allocations(struct candidate *c, const struct pair_scope *s,
				  const struct allocation_group *g, const uint32_t *frames,
				  struct weighed *scratch)
{
	struct problem *out = &c->problem;

	*c = (struct candidate){.problem = {.method = g->method, .kind = PROBLEM_ALLOCATED},
				.sites = g,
				.frames = frames};
	find_allocations_caller(out, s->window, g, scratch);
	if (candidate_estimate(c, s) < 0)
		return -ENOMEM;
	out->basic = operation_method_is_basic(&s->window->profile, g->method);
	out->advice = problem_advice(&s->window->profile, out);
	out->sure = problem_is_sure(out, out->allocated.samples >= PROBLEM_SURE_ALLOCATIONS);
	return out->allocated.samples >= PAIRS_EVIDENCE && is_made_of_objects(out, s->window) &&
	       out->allocated.fraction_ci95.low >= ALLOCATED_MIN &&
	       out->allocated.garbage >= GARBAGE_MIN;
}

static bool is_small(const struct problem *problem)
{
	return problem->saved.known && problem->saved.ci95.low < PROBLEM_SHARE_MIN;
}

/* Groups may come to these. */
struct problem_candidates {
	struct candidate list[CANDIDATES_MAX + ALLOCATION_GROUPS];
	size_t count;
};

/* found: what problem_of or problem_of_allocations says of the next one. */
static int keep(struct problem_candidates *c, struct problems *out, int found)
{
	if (found > 0 && is_small(&c->list[c->count].problem))
		out->small++;
	else if (found > 0)
		c->count++;
	return found < 0 ? found : 0;
}

/* Ranks so many of the largest groups. */
static int rank(struct problems *out, const struct pair_scope *s, const struct pair_groups *groups,
		const struct allocation_groups *allocations, const uint32_t *frames,
		struct weighed *scratch)
{
	struct problem_candidates found = {.count = 0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < groups->count && found.count + out->small < CANDIDATES_MAX;
	     i++)
		r = keep(
		    &found, out,
		    problem_of(&found.list[found.count], s, &groups->list[i], frames, scratch));
	for (size_t i = 0; r == 0 && i < allocations->count; i++)
		r = keep(&found, out,
			 problem_of_allocations(&found.list[found.count], s, &allocations->list[i],
						frames, scratch));
	if (r < 0)
		return r;
	qsort(found.list, found.count, sizeof(found.list[0]), compare_ranks);
	for (size_t i = 0; i < found.count; i++)
		offer(out, found.list, i, s->window);
	find_part_of(out, found.list, s->window);
	return 0;
}

size_t problems_rank(const struct problems *problems, uint32_t method)
{
	for (size_t i = 0; method && i < problems->count; i++)
		if (problems->list[i].method == method)
			return i + 1;
	return 0;
}

int problems_init(struct problems *out, const struct pair_scope *s)
{
	const struct window_result *w = s->window;
	_cleanup_free_ struct weighed *scratch =
	    calloc(w->profile.pair_count + w->objects.site_count + 1, sizeof(*scratch));
	_cleanup_free_ uint32_t *frames = allocation_frames_new(&w->profile);
	struct allocation_groups allocations = {.count = 0};
	struct pair_groups groups = {.count = 0};
	int r = scratch && frames ? pair_groups_init(&groups, s) : -ENOMEM;

	*out = (struct problems){0};
	if (r == 0)
		r = allocation_groups_init(&allocations, w, frames);
	if (r == 0)
		r = rank(out, s, &groups, &allocations, frames, scratch);
	allocation_groups_release(&allocations);
	pair_groups_release(&groups);
	if (r < 0)
		*out = (struct problems){0};
	return r;
}
