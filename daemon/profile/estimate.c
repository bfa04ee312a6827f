#include "daemon/profile/estimate.h"

#include <math.h>

double estimate_fraction(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct interval estimate_ci95(double part, double sum, double sum_squares)
{
	double n, p, z2 = ESTIMATE_Z95 * ESTIMATE_Z95, center, half;

	if (sum <= 0 || sum_squares <= 0)
		return (struct interval){.low = 0, .high = 1};
	n = sum * sum / sum_squares;
	p = part / sum;
	center = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = ESTIMATE_Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	return (struct interval){.low = fmax(0, center - half), .high = fmin(1, center + half)};
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
