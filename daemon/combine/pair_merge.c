#include "daemon/combine/pair_merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/combine/batches.h"
#include "common/saturate.h"
#include "daemon/profile/estimate.h"

/* Room for the sums of the newest pair. */
static int reserve(struct pair_merge *m, size_t count)
{
	size_t before = m->capacity;
	int r = array_reserve(&m->pairs, &m->capacity, count, sizeof(*m->pairs));

	if (r < 0)
		return r;
	memset(m->pairs + before, 0, (m->capacity - before) * sizeof(*m->pairs));
	return 0;
}

static void add_cpu(struct cpu_sums *to, const struct cpu_sums *from, double weight)
{
	to->ns += weight * from->ns;
	to->squares += weight * weight * from->squares;
}

static int add_pair(struct pair_merge *m, struct window_result *to, const struct window_result *w,
		    const struct names_map *map, const struct pair *pair,
		    const struct pair_weights *weights)
{
	struct pair known = {.kind = pair->kind,
			     .region = pair->region,
			     .watch_node = map->nodes[pair->watch_node],
			     .trap_node = map->nodes[pair->trap_node],
			     .location = map->locations[pair->location]};
	double weight = weights->observation;
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
		r = reserve(m, (size_t)position + 1);
	if (r < 0)
		return r;
	added = &to->profile.pairs[position];
	saturate_add(&added->count, pair->count);
	saturate_add(&added->wasteful_count, pair->wasteful_count);
	add_cpu(&added->cpu, &pair->cpu, weights->cpu);
	m->pairs[position].checked += weight * (double)pair->checked_bytes;
	m->pairs[position].wasteful += weight * (double)pair->wasteful_bytes;
	m->pairs[position].squares += weight * weight * (double)pair->wasteful_squares;
	return 0;
}

static void add_totals(struct pair_sums *sums, struct totals *to, const struct totals *from,
		       const struct pair_weights *weights)
{
	double weight = weights->observation;

	saturate_add(&to->count, from->count);
	saturate_add(&to->wasteful_count, from->wasteful_count);
	sums->checked += weight * (double)from->checked_bytes;
	sums->wasteful += weight * (double)from->wasteful_bytes;
	sums->squares += weight * weight * (double)from->sum_squares;
	add_cpu(&to->wasteful_cpu, &from->wasteful_cpu, weights->cpu);
	add_cpu(&to->cpu, &from->cpu, weights->cpu);
}

static void add_kind(struct kind_sums *sums, struct kind_totals *to, const struct kind_totals *from,
		     const struct pair_weights *weights)
{
	add_totals(&sums->application, &to->application, &from->application, weights);
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		add_totals(&sums->regions[i], &to->regions[i], &from->regions[i], weights);
	add_totals(&sums->jvm, &to->jvm, &from->jvm, weights);
}

int pair_merge_add(struct pair_merge *m, struct window_result *to, const struct window_result *w,
		   const struct names_map *map, const struct pair_weights *weights, unsigned batch)
{
	struct window_merged *facts = to->merged;
	int r = 0;

	for (size_t i = 0; i < w->profile.pair_count && r == 0; i++)
		r = add_pair(m, to, w, map, &w->profile.pairs[i], weights);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		const struct totals *from = &w->profile.kinds[kind].application;

		add_kind(&m->kinds[kind], &to->profile.kinds[kind], &w->profile.kinds[kind],
			 weights);
		facts->checked[kind][batch] += weights->observation * (double)from->checked_bytes;
		facts->wasteful[kind][batch] += weights->observation * (double)from->wasteful_bytes;
		facts->cpu[kind][batch] += weights->cpu * from->wasteful_cpu.ns;
	}
	facts->wholes[batch] += weights->cpu * window_result_whole_ns(w);
	return r;
}

void pair_merge_fold(struct window_merged *facts)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		batches_fold(facts->checked[pair_kinds[i].kind]);
		batches_fold(facts->wasteful[pair_kinds[i].kind]);
		batches_fold(facts->cpu[pair_kinds[i].kind]);
	}
	batches_fold(facts->wholes);
}

static uint64_t rounded(double sum)
{
	return sum < 0x1p64 ? (uint64_t)rint(sum) : UINT64_MAX;
}

static void scale_cpu(struct cpu_sums *cpu, double scale)
{
	cpu->ns *= scale;
	cpu->squares *= scale * scale;
}

static void finish_totals(const struct pair_sums *sums, struct totals *t,
			  const struct pair_weights *scales)
{
	double scale = scales->observation;

	scale_cpu(&t->wasteful_cpu, scales->cpu);
	scale_cpu(&t->cpu, scales->cpu);
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

/* What sampling alone makes of the variance of a share of CPU time (daemon/profile/cpu_share.h). */
static double sampling_variance(const struct totals *t, const struct cpu_whole *whole)
{
	double share = estimate_fraction(t->wasteful_cpu.ns, whole->ns);
	double squares = estimate_fraction(t->wasteful_cpu.squares, whole->ns * whole->ns);

	return squares - estimate_fraction(share * share, whole->ticks);
}

/* By what the windows differ more than that; shares are of what ticks are shares of, in both. */
static double cpu_effect(const struct window_result *to, Jxp__Kind kind)
{
	const struct window_merged *facts = to->merged;
	struct cpu_whole whole = window_result_tick_whole(to, kind);
	double sampling = sampling_variance(&to->profile.kinds[kind].application, &whole);
	double variance = batches_variance(facts->cpu[kind], facts->wholes, facts->batches);

	return sampling > 0 && variance > 0
		   ? fmax(1, batches_inflation(facts->batches) * variance / sampling)
		   : 1;
}

static void finish_kind(struct pair_merge *m, struct window_result *to, Jxp__Kind kind,
			const struct pair_weights *scale)
{
	struct kind_totals *totals = &to->profile.kinds[kind];
	struct window_merged *facts = to->merged;
	double variance;

	finish_totals(&m->kinds[kind].application, &totals->application, scale);
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		finish_totals(&m->kinds[kind].regions[i], &totals->regions[i], scale);
	finish_totals(&m->kinds[kind].jvm, &totals->jvm, scale);
	scale_batches(facts->checked[kind], scale->observation);
	scale_batches(facts->wasteful[kind], scale->observation);
	scale_batches(facts->cpu[kind], scale->cpu);
	facts->cpu_effect[kind] = cpu_effect(to, kind);
	variance = batches_variance(facts->wasteful[kind], facts->checked[kind], facts->batches);
	if (variance > 0)
		facts->squares[kind] = batches_inflation(facts->batches) *
				       squares_of_variance(variance, &totals->application);
}

void pair_merge_finish(struct pair_merge *m, struct window_result *to,
		       const struct pair_weights *scales)
{
	double scale = scales->observation;

	scale_batches(to->merged->wholes, scales->cpu);
	for (size_t i = 0; i < PAIR_KINDS; i++)
		finish_kind(m, to, pair_kinds[i].kind, scales);
	for (size_t i = 0; i < to->profile.pair_count; i++) {
		struct pair *pair = &to->profile.pairs[i];

		scale_cpu(&pair->cpu, scales->cpu);
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
