/*
 * The wasteful pairs of a window by the operation that they are part of (problems.h says which are
 * no part of any).
 *
 * An operation whose waste comes by way of one other operation for MERGED_PART is a step of that
 * one, if most of both is of one nature (loads, stores that are overwritten, stores of the same
 * value), unless that has next to no waste besides, what a walk has to load again included: who
 * goes over the elements does what is done with each.
 */
#ifndef JXPERF_REPORT_PROBLEMS_GROUPING_H
#define JXPERF_REPORT_PROBLEMS_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/pairs/pair_ranking.h"

/* The part of dead stores that have a silent one each. */
#define SAME_VALUE_PART 0.7

#define MERGED_PART  0.8
#define MERGED_WASTE 0.2 /* the caller's own, for each of the step's */

/* A pair of an operation. */
struct group_member {
	const struct pair *pair; /* of the profile, */
	uint32_t step;           /* the operation by itself, a method, */
	uint32_t operation;      /* and the one that it is a step of, or itself */
	uint32_t node;           /* the step's frame */
	double wasted;           /* CPU time, or bytes where that is not known */
	double weight;           /* the same; 0: no part of a problem */
};

struct pair_group {
	uint32_t method;                    /* the operation */
	const struct group_member *members; /* by node of the access that could go, then kind */
	size_t count;
	double weight;
};

struct pair_groups {
	struct group_member *members;
	struct pair_group *list; /* with waste, the most weight first */
	size_t count;
};

/* 0 or -ENOMEM; to be released in either case. */
int pair_groups_init(struct pair_groups *g, const struct pair_scope *s);
void pair_groups_release(struct pair_groups *g);

#endif
