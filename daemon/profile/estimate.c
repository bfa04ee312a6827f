#include "daemon/profile/estimate.h"

#include <math.h>

#define Z_95 1.959963984540054 /* the normal distribution's 97.5% quantile */

double estimate_fraction(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct interval estimate_ci95(double part, double sum, double sum_squares)
{
	double n, p, z2 = Z_95 * Z_95, center, half;

	if (sum <= 0 || sum_squares <= 0)
		return (struct interval){.low = 0, .high = 1};
	n = sum * sum / sum_squares;
	p = part / sum;
	center = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	return (struct interval){.low = fmax(0, center - half), .high = fmin(1, center + half)};
}
