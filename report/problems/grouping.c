#include "report/problems/grouping.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "report/problems/operation.h"
#include "report/problems/walks.h"

/* How far a step may be from the operation that it is part of, in calls: else all that a driver's
 * loop does is one problem. */
#define STEP_CALLS_MAX 2

/* Stacks, and what compilers have no registers for, are no memory of the program's. */
static bool is_memory(const struct pair_scope *s, const struct pair *pair)
{
	uint32_t place = locations_get(&s->window->profile.locations, pair->location).kind;

	return s->regions[pair->region] && pair->region != JXP__REGION__REGION_STACK &&
	       place != JXP__LOCATION__KIND__SPILL && place != JXP__LOCATION__KIND__STACK;
}

/* What the JVM stores on the way to a native method and back nobody can leave out. */
static bool is_native(const struct profile *p, uint32_t node)
{
	const struct cct_node *n = cct_node(&p->cct, node);

	return n && n->tier == JXP__TIER__TIER_NATIVE;
}

static double wasted_by(const struct pair *pair)
{
	return pair->cpu.ns > 0 ? pair->cpu.ns : (double)pair->wasteful_bytes;
}

/* An iterator's loads of a table of nodes nobody has to make: it may have few of them. */
static bool is_iteration(const struct profile *p, const struct pair *pair)
{
	return locations_get(&p->locations, pair->location).kind == JXP__LOCATION__KIND__ELEMENT &&
	       operation_is_scaffolding(p, pair_removable_node(pair));
}

static bool is_walk(const struct pair_scope *s, const struct pair *pair, const bool *walked)
{
	return pair->kind == JXP__KIND__KIND_SILENT_LOAD && walked[pair->location] &&
	       !is_iteration(&s->window->profile, pair) && !operation_is_one_call(s, pair);
}

static int compare_members(const void *a, const void *b)
{
	const struct group_member *x = a, *y = b;
	uint32_t node_x = pair_removable_node(x->pair), node_y = pair_removable_node(y->pair);

	return ORDER(ASCENDING(x->operation, y->operation), ASCENDING(node_x, node_y),
		     ASCENDING(x->pair->kind, y->pair->kind), ASCENDING(x->pair, y->pair));
}

static int compare_groups(const void *a, const void *b)
{
	const struct pair_group *x = a, *y = b;

	return ORDER(DESCENDING(x->weight, y->weight), ASCENDING(x->method, y->method));
}

/* ---------------------------------------------------------------- steps */

/* Holds what an operation wastes, steps of others included. */
struct waste {
	double all;
	double kinds[KIND_VALUES];
};

/* Most of it is one of these. */
enum nature {
	NATURE_LOADS,
	NATURE_OVERWRITTEN, /* stores of what nobody reads, */
	NATURE_REWRITTEN,   /* and of the value that is there */
};

/* The part of a step's weight that comes by way of another operation. */
struct caller_weight {
	uint32_t step, caller;
	double weight;
};

static int compare_ways(const void *a, const void *b)
{
	const struct caller_weight *x = a, *y = b;

	return ORDER(ASCENDING(x->step, y->step), ASCENDING(x->caller, y->caller));
}

/* The other operation with waste that has called a frame, by way of basic code at most; 0: that has
 * none. */
static uint32_t calling_operation(const struct profile *p, uint32_t node,
				  const struct waste *wastes)
{
	const struct cct_node *step = cct_node(&p->cct, node);
	uint32_t caller = step->parent;

	while (caller && wastes[cct_node(&p->cct, caller)->method].all <= 0 &&
	       operation_is_basic(p, caller))
		caller = cct_node(&p->cct, caller)->parent;
	if (!caller || cct_node(&p->cct, caller)->method == step->method ||
	    wastes[cct_node(&p->cct, caller)->method].all <= 0)
		return 0;
	return cct_node(&p->cct, caller)->method;
}

/* The operation that a step is part of in the end; itself where that is too far, or round. */
static uint32_t end_of(const uint32_t *part_of, uint32_t step)
{
	uint32_t end = step;

	for (int calls = 0; part_of[end]; calls++) {
		if (calls == STEP_CALLS_MAX)
			return step;
		end = part_of[end];
	}
	return end;
}

static enum nature nature_of(const struct waste *w)
{
	if (2 * w->kinds[JXP__KIND__KIND_SILENT_LOAD] > w->all)
		return NATURE_LOADS;
	return w->kinds[JXP__KIND__KIND_SILENT_STORE] <
		       SAME_VALUE_PART * w->kinds[JXP__KIND__KIND_DEAD_STORE]
		   ? NATURE_OVERWRITTEN
		   : NATURE_REWRITTEN;
}

