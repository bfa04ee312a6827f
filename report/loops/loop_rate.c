#include "report/loops/loop_rate.h"

#include <math.h>

#include "common/wilson.h"

/* Student's 97.5% quantile by an expansion (Abramowitz, Stegun, 26.7.5), 1% off with 4 degrees of
 * freedom. It stays beside compare/student.h, which is exact, so that a window's intervals and what
 * is said of its loops are those that earlier versions told of it. */
static double student_975(double freedom)
{
	double z = WILSON_Z95, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/* The variance of the ratio r, as large as makes a normal quantile right. */
static double variance(const struct loop_counts *c, double r, double times)
{
	double bursts = times * (double)c->bursts;
	double squares = c->events_squares - 2 * r * c->products + r * r * c->turns_squares;
	double t;

	if (bursts < 2)
		return INFINITY;
	t = student_975(bursts - 1) / ESTIMATE_Z95;
	return fmax(squares, 0) * times / (times * c->turns * (times * c->turns)) * bursts /
	       (bursts - 1) * t * t;
}

static struct interval interval_of(double rate, double var, double seen)
{
	double independent = seen;
	double half = ESTIMATE_Z95 * sqrt(var);
	struct wilson w;

	if (isinf(var))
		independent = 1;
	else if (var > 0)
		independent = rate * (1 - rate) / var;
	if (rate >= 0.5)
		return (struct interval){fmax(0, rate - half), rate + half};
	w = wilson_ci95(rate, fmax(1, fmin(independent, seen)));
	return (struct interval){w.low, w.high};
}

/* So many turns of an instance are in front of all copies. */
#define PEELED_MAX 1

#define NOT_TOLD_MAX 0.1

struct loop_length loop_length_of(const struct loop_lengths *l)
{
	double n = (double)l->read, not_told = (double)l->empty + (double)l->left, mean, half;

	if (n < LOOP_LENGTHS_MIN || not_told > NOT_TOLD_MAX * (n + not_told))
		return (struct loop_length){0};
	mean = l->turns / n;
	half = student_975(n - 1) * sqrt(fmax(l->squares - n * mean * mean, 0) / (n - 1) / n) +
	       l->unsure / n;
	return (struct loop_length){true, mean, {fmax(0, mean - half), mean + half + PEELED_MAX}};
}

struct loop_rate loop_rate_of(const struct loop_counts *c, double times)
{
	struct loop_rate r = {.known = c->bursts > 0 && c->turns > 0,
			      .ci95 = {0, INFINITY},
			      .bursts = times * (double)c->bursts,
			      .seen = times * c->seen};

	if (!r.known)
		return r;
	r.rate = c->events / c->turns;
	if (c->events > 0)
		r.ci95 = interval_of(r.rate, variance(c, r.rate, times), r.seen);
	else
		r.ci95.high = r.seen > 0 ? 1 - pow(0.025, 1 / r.seen) : INFINITY;
	return r;
}
