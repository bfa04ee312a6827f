#include "compare/change.h"

#include <math.h>

#include "compare/student.h"

/* Degrees of freedom where Student's distribution is the normal one. */
#define NORMAL 1e9

double change_quantile(unsigned looked_at)
{
	return student_quantile(CHANGE_LEVEL / 2 / fmax(looked_at, 1), NORMAL);
}

double change_drift(double share, unsigned windows)
{
	double rest = fmax(1 - share, 0);

	return CHANGE_DRIFT * share * fmin(sqrt(2 * rest), 1) / sqrt(fmax(windows, 1));
}

/* Ticks that an observation stands for, of both sides together: one side may have seen none. Each
 * observation is one tick at least. */
static double ticks_of_one(const struct compare_sums part[2], const struct change_whole whole[2])
{
	double sum = 0, squares = 0;

	for (int i = 0; i < 2; i++) {
		double tick = whole[i].amount / whole[i].ticks;

		sum += part[i].amount / tick;
		squares += part[i].squares / (tick * tick);
	}
	return sum > 0 ? fmax(squares / sum, 1) : 1;
}

/* The variance of a share, of sampling and drift. */
static double variance_of(double share, const struct change_whole *whole, double one)
{
	double chance = (fmin(share / one, 1) * whole->ticks + 1) / (whole->ticks + 2);
	double drift = change_drift(share, whole->windows);

	return one * one * chance * (1 - chance) / (whole->ticks + 2) + drift * drift;
}

struct change change_of(const struct compare_sums part[2], const struct change_whole whole[2],
			const struct change_factor *factor, double quantile)
{
	double one = ticks_of_one(part, whole), f = factor->factor;
	double a = part[0].amount / whole[0].amount, b = part[1].amount / whole[1].amount;
	double of_factor = f * b * factor->error;
	double variance = variance_of(a, &whole[0], one) + f * f * variance_of(b, &whole[1], one) +
			  of_factor * of_factor;
	double half = quantile * sqrt(variance);
	struct change c = {.share = {a, f * b}, .difference = f * b - a};

	c.low = fmax(c.difference - half, -1);
	c.high = fmin(c.difference + half, fmax(f, 1));
	c.shown = c.low > 0 || c.high < 0;
	return c;
}

bool change_is_looked_at(const struct compare_sums part[2], const struct change_whole whole[2])
{
	return part[0].count + part[1].count >= CHANGE_COUNT_MIN &&
	       part[0].amount / whole[0].amount + part[1].amount / whole[1].amount >=
		   CHANGE_SHARE_MIN;
}
