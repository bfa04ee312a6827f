/*
 * Tells what an operation costs, and what could be saved (docs/problems.md has the definitions).
 *
 * Where it wastes accesses, its own CPU time is that of ticks in those of its methods that make
 * them, and what could be saved the part of it that is in vain. Where it allocates, its own CPU
 * time is that of ticks at the allocations and in methods of the classes that are allocated, all on
 * its behalf; it could all be saved, with the operation's part of the collector's time.
 */
#ifndef JXPERF_REPORT_PROBLEMS_COST_H
#define JXPERF_REPORT_PROBLEMS_COST_H

#include "report/problems/allocations.h"
#include "report/problems/grouping.h"
#include "report/problems/problem.h"

/* One operation. */
struct candidate {
	struct problem problem;
	const struct pair_group *pairs;       /* NULL: it is one that allocates */
	const struct allocation_group *sites; /* NULL: one that wastes accesses */
	const uint32_t *frames;               /* allocations.h */
};

/* The shares of CPU time, what is allocated, and of one that wastes accesses the part in vain; its
 * kind and counts are known. 0 or -ENOMEM. */
int candidate_estimate(struct candidate *c, const struct pair_scope *s);

#endif
