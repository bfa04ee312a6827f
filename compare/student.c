#include "compare/student.h"

#include <float.h>
#include <math.h>

/* Beyond, it is the normal distribution, as far as anybody can see. */
#define NORMAL_DF 1e6

/* Steps of the continued fraction: it converges in about the square root of the larger parameter,
 * 700. */
#define STEPS_MAX 10000

/* Some six where p is 5%; 40 for one in 10^12 at one degree of freedom, where t doubles with each.
 */
#define NEWTON_STEPS_MAX 100

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

static double density(double t, double df)
{
	if (df > NORMAL_DF)
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	return exp(log_gamma((df + 1) / 2) - log_gamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* Newton's method. The probability is convex in t, so from below it never goes too far. */
double student_quantile(double p, double df)
{
	double t = 0;

	for (int i = 0; i < NEWTON_STEPS_MAX; i++) {
		double step = (student_two_sided(t, df) - p) / (2 * density(t, df));

		if (!(step > DBL_EPSILON * t))
			break;
		t += step;
	}
	return t;
}
