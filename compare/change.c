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

/* What is known of a side's share. */
struct known {
	double share;
	double middle;   /* of its interval */
	double sampling; /* variances: of ticks, */
	double windows;  /* of what windows differ by beyond that, with these degrees of freedom, */
	double freedom;
	double drift; /* and what is taken for granted */
	double after; /* by so much the share may be larger */
};

static struct known known_of(const struct compare_sums *part, const struct change_whole *whole,
			     double one, double factor)
{
	double share = part->amount / whole->amount, drift = change_drift(share, whole->windows);
	double chance = (fmin(share / one, 1) * whole->ticks + 1) / (whole->ticks + 2);
	double sampling = one * one * chance * (1 - chance) / (whole->ticks + 2);

	return (struct known){
	    .share = factor * share,
	    .middle = factor * one * chance,
	    .sampling = factor * factor * sampling,
	    .windows = factor * factor * sampling * whole->excess,
	    .freedom = whole->freedom,
	    .drift = factor * factor * drift * drift,
	    .after = factor * share * whole->after / (1 - whole->after),
	};
}

/* Welch's and Satterthwaite's degrees of freedom of both sides' windows. */
static double freedom_of(const struct known side[2])
{
	double sum = side[0].windows + side[1].windows, parts = 0;

	for (int i = 0; i < 2; i++)
		if (side[i].windows > 0)
			parts += side[i].windows * side[i].windows / fmax(side[i].freedom, 1);
	return sum * sum / parts;
}

/* Half the interval, but for what lies behind the last ticks. */
static double half_of(const struct known side[2], double of_factor, double quantile)
{
	double windows = side[0].windows + side[1].windows, t = 0;
	double rest = side[0].sampling + side[1].sampling + side[0].drift + side[1].drift +
		      of_factor * of_factor;

	if (windows > 0)
		t = student_quantile(student_two_sided(quantile, NORMAL), freedom_of(side));
	return sqrt(quantile * quantile * rest + t * t * windows);
}

struct change change_of(const struct compare_sums part[2], const struct change_whole whole[2],
			const struct change_factor *factor, double quantile)
{
	double one = ticks_of_one(part, whole), f = factor->factor;
	const struct known side[2] = {known_of(&part[0], &whole[0], one, 1),
				      known_of(&part[1], &whole[1], one, f)};
	double half = half_of(side, side[1].share * factor->error, quantile);
	double middle = side[1].middle - side[0].middle;
	struct change c = {.share = {side[0].share, side[1].share},
			   .difference = side[1].share - side[0].share,
			   .low = -1,
			   .high = fmax(f, 1)};

	if (fmin(whole[0].ticks, whole[1].ticks) < CHANGE_OBSERVATIONS_MIN * one)
		return c;
	c.low = fmax(fmin(middle - half - side[0].after, c.difference), c.low);
	c.high = fmin(fmax(middle + half + side[1].after, c.difference), c.high);
	c.shown = c.low > 0 || c.high < 0;
	return c;
}

bool change_is_looked_at(const struct compare_sums part[2], const struct change_whole whole[2])
{
	return part[0].count + part[1].count >= CHANGE_COUNT_MIN &&
	       part[0].amount / whole[0].amount + part[1].amount / whole[1].amount >=
		   CHANGE_SHARE_MIN;
}
