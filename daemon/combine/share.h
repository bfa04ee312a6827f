/*
 * Are two shares the same? A share is part of a whole, both sums over sampled observations:
 * wasteful bytes of checked ones, accesses to objects of a site of all accesses. Each of the two
 * comes from a window, or from many that were merged.
 *
 * The share is a ratio estimate p = y / x, whose variance is, by linearisation (Sarndal, Swensson,
 * Wretman, section 5.6; Cochran, section 6.5),
 *
 *   V(p) = (sum of y_i^2 - 2 p sum of y_i x_i + p^2 sum of x_i^2) / x^2.
 *
 * The test puts what is true if nothing differs into V, for both sides: p of both together, and the
 * first two sums in proportion to it and to the side's observations (the score test; with
 * observations of one size it is the chi-squared test of a fourfold table, with Yates's correction
 * of half an observation a side). So a part that was never seen on one side does not make that side
 * look certain.
 *
 * Sampling is not all that makes two shares of one program differ: phases, load, compilation. Where
 * the windows that were merged make enough batches, their differences say by how much
 * (daemon/combine/batches.h), and the larger variance counts, with Student's distribution of the
 * degrees of freedom that Welch and Satterthwaite give. A single window says nothing of it: there
 * it is taken for granted that shares of one program vary by SHARE_DRIFT of themselves from window
 * to window (standard deviation), an allowance that no theory gives.
 */
#ifndef JXPERF_DAEMON_COMBINE_SHARE_H
#define JXPERF_DAEMON_COMBINE_SHARE_H

#include <stdint.h>

#include "daemon/profile/estimate.h"
#include "daemon/window/merged.h"

#define SHARE_DRIFT 0.05

struct share_whole {
	double sum;
	double squares;
	unsigned windows; /* 1 but for a merge */
	unsigned batches; /* 0 but for a merge */
	double by_batch[MERGED_BATCHES];
};

struct share_part {
	double sum;
	double squares;
	double products; /* with those of the whole */
	uint64_t count;  /* observations */
	double by_batch[MERGED_BATCHES];
};

/* Of B compared with A. */
struct share_comparison {
	double share[2];
	double difference; /* B's less A's */
	struct interval ci95;
	double p;              /* that shares of one program differ as much */
	double standard_error; /* if nothing differs; */
	double correction;     /* half an observation a side; */
	double df;             /* and what Student's distribution has */
};

/* Both wholes have observations: their sums are above 0. */
void share_compare(const struct share_part part[2], const struct share_whole whole[2],
		   struct share_comparison *out);

/* The difference that has this two-sided probability when nothing differs. */
double share_visible_difference(const struct share_comparison *c, double p);

/* Holm's adjustment of count probabilities in ascending order (Holm 1979, "A simple sequentially
 * rejective multiple test procedure"): those that are at most a level then are below it with that
 * probability for any of them that is no difference, however they depend on each other. */
void share_adjust(double *p, unsigned count);

#endif
