#include "daemon/report/content/loop_rate.h"

#include <math.h>

#include "common/student.h"

/* Of the ratio r, as large as makes a normal quantile right. */
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
	double independent = isinf(var) ? 1 : var > 0 ? rate * (1 - rate) / var : seen;
	double half = ESTIMATE_Z95 * sqrt(var);
	struct wilson w;

	if (rate >= 0.5)
		return (struct interval){fmax(0, rate - half), rate + half};
	w = wilson_ci95(rate, fmax(1, fmin(independent, seen)));
	return (struct interval){w.low, w.high};
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
