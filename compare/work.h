/*
 * How much CPU time B takes for the same work, by what A takes: the factor that makes shares of two
 * windows comparable. Shares alone add up to 1 on both sides: where one falls, the others rise,
 * though nothing about them has changed.
 *
 * Known of operations: whoever compares says how many a second were done in each window.
 *
 * Else it is inferred from the methods that did not change, as the counts of genes in samples of
 * different depth are made comparable (Anders and Huber 2010, "Differential expression analysis for
 * sequence count data", the size factors; what shares can and cannot tell: Aitchison 1986, "The
 * statistical analysis of compositional data"). A method that does the same work has p_A / p_B =
 * factor. The assumption is that most methods do: of those with WORK_TICKS_MIN ticks of their own,
 * in both sides together, the largest group with one ratio is looked for; each counts as the root
 * of its smaller share, so that neither one method with most of the time decides, nor many with
 * little, nor what is new or gone. The group has to have WORK_METHODS_MIN methods and
 * WORK_AGREEMENT of all that count, or nothing is said.
 *
 * The ratio's error is of ticks, of what shares drift by, and of what the windows of a side differ
 * by beyond ticks (compare/change.h). The drift of one method that has most of the time moves all
 * the others' shares by one ratio, so it counts whether that method is in the group or not. Its
 * interval has half of CHANGE_LEVEL.
 */
#ifndef JXPERF_COMPARE_WORK_H
#define JXPERF_COMPARE_WORK_H

#include <math.h>

#include "compare/change.h"
#include "compare/tree.h"

/* Counted operations for the same CPU time vary by so much from window to window, as a part of
 * themselves (standard deviation); as CHANGE_DRIFT no theory's. */
#define WORK_OPERATIONS_DRIFT 0.02

#define WORK_METHODS_MIN 3u
#define WORK_AGREEMENT   (2.0 / 3)
#define WORK_TICKS_MIN   12.0

enum compare_basis {
	COMPARE_BY_SHARES, /* nothing is known: factor 1 */
	COMPARE_BY_OPERATIONS,
	COMPARE_BY_METHODS,
};

struct compare_work {
	enum compare_basis basis;
	/* For rows: exactly 1 where the change is not shown and was only inferred. */
	struct change_factor factor;
	double estimate; /* of the factor, */
	/* with its interval of the confidence 1 - CHANGE_LEVEL / 2: of the largest group also where
	 * not enough agree with it; else anything is possible. */
	double low, high;
	bool shown;           /* it excludes 1 */
	double per_second[2]; /* operations; else 0 */
	unsigned methods;     /* that agree, */
	double share[2];      /* and their part of the CPU time */
};

/* Nothing is known. */
#define COMPARE_WORK_UNKNOWN \
	((struct compare_work){.factor = {1, 0}, .estimate = 1, .low = 0, .high = INFINITY})

struct compare_work compare_work_of_operations(const struct change_whole whole[2],
					       const double elapsed_s[2],
					       const double per_second[2]);

/* 0 or -ENOMEM. */
int compare_work_of_methods(struct compare_work *w, const struct compare_tree *t,
			    const struct change_whole whole[2]);

#endif
