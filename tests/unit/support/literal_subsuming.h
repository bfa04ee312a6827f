/*
 * The paper's own algorithms (Subsuming Methods, listings 1 to 5), with pointers and recursion, to
 * compare with. Repaired where they cannot be meant as they are printed:
 *
 *   listing 2   calls itself for the node and not for the child; the root has no parent to ask
 *   listing 4   takes a method for its own dominator, which section 4.1 rules out
 *   listing 5   subsumes by "and" of "at most", so that one attribute above its bound is enough;
 *               section 4.1 says that both are
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_LITERAL_SUBSUMING_H
#define JXPERF_TESTS_UNIT_SUPPORT_LITERAL_SUBSUMING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "subsume/analysis.h"
#include "subsume/tree.h"

#define LITERAL_INFINITE UINT32_MAX

struct literal_method;

/* Lists are linked, in no particular order. */
struct literal_node {
	struct literal_method *method;
	uint64_t cost;
	struct literal_node *parent;
	struct literal_node *children, *next_child;
	struct literal_node *adjusted_parent;
	struct literal_node *adjusted_children, *next_adjusted;
	struct literal_node *next_of_method;
	uint32_t height;
	uint64_t induced;
};

struct literal_method {
	struct literal_node *nodes;
	uint32_t max_height;
	uint32_t min_dmd; /* 0: the root */
	uint64_t induced;
	bool subsumed;
};

struct literal_tree {
	struct literal_node *nodes;
	struct literal_method *methods;
	size_t node_count;
	size_t method_count;
};

static inline struct literal_node *literal_adjusted_parent(const struct literal_node *current)
{
	struct literal_node *match1 = NULL, *match2 = NULL, *n1, *n2;

	for (struct literal_node *n = current->parent; n && !match2; n = n->adjusted_parent) {
		if (n->method == current->method) {
			if (!match1)
				match1 = n;
			else
				match2 = n;
		}
	}
	if (!match1 || !match2)
		return current->parent;
	n1 = current->parent;
	n2 = match1->adjusted_parent;
	while (n1 != match1 && n2 != match2) {
		if (n1->method != n2->method)
			return current->parent;
		n1 = n1->adjusted_parent;
		n2 = n2->adjusted_parent;
	}
	if (n1 != match1 || n2 != match2)
		return current->parent;
	return match1->adjusted_parent;
}

static inline void literal_reduce(struct literal_node *n)
{
	if (n->parent) {
		n->adjusted_parent = literal_adjusted_parent(n);
		n->next_adjusted = n->adjusted_parent->adjusted_children;
		n->adjusted_parent->adjusted_children = n;
	}
	for (struct literal_node *c = n->children; c; c = c->next_child)
		literal_reduce(c);
}

static inline void literal_height(struct literal_node *v)
{
	v->height = 0;
	for (struct literal_node *c = v->adjusted_children; c; c = c->next_adjusted) {
		literal_height(c);
		if (c->height + 1 > v->height)
			v->height = c->height + 1;
	}
	if (v->height > v->method->max_height)
		v->method->max_height = v->height;
}

static inline uint32_t literal_distance(const struct literal_method *m,
					const struct literal_node *n)
{
	uint32_t distance = 0;

	for (;;) {
		distance++;
		n = n->adjusted_parent;
		if (!n)
			return LITERAL_INFINITE;
		if (n->method == m)
			return distance;
	}
}

static inline uint32_t literal_dmd(const struct literal_method *p, const struct literal_method *m)
{
	uint32_t dmd = 0;

	for (const struct literal_node *n = m->nodes; n; n = n->next_of_method) {
		uint32_t distance = literal_distance(p, n);

		if (distance > dmd)
			dmd = distance;
	}
	return dmd;
}

static inline void literal_min_dmd(struct literal_method *m)
{
	m->min_dmd = LITERAL_INFINITE;
	if (!m->nodes)
		return;
	for (const struct literal_node *n = m->nodes->adjusted_parent; n; n = n->adjusted_parent) {
		uint32_t distance = n->method == m ? LITERAL_INFINITE : literal_dmd(n->method, m);

		if (distance < m->min_dmd)
			m->min_dmd = distance;
	}
}

static inline void literal_induce(struct literal_node *n)
{
	n->induced = n->cost;
	for (struct literal_node *c = n->children; c; c = c->next_child) {
		literal_induce(c);
		if (c->method->subsumed)
			n->induced += c->induced;
	}
	if (!n->method->subsumed)
		n->method->induced += n->induced;
}

/* From arrays to pointers. */
static inline void literal_load(struct literal_tree *t, const struct subsume_tree *tree)
{
	static struct literal_node *path[SUBSUME_DEPTH_MAX + 1];

	t->node_count = tree->node_count;
	t->method_count = tree->method_count;
	t->nodes = calloc(t->node_count, sizeof(*t->nodes));
	t->methods = calloc(t->method_count, sizeof(*t->methods));
	if (!t->nodes || !t->methods)
		abort();
	for (size_t i = 0; i < t->node_count; i++) {
		struct literal_node *n = &t->nodes[i];

		path[tree->depth[i]] = n;
		n->method = &t->methods[tree->method[i]];
		n->cost = tree->cost[i];
		n->next_of_method = n->method->nodes;
		n->method->nodes = n;
		if (tree->depth[i] == 0)
			continue;
		n->parent = path[tree->depth[i] - 1];
		n->next_child = n->parent->children;
		n->parent->children = n;
	}
}

static inline void literal_analyse(struct literal_tree *t, const struct subsume_tree *tree,
				   const struct subsume_bounds *bounds)
{
	literal_load(t, tree);
	literal_reduce(&t->nodes[0]);
	literal_height(&t->nodes[0]);
	for (size_t m = 0; m < t->method_count; m++) {
		struct literal_method *method = &t->methods[m];

		literal_min_dmd(method);
		/* The root, which no method dominates, always subsumes. */
		method->subsumed = m > 0 && (tree->methods[m].always_subsumed ||
					     method->max_height <= bounds->height ||
					     method->min_dmd <= bounds->distance);
	}
	literal_induce(&t->nodes[0]);
}

static inline void literal_release(struct literal_tree *t)
{
	free(t->nodes);
	free(t->methods);
}

#endif
