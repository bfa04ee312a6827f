/*
 * The uncertainty of a fraction that was estimated from a sample of completed pairs.
 *
 * Each pair is one observation of x checked bytes, y of them wasteful, y being 0 or x. The fraction
 * of equation (1) of JXPerf is the ratio of sums. Its 95% interval is Wilson's (Wilson 1927,
 * "Probable inference") with the effective sample size of weighted observations (Kish), (sum x)^2 /
 * sum x^2, in the place of n: it stays inside 0..1 and has a width above 0 at 0% and at 100%.
 */
#ifndef JXPERF_PROFILE_ESTIMATE_H
#define JXPERF_PROFILE_ESTIMATE_H

#include "common/wilson.h"

#define ESTIMATE_Z95 WILSON_Z95

struct interval {
	double low;
	double high;
};

/* part of whole, 0 for an empty whole. */
double estimate_fraction(double part, double whole);

/* sum and sum_squares are those of the weights x, part the sum of the wasteful ones. Without any
 * observation nothing is known: [0, 1]. */
struct interval estimate_ci95(double part, double sum, double sum_squares);

/* The interval of a part of observations that have weights of their own: an access is in the part
 * or not. The variance is that of a ratio (Cochran, section 6.5), (sum over all of x^2 ([in the
 * part] - p)^2) / (sum x)^2. */
struct interval estimate_share_ci95(double part, double part_squares, double whole,
				    double whole_squares);

#endif
