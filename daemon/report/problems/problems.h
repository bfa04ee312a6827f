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
 * A problem is sure where another window of the same length, of a program that does the same, would
 * find it again in 95 of 100 cases. What n observations told is told by n' in the other window,
 * whose difference has the variance 2 n: of PROBLEM_SURE there are PAIRS_EVIDENCE again, which is
 * what it takes. And what could be saved has to be PROBLEM_SHARE_MIN there, too: by the lower end,
 * which lies below the estimate as far there as here. Sure ones come first; of the others chance
 * decides which are shown.
 */
#ifndef JXPERF_DAEMON_REPORT_PROBLEMS_PROBLEMS_H
#define JXPERF_DAEMON_REPORT_PROBLEMS_PROBLEMS_H

#include "daemon/report/problems/problem.h"

#define PROBLEMS_MAX      5u
#define PROBLEM_SHARE_MIN 0.001
#define PROBLEM_SURE      14u

struct problems {
	struct problem
	    list[PROBLEMS_MAX]; /* sure ones first; they point into the window's profile */
	size_t count;
	size_t small; /* operations with evidence that would save too little */
};

/* Larger ones come first: what is saved at least; where that is not known, the part of accesses in
 * vain. */
double problem_rank(const struct problem *problem);

/* Is what so many observations of a problem tell sure? */
bool problem_is_sure(const struct problem *problem, double observations);

/* Does one come before another one? */
bool problem_is_before(const struct problem *a, const struct problem *b);

/* 0 or -ENOMEM, and then it is empty. */
int problems_init(struct problems *out, const struct pair_scope *s);

/* The rank of a method's problem, from 1; 0: it has none. */
size_t problems_rank(const struct problems *problems, uint32_t method);

#endif
