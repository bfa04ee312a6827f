/*
 * Tells what windows that were merged say of how much their program differs from one time to
 * another.
 *
 * The observations of one window have the program's phase, load and data in common, so they are a
 * cluster, not independent draws. The variance of a ratio R = sum of y / sum of x is then estimated
 * from the clusters' sums alone, whatever the sampling within them (the "ultimate cluster"
 * estimator; Cochran, "Sampling Techniques", 3rd edition, section 11.9; Sarndal, Swensson, Wretman,
 * "Model Assisted Survey Sampling", section 4.6, with the ratio's linearisation of section 5.6):
 *
 *   V = (n - 1) / n sum of (u_c / (1 - h_c))^2 / X^2,  u_c = y_c - R x_c,  h_c = x_c / X
 *
 * The h_c are the jackknife's (Cochran, section 6.17): a cluster that is much of the whole pulls R
 * to itself, and its residual is too small by just that. With equal clusters V is the textbook's
 * n / (n - 1) sum of u_c^2 / X^2. It has n - 1 degrees of freedom.
 *
 * So that it takes the same room for ten windows and for a thousand, a cluster is a batch of
 * windows that follow each other: when all batches are full, neighbours become one, and a batch
 * takes twice as many windows from then on. Windows that follow each other are alike, which batches
 * keep inside (batch means; Conway 1963, "Some tactical problems in digital simulation"). Windows
 * come in the order of time for that.
 *
 * V has sampling's variance S in it. What it is more, V - S, is the estimate by moments of the part
 * that windows differ by (DerSimonian and Laird 1986, "Meta-analysis in clinical trials"), and it
 * alone is uncertain, as a sum of few squares: an interval has the half width
 *
 *   sqrt(z^2 S + t^2 max(0, V - S)),  t of Student's distribution.
 *
 * So windows that are no more unlike than their samples let them be leave the interval as it is,
 * however few they are, and two windows that disagree leave it with next to nothing. Unequal
 * clusters have the degrees of freedom of fewer ones: 1 less than (sum of x)^2 / sum of x^2, and 1
 * at least.
 */
#ifndef JXPERF_PROFILE_COMBINE_BATCHES_H
#define JXPERF_PROFILE_COMBINE_BATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/window/merged.h"

/* Which batch the next window belongs to. All zero: none came yet. */
struct batch_clock {
	unsigned windows;  /* so far, */
	unsigned capacity; /* and in one batch */
};

/* The batch of the next window. When *fold is set, every row of sums has to be folded first. */
unsigned batch_next(struct batch_clock *clock, bool *fold);

/* As so many windows leave it. */
struct batch_clock batch_clock_of(unsigned windows);

/* How many batches have windows. */
unsigned batch_count(const struct batch_clock *clock);

/* Adds neighbours up: the first half of the batches is what all were, the rest is empty. */
void batches_fold(double sums[MERGED_BATCHES]);

void batches_scale(double sums[MERGED_BATCHES], double scale);

/* V of above, and 0 where fewer than two batches, or nothing, would tell. */
double batches_variance(const double *part, const double *whole, unsigned count);

/* The degrees of freedom of V. */
double batches_freedom(const double *whole, unsigned count);

/* By what a variance of so many degrees of freedom is multiplied so that a normal quantile makes of
 * it what Student's would, for 95%. */
double batches_inflation(double freedom);

/* How much the batches differ beyond sampling, which has this variance. */
struct merged_spread batches_spread(const double *part, const double *whole, unsigned count,
				    double sampling);

#endif
