#include "profile/combine/pair_merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/combine/batches.h"
#include "profile/estimate.h"

int pair_merge_reserve(struct pair_merge *m, size_t count)
{
	size_t before = m->capacity;
	int r = array_reserve(&m->pairs, &m->capacity, count, sizeof(*m->pairs));

	if (r < 0)
		return r;
	if (m->capacity > before)
		memset(m->pairs + before, 0, (m->capacity - before) * sizeof(*m->pairs));
	return 0;
}

static void add_bytes(struct pair_sums *sums, uint64_t checked, uint64_t wasteful, uint64_t squares,
		      double weight)
{
	sums->checked += weight * (double)checked;
	sums->wasteful += weight * (double)wasteful;
	sums->squares += weight * weight * (double)squares;
}

static void add_totals(struct pair_sums *sums, const struct totals *from, double weight)
{
	add_bytes(sums, from->checked_bytes, from->wasteful_bytes, from->sum_squares, weight);
}

static void add_kind(struct kind_sums *sums, const struct kind_totals *from, double weight)
{
	add_totals(&sums->application, &from->application, weight);
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		add_totals(&sums->regions[i], &from->regions[i], weight);
	add_totals(&sums->jvm, &from->jvm, weight);
}

void pair_merge_batch(struct window_merged *facts, Jxp__Kind kind, const struct pair_batch *b,
		      const struct pair_cluster *window)
{
	double *const sums[] = {facts->checked[kind], facts->wasteful[kind], facts->cpu[kind],
				facts->wholes[kind]};
	const double more[] = {window->checked, window->wasteful, window->cpu, window->whole};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		if (b->fold)
			batches_fold(sums[i]);
		sums[i][b->batch] += more[i];
	}
}

static struct pair_cluster cluster_of(const struct totals *totals, double whole_ns,
				      const struct pair_weights *weights)
{
	return (struct pair_cluster){
	    .checked = weights->observation * (double)totals->checked_bytes,
	    .wasteful = weights->observation * (double)totals->wasteful_bytes,
	    .cpu = weights->cpu * totals->wasteful_cpu.ns,
	    .whole = weights->cpu * whole_ns};
}

int pair_merge_add(struct pair_merge *m, const struct row_merge *rows,
		   const struct pair_weights *weights, const struct pair_batch *batches)
{
	const struct profile *from = &rows->from->profile;
	double whole_ns = window_result_whole_ns(rows->from);
	struct pair_cluster cluster;
	int r = pair_merge_reserve(m, rows->to->profile.pair_count);

	if (r < 0)
		return r;
	for (size_t i = 0; i < from->pair_count; i++) {
		const struct pair *pair = &from->pairs[i];
		uint32_t position = rows->positions[TABLE_PAIRS][i];

		if (position != ROW_MERGE_NONE)
			add_bytes(&m->pairs[position], pair->checked_bytes, pair->wasteful_bytes,
				  pair->wasteful_squares, weights->observation);
	}
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		add_kind(&m->kinds[kind], &from->kinds[kind], weights->observation);
		cluster = cluster_of(&from->kinds[kind].application, whole_ns, weights);
		if (batches[kind].taken)
			pair_merge_batch(rows->to->merged, kind, &batches[kind], &cluster);
	}
	return 0;
}

static uint64_t rounded(double sum)
{
	return sum < 0x1p64 ? (uint64_t)rint(sum) : UINT64_MAX;
}

static void finish_totals(const struct pair_sums *sums, struct totals *t, double scale)
{
	t->checked_bytes = rounded(scale * sums->checked);
	t->wasteful_bytes = rounded(scale * sums->wasteful);
	t->sum_squares = rounded(ceil(scale * scale * sums->squares)); /* 0 with none only. */
}

/* The variance of a part p of n observations, with two of each sort more (Agresti and Coull 1998):
 * about that of Wilson's interval, and not 0 where all that was seen was alike. */
static double score_variance(double p, double n)
{
	double more = (n * fmin(p, 1) + 2) / (n + 4);

	return more * (1 - more) / (n + 4);
}

