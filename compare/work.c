#include "compare/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "compare/student.h"

/* Two ratios are one if they differ by less than so many standard errors. */
#define ALIKE 2.0

static void judge(struct compare_work *w, double logarithm, double error)
{
	double half = change_quantile(1) * error;

	w->estimate = exp(logarithm);
	w->low = exp(logarithm - half);
	w->high = exp(logarithm + half);
	w->shown = w->low > 1 || w->high < 1;
	w->factor = (struct change_factor){w->estimate, error};
}

struct compare_work compare_work_of_operations(const struct change_whole whole[2],
					       const double elapsed_s[2],
					       const double per_second[2])
{
	struct compare_work w = {.basis = COMPARE_BY_OPERATIONS};
	double cost[2], variance = 0;

	for (int i = 0; i < 2; i++) {
		w.per_second[i] = per_second[i];
		cost[i] = whole[i].amount / (elapsed_s[i] * per_second[i]);
		variance += WORK_OPERATIONS_DRIFT * WORK_OPERATIONS_DRIFT / whole[i].windows;
	}
	judge(&w, log(cost[1] / cost[0]), sqrt(variance));
	return w;
}

/* ---------------------------------------------------------------- of methods */

/* What is compared. */
struct both {
	const struct compare_tree *tree;
	const struct change_whole *whole; /* of two */
	double inflation[2]; /* what variances between windows, which have few degrees of freedom,
			      * are multiplied by for a normal quantile */
};

static struct both both_of(const struct compare_tree *t, const struct change_whole whole[2])
{
	struct both b = {t, whole, {1, 1}};

	for (int s = 0; s < 2; s++)
		if (whole[s].freedom > 0)
			b.inflation[s] =
			    pow(student_quantile(CHANGE_LEVEL / 2, fmax(whole[s].freedom, 1)) /
				    change_quantile(1),
				2);
	return b;
}

struct ratio {
	size_t method;
	double logarithm; /* of p_A / p_B */
	double sampling;  /* its variance, */
	double variance;  /* and with what the method itself drifts by */
	double weight;
	double share[2];
};

/* How much is collected is not how much is done. */
static bool is_own_thread(const struct compare_method *m)
{
	return strcmp(m->name, COMPARE_GC) == 0 || strcmp(m->name, COMPARE_COMPILERS) == 0;
}

/* What stands for none that came, so that it has a ratio, too, and an uncertain one. */
#define HALF 0.5

/* The variance of the logarithm of a method's own share, of what windows differ by beyond ticks. */
static double between(const struct both *b, const struct compare_method *m, int side)
{
	double rest = fmax(1 - m->own[side].amount / b->whole[side].amount, 0);

	return b->inflation[side] * m->excess[side] * rest / fmax(m->own[side].count, HALF);
}

static size_t collect(const struct both *b, struct ratio *ratios)
{
	const struct change_whole *whole = b->whole;
	size_t count = 0;

	for (size_t i = 1; i < b->tree->method_count; i++) {
		const struct compare_method *m = &b->tree->methods[i];
		struct ratio *r = &ratios[count];

		if (m->own[0].count + m->own[1].count < WORK_TICKS_MIN || is_own_thread(m))
			continue;
		*r = (struct ratio){.method = i};
		for (int s = 0; s < 2; s++) {
			double ticks = fmax(m->own[s].count, HALF);

			r->share[s] = m->own[s].amount / whole[s].amount;
			r->logarithm += (s == 0 ? 1 : -1) * log(ticks / whole[s].ticks);
			r->sampling += 1 / ticks;
			r->variance += 1 / ticks + CHANGE_DRIFT * CHANGE_DRIFT / whole[s].windows +
				       between(b, m, s);
		}
		r->weight = sqrt(fmin(r->share[0], r->share[1]));
		count++;
	}
	return count;
}

static bool agrees(const struct ratio *r, double logarithm)
{
	return fabs(r->logarithm - logarithm) <= ALIKE * sqrt(r->variance);
}

static double weight_at(const struct ratio *ratios, size_t count, double logarithm)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += agrees(&ratios[i], logarithm) ? ratios[i].weight : 0;
	return sum;
}

/* A ratio agrees with all from its start to its end. */
struct edge {
	double logarithm;
	double weight;
	enum { EDGE_START, EDGE_RATIO, EDGE_END } what;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return ORDER(ASCENDING(x->logarithm, y->logarithm), ASCENDING(x->what, y->what));
}

/* Weights are summed up in another order for each ratio: by less none is heavier. */
#define ROUNDING 1e-9

