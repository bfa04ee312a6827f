/*
 * The calling contexts of two sides in one tree, with the CPU time of both; and what each method
 * has of it.
 *
 * A method's own time is that of ticks in it, its total that of it and all that it called; where it
 * calls itself, a tick counts once. Totals hold against what a compiler inlines where: a tick that
 * is told as a caller's or a callee's is in the total of what called both.
 */
#ifndef JXPERF_COMPARE_TREE_H
#define JXPERF_COMPARE_TREE_H

#include "compare/side.h"

struct compare_tree_node {
	uint32_t parent; /* 0: none, and before its children */
	uint32_t method; /* of the tree */
	bool outermost;  /* of its method on its path */
	struct compare_sums own[2];
	struct compare_sums total[2]; /* with what is below */
};

struct compare_method {
	const char *name; /* a side's */
	struct compare_sums own[2];
	struct compare_sums total[2];
	double excess[2]; /* of the sides' windows, as in struct change_whole */
};

/* Node N is nodes[N], method N methods[N]; number 0 is none, and method 0 what has no name. */
struct compare_tree {
	struct compare_tree_node *nodes;
	size_t node_count;
	struct compare_method *methods; /* in the order of their names */
	size_t method_count;
	uint32_t *ids[2]; /* by method of a side, that of the tree */
};

/* Makes the tree of two sides, which have to outlive it. 0 or -ENOMEM, and then it is empty. */
int compare_tree_init(struct compare_tree *t, const struct compare_side sides[2]);
void compare_tree_release(struct compare_tree *t);

/* The first node above it that is of another method, or 0. */
uint32_t compare_tree_caller(const struct compare_tree *t, uint32_t node);

#endif
