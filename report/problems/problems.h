/*
 * The problems of a window: at most PROBLEMS_MAX, each once, by what could be saved at least. Here
 * they are what operations access in vain, and what they allocate (allocations.h), which is one
 * problem where one is the other's doing; those that loops add come later (loop_problems.h).
 *
 * Wasteful pairs are grouped by their operation (operation.h); what nearly all comes to by way of
 * another operation is part of that one. Stacks and compilers' spills are no part of a problem, and
 * neither are loads that a walk has to make (walks.h), unless one call makes both.
 *
 * What could be saved is the CPU time of ticks in the operation, in those of its methods that make
 * the accesses, times the part of its accesses that is in vain: an algorithm that does not do them
 * again would save that. It has the intervals of both. Where objects are garbage soon it is what
 * making them takes (cost.h). What may save less than PROBLEM_SHARE_MIN, by the lower end, is none.
 * Where CPU time is not known, problems are ranked by the part of the accesses.
 *
 * A problem is sure where PROBLEM_SURE wasteful pairs tell of it, or PROBLEM_SURE_ALLOCATIONS,
 * since these are divided among more operations; and where what could be saved would be
 * PROBLEM_SHARE_MIN in another window, too, whose lower end lies below its estimate as far as here.
 * As many observations were measured to be what makes a problem come again in 86 of 100 further
 * windows (docs/problems.md); by their count alone half of them would do, but which of two
 * operations one is told at, and which of many are shown, is chance as well. Sure ones come first.
 */
#ifndef JXPERF_REPORT_PROBLEMS_PROBLEMS_H
#define JXPERF_REPORT_PROBLEMS_PROBLEMS_H

#include "report/problems/problem.h"

#define PROBLEMS_MAX             5u
#define PROBLEM_SHARE_MIN        0.001
#define PROBLEM_SURE             25u
#define PROBLEM_SURE_ALLOCATIONS 40u

struct problems {
	struct problem
	    list[PROBLEMS_MAX]; /* sure ones first; they point into the window's profile */
	size_t count;
	size_t small; /* operations with evidence that would save too little */
};

/* Is what enough observations tell of a problem sure? */
bool problem_is_sure(const struct problem *problem, bool enough);

/* Does one come before another one? */
bool problem_is_before(const struct problem *a, const struct problem *b);

/* 0 or -ENOMEM, and then it is empty. */
int problems_init(struct problems *out, const struct pair_scope *s);

/* The rank of a method's problem, from 1; 0: it has none. */
size_t problems_rank(const struct problems *problems, uint32_t method);

#endif
