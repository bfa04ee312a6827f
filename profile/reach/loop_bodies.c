#include "profile/reach/loop_bodies.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"

/* Loops looked at, for frames: some tenths of a second. Usual windows take a thousandth of it. */
#define STEPS_MAX (UINT64_C(1) << 27)

static int by_method(const void *x, const void *y)
{
	const struct loop_body *a = x, *b = y;

	return ORDER(ASCENDING(a->key.method, b->key.method), ASCENDING(a->id, b->id));
}

void loop_bodies_init(struct loop_bodies *b, struct loop_body *taken, size_t count)
{
	*b = (struct loop_bodies){taken, count};
	if (count > 0)
		qsort(taken, count, sizeof(*taken), by_method);
}

void loop_bodies_release(struct loop_bodies *b)
{
	free(b->bodies);
	*b = (struct loop_bodies){0};
}

/* The first of a method's. */
static size_t first_of(const struct loop_bodies *b, uint32_t method)
{
	return SEARCH_FIRST(i, b->count, b->bodies[i].key.method >= method);
}

static bool holds(const struct loop_body *body, const struct cct_node *n)
{
	const struct loop_key *key = &body->key;

	return n->method == key->method && n->bci >= (int32_t)key->header &&
	       n->bci <= body->latch && (n->line < 0 || key->line < 0 || n->line >= key->line);
}

/* Both hold the same place. */
static bool is_inside(const struct loop_body *a, const struct loop_body *b)
{
	if (a->key.line >= 0 && b->key.line >= 0 && a->key.line != b->key.line)
		return a->key.line > b->key.line;
	return a->latch - (int32_t)a->key.header < b->latch - (int32_t)b->key.header;
}

static const struct loop_body *innermost(const struct loop_bodies *b, const struct cct_node *n,
					 uint64_t *steps)
{
	const struct loop_body *found = NULL;
	size_t i = first_of(b, n->method);

	for (; i < b->count && b->bodies[i].key.method == n->method; i++, ++*steps)
		if (holds(&b->bodies[i], n) && (!found || is_inside(&b->bodies[i], found)))
			found = &b->bodies[i];
	return found;
}

const struct loop_body *loop_bodies_find(const struct loop_bodies *b, const struct cct_node *n)
{
	uint64_t steps = 0;

	return innermost(b, n, &steps);
}

/* ---------------------------------------------------------------- CPU time */

/* By node id - 1: its own. NULL without memory. */
static struct cpu_sum *own_of_nodes(const struct cct *t, const struct cpu_profile *c)
{
	struct cpu_sum *own = calloc(t->node_count + 1, sizeof(*own));

	for (size_t i = 0; own && i < c->context_count; i++)
		own[c->contexts[i].node - 1] = cpu_context_sum(&c->contexts[i]);
	return own;
}

/* Parents are older than their children. */
static struct cpu_sum *called_by_nodes(const struct cct *t, const struct cpu_sum *own, double share)
{
	struct cpu_sum *called = calloc(t->node_count + 1, sizeof(*called));

	for (size_t i = t->node_count; called && i-- > 0;) {
		uint32_t parent = t->nodes[i].parent;

		if (!parent)
			continue;
		cpu_sum_add(&called[parent - 1], &own[i], 1);
		cpu_sum_add(&called[parent - 1], &called[i], share);
	}
	return called;
}

struct cpu_sum *loop_reach_called(const struct cct *t, const struct cpu_profile *c, double share)
{
	_cleanup_free_ struct cpu_sum *own = own_of_nodes(t, c);

	return own ? called_by_nodes(t, own, share) : NULL;
}

/* Holds what is added up, and how much work that may still be. */
struct adding {
	const struct loop_bodies *b;
	const struct cct *t;
	struct loop_reach *reach;
	uint64_t steps;
};

static bool caller_is_in(struct adding *a, const struct loop_body *body, const struct cct_node *n)
{
	while ((n = cct_node(a->t, n->parent))) {
		a->steps++;
		if (holds(body, n))
			return true;
	}
	return false;
}

/* Adds what a frame and all that it calls stand for to the loops that it is in and no caller is. */
static void add_inclusive(struct adding *a, const struct cct_node *n, const struct cpu_sum *own,
			  const struct cpu_sum *called)
{
	for (size_t i = first_of(a->b, n->method);
	     i < a->b->count && a->b->bodies[i].key.method == n->method; i++) {
		a->steps++;
		if (!holds(&a->b->bodies[i], n) || caller_is_in(a, &a->b->bodies[i], n))
			continue;
		cpu_sum_add(&a->reach[i].inclusive, own, 1);
		cpu_sum_add(&a->reach[i].inclusive, called, 1);
		cpu_sum_add(&a->reach[i].called, called, 1);
	}
}

static void add_nearest(struct adding *a, const struct cct_node *n, const struct cpu_sum *sum)
{
	const struct loop_body *found = NULL;

	for (; n && !found; n = cct_node(a->t, n->parent)) {
		a->steps++;
		found = innermost(a->b, n, &a->steps);
	}
	if (found)
		cpu_sum_add(&a->reach[found - a->b->bodies].nearest, sum, 1);
}

int loop_bodies_reach(const struct loop_bodies *b, const struct cct *t, const struct cpu_profile *c,
		      struct loop_reach *reach)
{
	_cleanup_free_ struct cpu_sum *own = own_of_nodes(t, c);
	_cleanup_free_ struct cpu_sum *called = own ? called_by_nodes(t, own, 1) : NULL;
	struct adding a = {b, t, reach, 0};

	if (!called)
		return -ENOMEM;
	for (size_t i = 0; i < b->count; i++)
		reach[i] = (struct loop_reach){0};
	for (size_t i = 0; i < t->node_count && a.steps < STEPS_MAX; i++)
		if (own[i].samples + called[i].samples > 0)
			add_inclusive(&a, &t->nodes[i], &own[i], &called[i]);
	a.steps = 0;
	for (size_t i = 0; i < c->context_count && a.steps < STEPS_MAX; i++)
		add_nearest(&a, cct_node(t, c->contexts[i].node), &own[c->contexts[i].node - 1]);
	return 0;
}
