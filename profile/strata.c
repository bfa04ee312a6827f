#include "profile/strata.h"

#include <errno.h>
#include <math.h>

#include "profile/tables.h"
#include "proto/limits.h"

/* Of weight, what is allocated later is not told. */
static const struct column columns[] = {
    COLUMN(struct stratum, class_name, .role = COLUMN_CLASS),
    COLUMN(struct stratum, size_class),
    COLUMN(struct stratum, weight_class, .below = STRATA_WEIGHT_CLASSES),
    COLUMN(struct stratum, all.samples, .role = COLUMN_COUNT),
    COLUMN(struct stratum, all.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum, all.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum, seen.samples, .role = COLUMN_COUNT),
    COLUMN(struct stratum, seen.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum, seen.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum, tracked.samples, .role = COLUMN_COUNT),
    COLUMN(struct stratum, tracked.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum, tracked.variance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
    COLUMN(struct stratum, tracked.covariance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
};

const struct table_layout stratum_layout = {
    TABLE_COLUMNS(columns),
    .row_size = sizeof(struct stratum),
    .key_words = 3,
    .limit = LIMIT_STRATA,
};

static const struct column site_columns[] = {
    COLUMN(struct stratum_site, stratum, .role = COLUMN_POSITION, .table = TABLE_STRATA),
    COLUMN(struct stratum_site, site, .role = COLUMN_POSITION, .table = TABLE_SITES),
    COLUMN(struct stratum_site, tracked.samples, .role = COLUMN_COUNT),
    COLUMN(struct stratum_site, tracked.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct stratum_site, tracked.variance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
    COLUMN(struct stratum_site, tracked.covariance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
};

const struct table_layout stratum_site_layout = {
    TABLE_COLUMNS(site_columns),
    .row_size = sizeof(struct stratum_site),
    .key_words = 2,
    .limit = LIMIT_STRATUM_SITES,
};

void strata_release(struct strata *s)
{
	row_table_release(&s->table);
	row_table_release(&s->site_table);
	*s = (struct strata){0};
}

uint32_t strata_size_class(uint64_t object_bytes)
{
	return object_bytes ? 63u - (uint32_t)__builtin_clzll(object_bytes) : 0;
}

/* 0 in *stratum where there is no room. */
static int find_or_add(struct strata *s, const uint32_t key[3], uint32_t *stratum)
{
	int r = row_table_add(&s->table, &stratum_layout, key, stratum);

	if (r == -ENOSPC) {
		saturate_add(&s->refused, 1);
		*stratum = 0;
	}
	return r == -ENOMEM ? r : 0;
}

int strata_find(struct strata *s, uint32_t class_name, uint32_t size_class, uint32_t weight_class,
		uint32_t *stratum)
{
	const uint32_t nothing[3] = {0}, key[3] = {class_name, size_class, weight_class};
	int r = s->count == 0 ? find_or_add(s, nothing, stratum) : 0;

	if (r < 0 || class_name)
		return r < 0 ? r : find_or_add(s, key, stratum);
	*stratum = 0; /* Nothing is the first one. */
	return 0;
}

int strata_allocated(struct strata *s, uint32_t class_name, uint64_t object_bytes, double weight)
{
	uint32_t stratum;
	int r = strata_find(s, class_name, strata_size_class(object_bytes), 0, &stratum);

	if (r == 0 && stratum != 0)
		s->list[stratum].weight = weight;
	return r;
}

/* By factors of 4, from 1. */
static uint32_t weight_class_of(double weight)
{
	double n = weight >= 1 ? 1 + floor(log2(weight) / 2) : 0;

	return (uint32_t)fmin(n, STRATA_WEIGHT_CLASSES - 1);
}

double strata_weight(uint32_t weight_class)
{
	return weight_class > 1 ? 2 * exp2(2.0 * (weight_class - 1)) : 1;
}

int strata_find_now(struct strata *s, uint32_t class_name, uint64_t object_bytes, uint32_t *stratum)
{
	uint32_t size_class = strata_size_class(object_bytes), weight_class;
	int r = strata_find(s, class_name, size_class, 0, stratum);

	if (r < 0 || *stratum == 0)
		return r;
	weight_class = weight_class_of(s->list[*stratum].weight);
	return weight_class ? strata_find(s, class_name, size_class, weight_class, stratum) : 0;
}

void tracked_sums_add(struct tracked_sums *to, const struct tracked_sums *more)
{
	saturate_add(&to->samples, more->samples);
	to->metric += more->metric;
	to->variance += more->variance;
	to->covariance += more->covariance;
}

int strata_add_tracked(struct strata *s, uint32_t stratum, uint32_t site,
		       const struct tracked_sums *more)
{
	const uint32_t key[2] = {stratum, site};
	uint32_t position;
	int r = row_table_add(&s->site_table, &stratum_site_layout, key, &position);

	if (r == -ENOSPC)
		saturate_add(&s->refused, more->samples);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	tracked_sums_add(&s->sites[position].tracked, more);
	tracked_sums_add(&s->list[stratum].tracked, more);
	return 0;
}

struct access_moments strata_all(const struct strata *s)
{
	struct access_moments sum = {0};

	for (size_t i = 0; i < s->count; i++)
		access_moments_add(&sum, &s->list[i].all);
	return sum;
}

void accessed_sizes_add(struct accessed_sizes *a, uint64_t object_bytes, double weight)
{
	access_moments_count(&a->of[strata_size_class(object_bytes)], weight);
}

uint64_t accessed_sizes_most(const struct accessed_sizes *a, double part, uint64_t least)
{
	struct access_moments all = {0};
	double reached = 0;

	for (uint32_t size_class = 1; size_class < UINT64_WIDTH; size_class++)
		access_moments_add(&all, &a->of[size_class]);
	if (all.samples < least || !(all.metric > 0))
		return 0;
	for (uint32_t size_class = UINT64_WIDTH - 1; size_class > 0; size_class--) {
		reached += a->of[size_class].metric;
		if (reached >= part * all.metric)
			return UINT64_C(1) << size_class;
	}
	return 1; /* Only by rounding. */
}
