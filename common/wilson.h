/*
 * 95% intervals are made of these. That of a proportion is Wilson's (Wilson 1927, "Probable
 * inference"): it stays inside 0..1 and has a width above 0 at 0 and at 1.
 */
#ifndef JXPERF_COMMON_WILSON_H
#define JXPERF_COMMON_WILSON_H

#include <math.h>

#define WILSON_Z95 1.959963984540054 /* the normal distribution's 97.5% quantile */

struct wilson {
	double low;
	double high;
};

/* The interval of p among n observations; n above 0, and not a whole number where they have
 * weights. */
static inline struct wilson wilson_ci95(double p, double n)
{
	double z2 = WILSON_Z95 * WILSON_Z95;
	double center = (p + z2 / (2 * n)) / (1 + z2 / n);
	double half = WILSON_Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);

	return (struct wilson){.low = fmax(0, center - half), .high = fmin(1, center + half)};
}

#endif
