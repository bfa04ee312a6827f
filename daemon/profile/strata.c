#include "daemon/profile/strata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "proto/limits.h"

void strata_release(struct strata *s)
{
	free(s->list);
	hash_index_release(&s->index);
	free(s->sites);
	hash_index_release(&s->site_index);
	*s = (struct strata){0};
}

int strata_copy(struct strata *to, const struct strata *from)
{
	int r;

	*to = (struct strata){.count = from->count,
			      .capacity = from->count,
			      .site_count = from->site_count,
			      .site_capacity = from->site_count,
			      .refused = from->refused};
	r = array_copy(&to->list, from->list, from->count, sizeof(*from->list));
	if (r == 0)
		r = array_copy(&to->sites, from->sites, from->site_count, sizeof(*from->sites));
	return r;
}

uint32_t strata_size_class(uint64_t object_bytes)
{
	return object_bytes ? 63u - (uint32_t)__builtin_clzll(object_bytes) : 0;
}

/* Ids without padding, so that they can be hashed and compared in a row. */
struct id_pair {
	uint32_t first;
	uint32_t second;
};

struct stratum_key {
	uint32_t class_name;
	uint32_t size_class;
	uint32_t weight_class;
};

static bool stratum_matches(const void *table, uint32_t position, const void *key)
{
	const struct strata *s = table;
	const struct stratum *at = &s->list[position];
	struct stratum_key own = {at->class_name, at->size_class, at->weight_class};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool site_matches(const void *table, uint32_t position, const void *key)
{
	const struct strata *s = table;
	struct id_pair own = {s->sites[position].stratum, s->sites[position].site};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static int find_or_add(struct strata *s, const struct stratum_key *key, uint32_t *stratum)
{
	uint32_t hash = hash_ids(key, 3);
	int r;

	if (hash_index_find(&s->index, hash, stratum_matches, s, key, stratum))
		return 0;
	if (s->count >= LIMIT_STRATA) {
		saturate_add(&s->refused, 1);
		*stratum = 0;
		return 0;
	}
	r = array_reserve(&s->list, &s->capacity, s->count + 1, sizeof(*s->list));
	if (r == 0)
		r = hash_index_insert(&s->index, hash, (uint32_t)s->count);
	if (r < 0)
		return r;
	s->list[s->count] = (struct stratum){.class_name = key->class_name,
					     .size_class = key->size_class,
					     .weight_class = key->weight_class};
	*stratum = (uint32_t)s->count++;
	return 0;
}

int strata_find(struct strata *s, uint32_t class_name, uint32_t size_class, uint32_t weight_class,
		uint32_t *stratum)
{
	struct stratum_key nothing = {0}, key = {class_name, size_class, weight_class};
	int r = s->count == 0 ? find_or_add(s, &nothing, stratum) : 0;

	if (r < 0 || class_name)
		return r < 0 ? r : find_or_add(s, &key, stratum);
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

void tracked_sums_add(struct tracked_sums *to, const struct tracked_sums *more, double weight)
{
	saturate_add(&to->samples, more->samples);
	to->metric += weight * more->metric;
	to->variance += weight * weight * more->variance;
	to->covariance += weight * weight * more->covariance;
}

int strata_add_tracked(struct strata *s, uint32_t stratum, uint32_t site,
		       const struct tracked_sums *more)
{
	struct id_pair key = {stratum, site};
	uint32_t hash = hash_ids(&key, 2), position;
	int r;

	if (!hash_index_find(&s->site_index, hash, site_matches, s, &key, &position)) {
		if (s->site_count >= LIMIT_STRATUM_SITES) {
			saturate_add(&s->refused, more->samples);
			return 0;
		}
		r = array_reserve(&s->sites, &s->site_capacity, s->site_count + 1,
				  sizeof(*s->sites));
		if (r == 0)
			r = hash_index_insert(&s->site_index, hash, (uint32_t)s->site_count);
		if (r < 0)
			return r;
		position = (uint32_t)s->site_count++;
		s->sites[position] = (struct stratum_site){.stratum = stratum, .site = site};
	}
	tracked_sums_add(&s->sites[position].tracked, more, 1);
	tracked_sums_add(&s->list[stratum].tracked, more, 1);
	return 0;
}

struct access_moments strata_all(const struct strata *s)
{
	struct access_moments sum = {0};

	for (size_t i = 0; i < s->count; i++)
		access_moments_add(&sum, &s->list[i].all, 1);
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
		access_moments_add(&all, &a->of[size_class], 1);
	if (all.samples < least || !(all.metric > 0))
		return 0;
	for (uint32_t size_class = UINT64_WIDTH - 1; size_class > 0; size_class--) {
		reached += a->of[size_class].metric;
		if (reached >= part * all.metric)
			return UINT64_C(1) << size_class;
	}
	return 1; /* Only by rounding. */
}

size_t strata_memory_bytes(const struct strata *s)
{
	return s->capacity * sizeof(*s->list) + s->site_capacity * sizeof(*s->sites) +
	       (s->index.capacity + s->site_index.capacity) * sizeof(struct hash_slot);
}
