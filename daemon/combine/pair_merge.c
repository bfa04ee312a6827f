#include "daemon/combine/pair_merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/combine/batches.h"
#include "daemon/container/array.h"
#include "daemon/container/saturate.h"

/* Room for the sums of the newest pair. */
static int reserve(struct pair_merge *m, struct window_merged *facts, size_t count)
{
	size_t before = m->capacity, batches_before = m->batch_capacity;
	int r = array_reserve(&m->pairs, &m->capacity, count, sizeof(*m->pairs));

	if (r < 0)
		return r;
	memset(m->pairs + before, 0, (m->capacity - before) * sizeof(*m->pairs));
	r = array_reserve(&facts->pairs, &m->batch_capacity, count, sizeof(*facts->pairs));
	if (r < 0)
		return r;
	memset(facts->pairs + batches_before, 0,
	       (m->batch_capacity - batches_before) * sizeof(*facts->pairs));
	return 0;
}

static int add_pair(struct pair_merge *m, struct window_result *to, const struct window_result *w,
		    const struct names_map *map, const struct pair *pair, double weight,
		    unsigned batch)
{
	struct pair known = {.kind = pair->kind,
			     .region = pair->region,
			     .watch_node = map->nodes[pair->watch_node],
			     .trap_node = map->nodes[pair->trap_node]};
	uint32_t position = 0;
	struct pair *added;
	int r = names_text(&to->profile, &w->profile, pair->watch_instruction,
			   &known.watch_instruction, to->losses);

	if (r == 0)
		r = names_text(&to->profile, &w->profile, pair->trap_instruction,
			       &known.trap_instruction, to->losses);
	if (r == 0)
		r = profile_pair(&to->profile, &known, &position);
	if (r == -ENOSPC) {
		saturate_add(&to->losses[LOSS_PAIRS], pair->count);
		return 0;
	}
	if (r == 0)
		r = reserve(m, to->merged, (size_t)position + 1);
	if (r < 0)
		return r;
	added = &to->profile.pairs[position];
	saturate_add(&added->count, pair->count);
	saturate_add(&added->wasteful_count, pair->wasteful_count);
	m->pairs[position].checked += weight * (double)pair->checked_bytes;
	m->pairs[position].wasteful += weight * (double)pair->wasteful_bytes;
	m->pairs[position].squares += weight * weight * (double)pair->wasteful_squares;
	to->merged->pairs[position][batch] += weight * (double)pair->wasteful_bytes;
	return 0;
}

static void add_totals(struct pair_sums *sums, struct totals *to, const struct totals *from,
		       double weight)
{
	saturate_add(&to->count, from->count);
	saturate_add(&to->wasteful_count, from->wasteful_count);
	sums->checked += weight * (double)from->checked_bytes;
	sums->wasteful += weight * (double)from->wasteful_bytes;
	sums->squares += weight * weight * (double)from->sum_squares;
}

int pair_merge_add(struct pair_merge *m, struct window_result *to, const struct window_result *w,
		   const struct names_map *map, double weight, unsigned batch)
{
	int r = 0;

	for (size_t i = 0; i < w->profile.pair_count && r == 0; i++)
		r = add_pair(m, to, w, map, &w->profile.pairs[i], weight, batch);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		const struct kind_totals *from = &w->profile.kinds[kind];
		struct kind_totals *totals = &to->profile.kinds[kind];

		add_totals(&m->application[kind], &totals->application, &from->application, weight);
		add_totals(&m->jvm[kind], &totals->jvm, &from->jvm, weight);
		to->merged->checked[kind][batch] +=
		    weight * (double)from->application.checked_bytes;
		to->merged->wasteful[kind][batch] +=
		    weight * (double)from->application.wasteful_bytes;
	}
	return r;
}

void pair_merge_fold(struct window_merged *facts, size_t pairs)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		batches_fold(facts->checked[pair_kinds[i].kind]);
		batches_fold(facts->wasteful[pair_kinds[i].kind]);
	}
	for (size_t i = 0; i < pairs; i++)
		batches_fold(facts->pairs[i]);
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

static void scale_batches(double sums[MERGED_BATCHES], double scale)
{
	for (unsigned i = 0; i < MERGED_BATCHES; i++)
		sums[i] *= scale;
}

/* With p (1 - p) / n for the variance, and n = sum^2 / squares. */
static double squares_of_variance(double variance, const struct totals *t)
{
	double sum = (double)t->checked_bytes,
	       p = estimate_fraction((double)t->wasteful_bytes, sum);

	return p > 0 && p < 1 ? variance * sum * sum / (p * (1 - p)) : 0;
}

static void finish_kind(struct pair_merge *m, struct window_result *to, Jxp__Kind kind,
			double scale)
{
	struct kind_totals *totals = &to->profile.kinds[kind];
	struct window_merged *facts = to->merged;
	double variance;

	finish_totals(&m->application[kind], &totals->application, scale);
	finish_totals(&m->jvm[kind], &totals->jvm, scale);
	scale_batches(facts->checked[kind], scale);
	scale_batches(facts->wasteful[kind], scale);
	variance = batches_variance(facts->wasteful[kind], facts->checked[kind], facts->batches);
	if (variance > 0)
		facts->squares[kind] = batches_inflation(facts->batches) *
				       squares_of_variance(variance, &totals->application);
}

void pair_merge_finish(struct pair_merge *m, struct window_result *to, double scale)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		finish_kind(m, to, pair_kinds[i].kind, scale);
	for (size_t i = 0; i < to->profile.pair_count; i++) {
		struct pair *pair = &to->profile.pairs[i];

		pair->checked_bytes = rounded(scale * m->pairs[i].checked);
		pair->wasteful_bytes = rounded(scale * m->pairs[i].wasteful);
		pair->wasteful_squares = rounded(scale * scale * m->pairs[i].squares);
		scale_batches(to->merged->pairs[i], scale);
	}
}

void pair_merge_release(struct pair_merge *m)
{
	free(m->pairs);
	*m = (struct pair_merge){0};
}
