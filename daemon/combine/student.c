#include "daemon/combine/student.h"

#include <float.h>
#include <math.h>

/* Beyond, it is the normal distribution, as far as anybody can see. */
#define NORMAL_DF 1e6

/* Of the continued fraction: it converges in about the square root of the larger parameter, 700. */
#define STEPS_MAX 10000

/* As far from 0 as is looked for: at one degree of freedom p is 6e-13 there. */
#define T_MAX 1e12

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated
 * from its front as Lentz (1976) does. */
static double continued_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		change = c * d;
		value *= change;
		if (fabs(change - 1) < 4 * DBL_EPSILON)
			break;
	}
	return value;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma has a global; x is above 0. */
}

/* I_x(a, b), the regularised incomplete beta function; y is 1 - x, to all its digits. */
static double incomplete_beta(double x, double y, double a, double b)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * continued_fraction(x, a, b) / a;
	return 1 - front * continued_fraction(y, b, a) / b;
}

double student_two_sided(double t, double df)
{
	double square = t * t;

	if (df > NORMAL_DF)
		return erfc(fabs(t) / sqrt(2));
	return incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5);
}

double student_quantile(double p, double df)
{
	double low = 0, high = T_MAX;

	/* Halving the ratio once t is above 1, the distance below: both take some 100 steps. */
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = low > 1 ? sqrt(low * high) : fmin((low + high) / 2, 10 * (low + 1));

		if (student_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