/* The ratio that most agree with; none where as many agree with that nothing changed. 0 or
 * -ENOMEM. */
static int find_center(const struct ratio *ratios, size_t count, double *center)
{
	_cleanup_free_ struct edge *edges = calloc(3 * count + 1, sizeof(*edges));
	double most = weight_at(ratios, count, 0), sum = 0;

	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct ratio *r = &ratios[i];
		double reach = ALIKE * sqrt(r->variance);

		edges[3 * i] = (struct edge){r->logarithm - reach, r->weight, EDGE_START};
		edges[3 * i + 1] = (struct edge){r->logarithm, 0, EDGE_RATIO};
		edges[3 * i + 2] = (struct edge){r->logarithm + reach, -r->weight, EDGE_END};
	}
	qsort(edges, 3 * count, sizeof(*edges), compare_edges);
	*center = 0;
	for (size_t i = 0; i < 3 * count; i++) {
		sum += edges[i].weight;
		if (edges[i].what != EDGE_RATIO || sum <= most * (1 + ROUNDING))
			continue;
		most = sum;
		*center = edges[i].logarithm;
	}
	return 0;
}

/* The mean of those that agree, each by how much is known of it; the sum of these weights. */
static double mean_at(struct compare_work *w, const struct ratio *ratios, size_t count,
		      double center, double *mean)
{
	double sum = 0, weights = 0;

	w->methods = 0;
	w->share[0] = w->share[1] = 0;
	for (size_t i = 0; i < count; i++) {
		if (!agrees(&ratios[i], center))
			continue;
		sum += ratios[i].logarithm / ratios[i].variance;
		weights += 1 / ratios[i].variance;
		w->methods++;
		for (int s = 0; s < 2; s++)
			w->share[s] += ratios[i].share[s];
	}
	*mean = weights > 0 ? sum / weights : center;
	return weights;
}

/* A share this small drifts by as much of itself as any smaller one. */
#define SMALL_SHARE 1e-9

/* The variance of the mean's logarithm, of what a method drifts by and its windows differ by, which
 * has this part of the mean's weight: the mean moves with the method's own share, and against what
 * that takes from or leaves to all others. */
static double moved_by(const struct both *b, const struct compare_method *m, int side, double part)
{
	const struct change_whole *whole = &b->whole[side];
	double share = m->own[side].amount / whole->amount;
	double p = fmin(fmax(share, SMALL_SHARE), 1 - SMALL_SHARE);
	double drift = change_drift(p, whole->windows) / p, moved = (part - p) / (1 - p);

	return moved * moved * (drift * drift + between(b, m, side));
}

/* The variance of the mean, of ticks and of what each method varies by, whether it agrees or not:
 * one with most of the time moves the shares of all others, which agree with each other then. */
static double variance_of(const struct both *b, const struct ratio *ratios, size_t count,
			  double center, double weights)
{
	const struct ratio *r = ratios, *end = ratios + count; /* In the order of methods. */
	double variance = 0;

	for (size_t i = 0; i < b->tree->method_count; i++) {
		const struct compare_method *m = &b->tree->methods[i];
		double part = 0;

		if (r < end && r->method == i) {
			part = agrees(r, center) ? 1 / r->variance / weights : 0;
			variance += part * part * r++->sampling;
		}
		for (int s = 0; s < 2 && strcmp(m->name, COMPARE_COMPILERS) != 0; s++)
			variance += moved_by(b, m, s, part);
	}
	return variance;
}

int compare_work_of_methods(struct compare_work *w, const struct compare_tree *t,
			    const struct change_whole whole[2])
{
	_cleanup_free_ struct ratio *ratios = calloc(t->method_count, sizeof(*ratios));
	const struct both both = both_of(t, whole);
	double center, mean, weights, all = 0;
	size_t count;

	*w = COMPARE_WORK_UNKNOWN;
	if (!ratios)
		return -ENOMEM;
	count = collect(&both, ratios);
	for (size_t i = 0; i < count; i++)
		all += ratios[i].weight;
	if (find_center(ratios, count, &center) < 0)
		return -ENOMEM;
	weights = mean_at(w, ratios, count, center, &mean);
	if (w->methods < WORK_METHODS_MIN)
		return 0;
	judge(w, mean, sqrt(variance_of(&both, ratios, count, center, weights)));
	if (weight_at(ratios, count, mean) >= WORK_AGREEMENT * all)
		w->basis = COMPARE_BY_METHODS;
	else
		w->shown = false;
	if (!w->shown)
		w->factor = (struct change_factor){1, 0};
	return 0;
}
