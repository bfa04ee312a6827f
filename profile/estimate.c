#include "profile/estimate.h"

#include "common/wilson.h"

double estimate_fraction(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct interval estimate_ci95(double part, double sum, double sum_squares)
{
	struct wilson w;

	if (sum <= 0 || sum_squares <= 0)
		return (struct interval){.low = 0, .high = 1};
	w = wilson_ci95(part / sum, sum * sum / sum_squares);
	return (struct interval){.low = w.low, .high = w.high};
}

struct interval estimate_share_ci95(double part, double part_squares, double whole,
				    double whole_squares)
{
	double p = estimate_fraction(part, whole);
	double residual = part_squares * (1 - 2 * p) + p * p * whole_squares;

	if (p <= 0 || p >= 1 || residual <= 0)
		return estimate_ci95(part, whole, whole_squares);
	return estimate_ci95(part, whole, residual / (p * (1 - p)));
}
