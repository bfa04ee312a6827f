#include "daemon/profile/object_profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/container/array.h"
#include "daemon/container/hash.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

void locality_release(struct locality *l)
{
	free(l->sites);
	hash_index_release(&l->site_index);
	free(l->accesses);
	hash_index_release(&l->access_index);
	*l = (struct locality){0};
}

int locality_copy(struct locality *to, const struct locality *from)
{
	int r;

	*to = *from;
	to->site_index = to->access_index = (struct hash_index){0};
	to->site_capacity = from->site_count;
	to->access_capacity = from->access_count;
	to->accesses = NULL;
	r = array_copy(&to->sites, from->sites, from->site_count, sizeof(*from->sites));
	if (r == 0)
		r = array_copy(&to->accesses, from->accesses, from->access_count,
			       sizeof(*from->accesses));
	return r;
}

/* Two ids without padding, so that they can be hashed as bytes. */
struct id_pair {
	uint32_t first;
	uint32_t second;
};

static bool site_matches(const void *table, uint32_t position, const void *key)
{
	const struct locality *l = table;
	struct id_pair own = {l->sites[position].class_name, l->sites[position].node};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool access_matches(const void *table, uint32_t position, const void *key)
{
	const struct locality *l = table;
	struct id_pair own = {l->accesses[position].site, l->accesses[position].node};

	return memcmp(&own, key, sizeof(own)) == 0;
}

int locality_site(struct locality *l, uint32_t class_name, uint32_t node, uint32_t *site)
{
	struct id_pair key = {class_name, node};
	uint32_t hash = hash_bytes(&key, sizeof(key));
	int r;

	if (hash_index_find(&l->site_index, hash, site_matches, l, &key, site))
		return 0;
	if (l->site_count >= LIMIT_SITES)
		return -ENOSPC;
	r = array_reserve(&l->sites, &l->site_capacity, l->site_count + 1, sizeof(*l->sites));
	if (r == 0)
		r = hash_index_insert(&l->site_index, hash, (uint32_t)l->site_count);
	if (r < 0)
		return r;
	l->sites[l->site_count] = (struct object_site){.class_name = class_name, .node = node};
	*site = (uint32_t)l->site_count++;
	return 0;
}

void locality_allocated(struct locality *l, uint32_t site, double weight, uint64_t size_bytes)
{
	struct object_site *s = &l->sites[site];
	struct fresh_objects *f = &s->fresh[l->judgement % LOCALITY_FRESH];

	s->allocations++;
	s->alloc_count += weight;
	s->alloc_bytes += weight * (double)size_bytes;
	s->live_count += weight;
	s->live_bytes += weight * (double)size_bytes;
	if (f->judgement != l->judgement)
		*f = (struct fresh_objects){.judgement = l->judgement};
	f->count += weight;
	f->bytes += weight * (double)size_bytes;
}

void locality_died(struct locality *l, uint32_t site, double weight, uint64_t size_bytes,
		   uint32_t judgement)
{
	struct object_site *s = &l->sites[site];
	struct fresh_objects *f = &s->fresh[judgement % LOCALITY_FRESH];

	s->live_count -= weight;
	s->live_bytes -= weight * (double)size_bytes;
	if (judgement != f->judgement)
		return;
	f->count -= weight;
	f->bytes -= weight * (double)size_bytes;
}

void locality_judged(struct locality *l, uint64_t time_ns)
{
	l->judgement++;
	l->judged_ns[l->judgement % LOCALITY_FRESH] = time_ns;
}

/* How many of the last judgements an object has to have come before. */
static uint32_t judgements_needed(const struct locality *l)
{
	return l->concurrent_gc ? LOCALITY_FRESH : 1;
}

uint64_t locality_judged_ns(const struct locality *l)
{
	uint32_t needed = judgements_needed(l);

	return l->judgement < needed ? 0
				     : l->judged_ns[(l->judgement - needed + 1) % LOCALITY_FRESH];
}

static bool is_fresh(const struct locality *l, const struct fresh_objects *f)
{
	return f->judgement + judgements_needed(l) > l->judgement;
}

double locality_uncollected_count(const struct locality *l, const struct object_site *site)
{
	double count = 0;

	for (int i = 0; i < LOCALITY_FRESH; i++)
		count += is_fresh(l, &site->fresh[i]) ? site->fresh[i].count : 0;
	return count;
}

double locality_uncollected_bytes(const struct locality *l, const struct object_site *site)
{
	double bytes = 0;

	for (int i = 0; i < LOCALITY_FRESH; i++)
		bytes += is_fresh(l, &site->fresh[i]) ? site->fresh[i].bytes : 0;
	return bytes;
}

double locality_uncollected(const struct locality *l)
{
	double bytes = 0;

	for (size_t i = 0; i < l->site_count; i++)
		bytes += locality_uncollected_bytes(l, &l->sites[i]);
	return bytes;
}

static int find_or_add_access(struct locality *l, uint32_t site, uint32_t node,
			      struct site_access **out)
{
	struct id_pair key = {site, node};
	uint32_t hash = hash_bytes(&key, sizeof(key));
	uint32_t position;
	int r;

	if (hash_index_find(&l->access_index, hash, access_matches, l, &key, &position)) {
		*out = &l->accesses[position];
		return 0;
	}
	if (l->access_count >= LIMIT_SITE_ACCESSES)
		return -ENOSPC;
	r = array_reserve(&l->accesses, &l->access_capacity, l->access_count + 1,
			  sizeof(*l->accesses));
	if (r == 0)
		r = hash_index_insert(&l->access_index, hash, (uint32_t)l->access_count);
	if (r < 0)
		return r;
	l->accesses[l->access_count] = (struct site_access){.site = site, .node = node};
	*out = &l->accesses[l->access_count++];
	return 0;
}

int locality_access(struct locality *l, uint32_t site, uint32_t node, double weight,
		    double object_weight, double object_metric)
{
	struct object_site *s = &l->sites[site];
	double metric = weight * object_weight;
	double variance =
	    metric * metric + 2 * object_weight * (object_weight - 1) * object_metric * weight;
	struct site_access *access;
	int r;

	s->samples++;
	s->metric += metric;
	s->variance += variance;
	s->covariance += metric * weight;
	l->heap_squares += weight * weight;
	l->attributed.samples++;
	l->attributed.metric += weight;
	l->estimated += metric;
	l->variance += variance;
	r = find_or_add_access(l, site, node, &access);
	if (r < 0)
		return r;
	access->samples++;
	access->metric += metric;
	return 0;
}

void locality_untracked(struct locality *l, unsigned region, double weight)
{
	l->untracked[region].samples++;
	l->untracked[region].metric += weight;
	if (region == JXP__REGION__REGION_HEAP)
		l->heap_squares += weight * weight;
}

uint64_t locality_samples(const struct locality *l)
{
	uint64_t sum = l->attributed.samples + l->unsettled.samples;

	for (int i = 0; i < LOCALITY_REGIONS; i++)
		sum += l->untracked[i].samples;
	return sum;
}

static double heap_metric(const struct locality *l)
{
	return l->attributed.metric + l->untracked[JXP__REGION__REGION_HEAP].metric;
}

double locality_whole(const struct locality *l)
{
	double heap = heap_metric(l);

	return heap > l->estimated ? heap : l->estimated;
}

double locality_fraction(const struct locality *l, const struct object_site *site)
{
	return estimate_fraction(site->metric, locality_whole(l));
}

/* Of the numerator of p = site / whole minus p times the whole, which is what makes p uncertain. */
static double residual_variance(const struct locality *l, const struct object_site *site, double p)
{
	if (heap_metric(l) >= l->estimated)
		return site->variance - 2 * p * site->covariance + p * p * l->heap_squares;
	return (1 - 2 * p) * site->variance + p * p * l->variance;
}

struct interval locality_fraction_ci95(const struct locality *l, const struct object_site *site)
{
	double whole = locality_whole(l), p = locality_fraction(l, site);
	double squares = l->heap_squares, residual;

	if (p <= 0) {
		/* One access to one of its objects would have counted this much. */
		squares *= estimate_fraction(site->alloc_count, (double)site->allocations) *
			   estimate_fraction(whole, heap_metric(l));
	} else if (p >= 1) {
		squares = fmax(squares, site->variance);
	} else {
		residual = residual_variance(l, site, p);
		/* p (1 - p) / n is the variance of the fraction, residual / whole^2. */
		if (residual > 0)
			squares = residual / (p * (1 - p));
	}
	return estimate_ci95(site->metric, whole, squares);
}

size_t locality_memory_bytes(const struct locality *l)
{
	return l->site_capacity * sizeof(*l->sites) + l->access_capacity * sizeof(*l->accesses) +
	       (l->site_index.capacity + l->access_index.capacity) * sizeof(struct hash_slot);
}
