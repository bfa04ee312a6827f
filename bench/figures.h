/* What the programs of the bench share. */
#ifndef JXPERF_BENCH_FIGURES_H
#define JXPERF_BENCH_FIGURES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"

/* p, unless it is NULL: without memory there is no figure. */
static inline void *figures_check(void *p)
{
	if (!p) {
		(void)fputs("out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return p;
}

/* Zeroed, to be freed. */
static inline void *figures_allocate(size_t count, size_t size)
{
	return figures_check(calloc(count, size));
}

/* CPU time of this thread. */
static inline double figures_cpu_s(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

static inline int figures_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Least first: the median is in the middle. */
static inline void figures_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), figures_compare);
}

#endif
