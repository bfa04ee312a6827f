#include "compare/work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

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
		cost[i] = whole[i].ns / (elapsed_s[i] * per_second[i]);
		variance += WORK_OPERATIONS_DRIFT * WORK_OPERATIONS_DRIFT / whole[i].windows;
	}
	judge(&w, log(cost[1] / cost[0]), sqrt(variance));
	return w;
}

/* ---------------------------------------------------------------- of methods */

struct ratio {
	double logarithm; /* of p_A / p_B */
	double variance;
	double weight;
	double share[2];
};

/* How much is collected is not how much is done. */
static bool is_own_thread(const struct compare_method *m)
{
	return strcmp(m->name, COMPARE_GC) == 0 || strcmp(m->name, COMPARE_COMPILERS) == 0;
}

/* Of none that came, so that it has a ratio, too, and an uncertain one. */
#define HALF 0.5

static size_t collect(const struct compare_tree *t, const struct change_whole whole[2],
		      struct ratio *ratios)
{
	size_t count = 0;

	for (size_t i = 1; i < t->method_count; i++) {
		const struct compare_method *m = &t->methods[i];
		struct ratio *r = &ratios[count];

		if (m->own[0].count + m->own[1].count < WORK_TICKS_MIN || is_own_thread(m))
			continue;
		*r = (struct ratio){.variance = 0};
		for (int s = 0; s < 2; s++) {
			double ticks = fmax(m->own[s].count, HALF);

			r->share[s] = m->own[s].ns / whole[s].ns;
			r->logarithm += (s == 0 ? 1 : -1) * log(ticks / whole[s].ticks);
			r->variance += 1 / ticks + CHANGE_DRIFT * CHANGE_DRIFT / whole[s].windows;
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

/* The ratio that most agree with. */
static double find_center(const struct ratio *ratios, size_t count)
{
	double best = 0, most = weight_at(ratios, count, 0); /* Where all are alike: none. */

	for (size_t i = 0; i < count; i++) {
		double sum = weight_at(ratios, count, ratios[i].logarithm);

		if (sum > most) {
			most = sum;
			best = ratios[i].logarithm;
		}
	}
	return best;
}

/* The mean of those that agree, each by how much is known of it. */
static double mean_at(struct compare_work *w, const struct ratio *ratios, size_t count,
		      double center, double *error)
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
	*error = weights > 0 ? sqrt(1 / weights) : 0;
	return weights > 0 ? sum / weights : center;
}

int compare_work_of_methods(struct compare_work *w, const struct compare_tree *t,
			    const struct change_whole whole[2])
{
	_cleanup_free_ struct ratio *ratios = calloc(t->method_count, sizeof(*ratios));
	double center, error = 0, all = 0;
	size_t count;

	*w = (struct compare_work){.factor = {1, 0}, .estimate = 1, .low = 0, .high = INFINITY};
	if (!ratios)
		return -ENOMEM;
	count = collect(t, whole, ratios);
	for (size_t i = 0; i < count; i++)
		all += ratios[i].weight;
	center = mean_at(w, ratios, count, find_center(ratios, count), &error);
	if (w->methods < WORK_METHODS_MIN)
		return 0;
	judge(w, center, error);
	if (weight_at(ratios, count, center) >= WORK_AGREEMENT * all)
		w->basis = COMPARE_BY_METHODS;
	else
		w->shown = false;
	if (!w->shown)
		w->factor = (struct change_factor){1, 0};
	return 0;
}