/* Tells what sampling alone makes of the variance of a fraction. */
static double fraction_variance(const struct totals *t)
{
	double sum = (double)t->checked_bytes;

	return score_variance(estimate_fraction((double)t->wasteful_bytes, sum),
			      estimate_fraction(sum * sum, (double)t->sum_squares));
}

/* And of that of a share of CPU time: each of the ticks is an observation of a with the chance
 * share / a (profile/cpu_share.h). */
static double share_variance(const struct totals *t, const struct cpu_whole *whole)
{
	double one = estimate_fraction(t->wasteful_cpu.squares, t->wasteful_cpu.ns);
	double a = estimate_fraction(one * whole->ticks, whole->ns);

	return a > 0 ? a * a *
			   score_variance(estimate_fraction(t->wasteful_cpu.ns, a * whole->ns),
					  whole->ticks)
		     : 0;
}

void pair_merge_clusters(struct window_result *w, Jxp__Kind kind, const struct pair_clusters *c)
{
	const struct totals *totals = &w->profile.kinds[kind].application;
	struct cpu_whole whole = window_result_tick_whole(w, kind);

	w->merged->cpu_shares[kind] =
	    batches_spread(c->cpu, c->wholes, c->count, share_variance(totals, &whole));
	w->merged->fractions[kind] =
	    batches_spread(c->wasteful, c->checked, c->count, fraction_variance(totals));
}

/* The CPU time of all sums of a kind. */
static void scale_cpu(struct kind_totals *totals, const double scales[PROFILE_WEIGHTS])
{
	struct totals *all = (struct totals *)totals; /* It consists of these. */

	for (size_t i = 0; i < sizeof(*totals) / sizeof(*all); i++)
		table_row_scale(&totals_layout, &all[i], scales);
}

static void finish_kind(struct pair_merge *m, struct window_result *to, Jxp__Kind kind,
			const struct pair_weights *scale)
{
	struct kind_totals *totals = &to->profile.kinds[kind];
	struct window_merged *facts = to->merged;
	const double scales[PROFILE_WEIGHTS] = {[WEIGHT_NONE] = 1, [WEIGHT_PAIRS] = scale->cpu};
	const struct pair_clusters clusters = {facts->checked[kind], facts->wasteful[kind],
					       facts->cpu[kind], facts->wholes[kind],
					       facts->kinds[kind].batches};

	scale_cpu(totals, scales);
	finish_totals(&m->kinds[kind].application, &totals->application, scale->observation);
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		finish_totals(&m->kinds[kind].regions[i], &totals->regions[i], scale->observation);
	finish_totals(&m->kinds[kind].jvm, &totals->jvm, scale->observation);
	batches_scale(facts->checked[kind], scale->observation);
	batches_scale(facts->wasteful[kind], scale->observation);
	batches_scale(facts->cpu[kind], scale->cpu);
	batches_scale(facts->wholes[kind], scale->cpu);
	pair_merge_clusters(to, kind, &clusters);
}

void pair_merge_finish(struct pair_merge *m, struct window_result *to,
		       const struct pair_weights scales[KIND_VALUES])
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		finish_kind(m, to, pair_kinds[i].kind, &scales[pair_kinds[i].kind]);
	for (size_t i = 0; i < to->profile.pair_count; i++) {
		struct pair *pair = &to->profile.pairs[i];
		double scale = scales[pair->kind].observation;
		const double cpu[PROFILE_WEIGHTS] = {
		    [WEIGHT_NONE] = 1, [WEIGHT_PAIRS] = scales[pair->kind].cpu};

		table_row_scale(&pair_layout, pair, cpu);
		pair->checked_bytes = rounded(scale * m->pairs[i].checked);
		pair->wasteful_bytes = rounded(scale * m->pairs[i].wasteful);
		pair->wasteful_squares = rounded(scale * scale * m->pairs[i].squares);
	}
}

void pair_merge_release(struct pair_merge *m)
{
	free(m->pairs);
	*m = (struct pair_merge){0};
}
