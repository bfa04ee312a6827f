#include "daemon/combine/share.h"

#include <math.h>

#include "daemon/combine/batches.h"
#include "daemon/combine/student.h"

/* What an observation of the part is like, on either side. */
struct observation_size {
	double size;    /* sum of y^2 / sum of y */
	double product; /* sum of y x / sum of y */
};

static struct observation_size size_of(const struct share_part part[2],
				       const struct share_whole whole[2])
{
	double sum = part[0].sum + part[1].sum;
	double any = (whole[0].squares + whole[1].squares) / (whole[0].sum + whole[1].sum);

	if (!(sum > 0))
		return (struct observation_size){any, any};
	return (struct observation_size){(part[0].squares + part[1].squares) / sum,
					 (part[0].products + part[1].products) / sum};
}

/* V of a side whose share is p, of sampling alone. */
static double sampling_variance(double p, double sum, double squares,
				const struct observation_size *o)
{
	double v = (p * o->size - 2 * p * p * o->product) / sum + p * p * squares / (sum * sum);

	return fmax(v, 0);
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
					   const struct observation_size *o)
{
	double p = (part[0].sum + part[1].sum) / (whole[0].sum + whole[1].sum);
	struct uncertainty sides[2];

	for (int i = 0; i < 2; i++)
		sides[i] = with_windows(sampling_variance(p, whole[i].sum, whole[i].squares, o), p,
					&part[i], &whole[i]);
	return sum_of(&sides[0], &sides[1]);
}

/* Of the shares as they are, each with two observations more, one of them in the part: with none,
 * the variance of nothing seen would be 0 (Agresti and Caffo 2000). */
static struct uncertainty own_uncertainty(const struct share_part part[2],
					  const struct share_whole whole[2],
					  const struct observation_size *o)
{
	struct uncertainty sides[2];

	for (int i = 0; i < 2; i++) {
		double more = fmin(o->size, whole[i].sum);
		double sum = whole[i].sum + 2 * more, p = (part[i].sum + more) / sum;
		double squares = whole[i].squares + 2 * more * more;

		sides[i] =
		    with_windows(sampling_variance(p, sum, squares, o), p, &part[i], &whole[i]);
	}
	return sum_of(&sides[0], &sides[1]);
}

void share_compare(const struct share_part part[2], const struct share_whole whole[2],
		   struct share_comparison *out)
{
	struct observation_size o = size_of(part, whole);
	struct uncertainty null = null_uncertainty(part, whole, &o);
	struct uncertainty own = own_uncertainty(part, whole, &o);
	double half = student_quantile(0.05, own.df) * sqrt(own.variance), beyond;

	*out = (struct share_comparison){
	    .share = {part[0].sum / whole[0].sum, part[1].sum / whole[1].sum},
	    .standard_error = sqrt(null.variance),
	    .correction = (o.size / whole[0].sum + o.size / whole[1].sum) / 2,
	    .df = null.df};
	out->difference = out->share[1] - out->share[0];
	out->ci95 =
	    (struct interval){fmax(out->difference - half, -1), fmin(out->difference + half, 1)};
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
