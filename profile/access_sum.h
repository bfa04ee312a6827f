/*
 * Sums over sampled accesses. A weight is what the access stands for, in the unit of the window's
 * metric.
 */
#ifndef JXPERF_PROFILE_ACCESS_SUM_H
#define JXPERF_PROFILE_ACCESS_SUM_H

#include <stdint.h>

#include "common/saturate.h"

struct access_sum {
	uint64_t samples;
	double metric; /* sum of their weights */
};

/* With the sum of the squares of weights, which says how much is known of the metric. */
struct access_moments {
	uint64_t samples;
	double metric;
	double squares;
};

static inline void access_moments_count(struct access_moments *m, double weight)
{
	saturate_add(&m->samples, 1);
	m->metric += weight;
	m->squares += weight * weight;
}

static inline void access_moments_add(struct access_moments *m, const struct access_moments *more)
{
	saturate_add(&m->samples, more->samples);
	m->metric += more->metric;
	m->squares += more->squares;
}

#endif