/* Tells what an operation wastes of one nature. */
static double waste_of(const struct waste *w, enum nature nature)
{
	switch (nature) {
	case NATURE_LOADS:
		return w->kinds[JXP__KIND__KIND_SILENT_LOAD];
	case NATURE_OVERWRITTEN:
		return w->kinds[JXP__KIND__KIND_DEAD_STORE];
	case NATURE_REWRITTEN:
		return w->kinds[JXP__KIND__KIND_SILENT_STORE];
	}
	return 0;
}

/* way: all that comes to one step from one caller. Which nature most of the caller's waste is of
 * does not count: that is chance where it has two. */
static void join(uint32_t *part_of, const struct waste *wastes, const struct caller_weight *way)
{
	const struct waste *step = &wastes[way->step], *caller = &wastes[way->caller];

	if (way->caller && way->weight >= MERGED_PART * step->all &&
	    waste_of(caller, nature_of(step)) >= MERGED_WASTE * step->all)
		part_of[way->step] = way->caller;
}

static int join_steps(struct group_member *members, size_t count, const struct profile *p)
{
	size_t methods = p->cct.method_count + 1;
	_cleanup_free_ struct waste *wastes = calloc(methods, sizeof(*wastes));
	_cleanup_free_ uint32_t *part_of = calloc(methods, sizeof(*part_of));
	_cleanup_free_ struct caller_weight *ways = calloc(count + 1, sizeof(*ways));

	if (!wastes || !part_of || !ways)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct waste *w = &wastes[members[i].step];

		w->all += members[i].wasted;
		w->kinds[members[i].pair->kind] += members[i].wasted;
	}
	for (size_t i = 0; i < count; i++)
		ways[i] =
		    (struct caller_weight){.step = members[i].step,
					   .caller = calling_operation(p, members[i].node, wastes),
					   .weight = members[i].wasted};
	qsort(ways, count, sizeof(*ways), compare_ways);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && compare_ways(&ways[i], &ways[next]) == 0; next++)
			ways[i].weight += ways[next].weight;
		join(part_of, wastes, &ways[i]);
	}
	for (size_t i = 0; i < count; i++)
		members[i].operation = end_of(part_of, members[i].step);
	return 0;
}

/* ---------------------------------------------------------------- groups */

/* The pairs of operations that somebody knows; returns how many. */
static size_t collect(struct group_member *members, const struct pair_scope *s, const bool *walked)
{
	const struct profile *p = &s->window->profile;
	size_t count = 0;

	for (size_t i = 0; i < p->pair_count; i++) {
		const struct pair *pair = &p->pairs[i];
		struct group_member m = {.pair = pair, .wasted = wasted_by(pair)};
		struct operation o = operation_of(s, pair);

		if (!o.method || !is_memory(s, pair) || is_native(p, pair_removable_node(pair)))
			continue;
		m.step = o.method;
		m.node = o.node;
		m.weight = is_walk(s, pair, walked) ? 0 : m.wasted;
		members[count++] = m;
	}
	return count;
}

static void list_groups(struct pair_groups *g, size_t member_count)
{
	for (size_t i = 0, next; i < member_count; i = next) {
		struct pair_group group = {.method = g->members[i].operation,
					   .members = &g->members[i]};

		for (next = i; next < member_count && g->members[next].operation == group.method;
		     next++)
			group.weight += g->members[next].weight;
		group.count = next - i;
		if (group.weight > 0)
			g->list[g->count++] = group;
	}
	qsort(g->list, g->count, sizeof(*g->list), compare_groups);
}

int pair_groups_init(struct pair_groups *g, const struct pair_scope *s)
{
	const struct profile *p = &s->window->profile;
	_cleanup_free_ bool *walked = NULL;
	size_t count;

	*g = (struct pair_groups){0};
	if (p->pair_count == 0)
		return 0;
	g->members = calloc(p->pair_count, sizeof(*g->members));
	g->list = calloc(p->pair_count, sizeof(*g->list));
	if (!g->members || !g->list || walks_new(p, &walked) < 0)
		return -ENOMEM;
	count = collect(g->members, s, walked);
	if (join_steps(g->members, count, p) < 0)
		return -ENOMEM;
	qsort(g->members, count, sizeof(*g->members), compare_members);
	list_groups(g, count);
	return 0;
}

void pair_groups_release(struct pair_groups *g)
{
	free(g->members);
	free(g->list);
	*g = (struct pair_groups){0};
}
