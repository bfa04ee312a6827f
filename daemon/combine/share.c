#include "daemon/combine/share.h"

#include <math.h>

#include "daemon/combine/batches.h"
#include "compare/student.h"

/* How much an observation of the whole is. */
static double size_of(const struct share_whole *whole)
{
	return whole->squares / whole->sum;
}

/* What both sides have together. Each side's sums are in observations of its whole: those of one
 * window may all be larger than those of another. */
struct pooled {
	double share;
	double size;    /* of an observation of the part: sum of y^2 / sum of y, */
	double product; /* sum of y x / sum of y */
};

static struct pooled pool(const struct share_part part[2], const struct share_whole whole[2])
{
	double sum = 0, squares = 0, products = 0, all = 0;

	for (int i = 0; i < 2; i++) {
		double size = size_of(&whole[i]);

		sum += part[i].sum / size;
		squares += part[i].squares / (size * size);
		products += part[i].products / (size * size);
		all += whole[i].sum / size;
	}
	if (!(sum > 0))
		return (struct pooled){0, 1, 1};
	return (struct pooled){sum / all, squares / sum, products / sum};
}

/* V of a side if its share were that of both, of sampling alone. */
static double null_variance(const struct pooled *both, const struct share_whole *whole)
{
	double p = both->share, v = p * both->size - 2 * p * p * both->product + p * p;

	return fmax(v * whole->squares / (whole->sum * whole->sum), 0);
}

/* A variance and how many degrees of freedom it has. */
struct uncertainty {
	double variance;
	double df;
};

/* All of a side's, sampling making the given part of it. */
static struct uncertainty with_windows(double sampling, double p, const struct share_part *part,
				       const struct share_whole *whole)
{
	double between = batches_variance(part->by_batch, whole->by_batch, whole->batches);
	double drift = SHARE_DRIFT * p;
	double n = whole->squares > 0 ? whole->sum * whole->sum / whole->squares : 1;

	if (whole->batches >= MERGED_BATCHES_MIN && between > sampling)
		return (struct uncertainty){between, whole->batches - 1.0};
	if (whole->batches < MERGED_BATCHES_MIN)
		sampling += drift * drift / whole->windows;
	return (struct uncertainty){sampling, fmax(n - 1, 1)};
}

/* Welch and Satterthwaite. */
static struct uncertainty sum_of(const struct uncertainty *a, const struct uncertainty *b)
{
	double sum = a->variance + b->variance;
	double per_df = a->variance * a->variance / a->df + b->variance * b->variance / b->df;

	return (struct uncertainty){sum, per_df > 0 ? sum * sum / per_df : fmin(a->df, b->df)};
}

/* If nothing differs. */
static struct uncertainty null_uncertainty(const struct share_part part[2],
					   const struct share_whole whole[2],
					   const struct pooled *both)
{
	struct uncertainty sides[2];

	for (int i = 0; i < 2; i++)
		sides[i] =
		    with_windows(null_variance(both, &whole[i]), both->share, &part[i], &whole[i]);
	return sum_of(&sides[0], &sides[1]);
}

/* Of a share as it is, with two observations more, one of them in the part: with none, the variance
 * of nothing seen would be 0 (Agresti and Caffo 2000). */
static struct uncertainty own_uncertainty(const struct share_part *part,
					  const struct share_whole *whole)
{
	double more = size_of(whole), square = more * more;
	double sum = whole->sum + 2 * more, p = (part->sum + more) / sum;
	double v = part->squares + square - 2 * p * (part->products + square) +
		   p * p * (whole->squares + 2 * square);

	return with_windows(fmax(v, 0) / (sum * sum), p, part, whole);
}

static struct interval interval_of(double difference, const struct uncertainty *u)
{
	double half = student_quantile(0.05, u->df) * sqrt(u->variance);

	return (struct interval){fmax(difference - half, -1), fmin(difference + half, 1)};
}

void share_compare(const struct share_part part[2], const struct share_whole whole[2],
		   struct share_comparison *out)
{
	struct pooled both = pool(part, whole);
	struct uncertainty null = null_uncertainty(part, whole, &both);
	struct uncertainty a = own_uncertainty(&part[0], &whole[0]);
	struct uncertainty b = own_uncertainty(&part[1], &whole[1]);
	struct uncertainty own = sum_of(&a, &b);
	double half_a = size_of(&whole[0]) / whole[0].sum / 2;
	double half_b = size_of(&whole[1]) / whole[1].sum / 2, beyond;

	*out = (struct share_comparison){
	    .share = {part[0].sum / whole[0].sum, part[1].sum / whole[1].sum},
	    .standard_error = sqrt(null.variance),
	    .correction = both.size * (half_a + half_b),
	    .df = null.df};
	out->difference = out->share[1] - out->share[0];
	out->ci95 = interval_of(out->difference, &own);
	beyond = fabs(out->difference) - out->correction;
	out->p = beyond > 0 && null.variance > 0
		     ? student_two_sided(beyond / out->standard_error, null.df)
		     : 1;
}

double share_visible_difference(const struct share_comparison *c, double p)
{
	return fmin(c->correction + student_quantile(p, c->df) * c->standard_error, 1);
}

void share_adjust(double *p, unsigned count)
{
	double least = 0;

	for (unsigned i = 0; i < count; i++) {
		least = fmax(least, fmin(1, (count - i) * p[i]));
		p[i] = least;
	}
}
