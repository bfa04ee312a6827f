#include "daemon/profile/object_profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/container/array.h"
#include "daemon/container/hash.h"
#include "daemon/container/saturate.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

void object_profile_release(struct object_profile *o)
{
	free(o->sites);
	hash_index_release(&o->site_index);
	free(o->accesses);
	hash_index_release(&o->access_index);
	*o = (struct object_profile){0};
}

int object_profile_copy(struct object_profile *to, const struct object_profile *from)
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
	const struct object_profile *o = table;
	struct id_pair own = {o->sites[position].class_name, o->sites[position].node};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool access_matches(const void *table, uint32_t position, const void *key)
{
	const struct object_profile *o = table;
	struct id_pair own = {o->accesses[position].site, o->accesses[position].node};

	return memcmp(&own, key, sizeof(own)) == 0;
}

int object_profile_site(struct object_profile *o, uint32_t class_name, uint32_t node,
			uint32_t *site)
{
	struct id_pair key = {class_name, node};
	uint32_t hash = hash_bytes(&key, sizeof(key));
	int r;

	if (hash_index_find(&o->site_index, hash, site_matches, o, &key, site))
		return 0;
	if (o->site_count >= LIMIT_SITES)
		return -ENOSPC;
	r = array_reserve(&o->sites, &o->site_capacity, o->site_count + 1, sizeof(*o->sites));
	if (r == 0)
		r = hash_index_insert(&o->site_index, hash, (uint32_t)o->site_count);
	if (r < 0)
		return r;
	o->sites[o->site_count] = (struct object_site){.class_name = class_name, .node = node};
	*site = (uint32_t)o->site_count++;
	return 0;
}

void object_profile_allocated(struct object_profile *o, uint32_t site, double weight,
			      uint64_t size_bytes)
{
	struct object_site *s = &o->sites[site];
	struct fresh_objects *f = &s->fresh[o->judgement % OBJECT_PROFILE_FRESH];

	s->allocations++;
	s->alloc_count += weight;
	s->alloc_bytes += weight * (double)size_bytes;
	s->live_count += weight;
	s->live_bytes += weight * (double)size_bytes;
	if (f->judgement != o->judgement)
		*f = (struct fresh_objects){.judgement = o->judgement};
	f->count += weight;
	f->bytes += weight * (double)size_bytes;
}

void object_profile_died(struct object_profile *o, uint32_t site, double weight,
			 uint64_t size_bytes, uint32_t judgement)
{
	struct object_site *s = &o->sites[site];
	struct fresh_objects *f = &s->fresh[judgement % OBJECT_PROFILE_FRESH];

	s->live_count -= weight;
	s->live_bytes -= weight * (double)size_bytes;
	if (judgement != f->judgement)
		return;
	f->count -= weight;
	f->bytes -= weight * (double)size_bytes;
}

void object_profile_judged(struct object_profile *o, uint64_t time_ns)
{
	o->judgement++;
	o->judged_ns[o->judgement % OBJECT_PROFILE_FRESH] = time_ns;
}

/* How many of the last judgements an object has to have come before. */
static uint32_t judgements_needed(const struct object_profile *o)
{
	return o->concurrent_gc ? OBJECT_PROFILE_FRESH : 1;
}

uint64_t object_profile_judged_ns(const struct object_profile *o)
{
	uint32_t needed = judgements_needed(o);

	return o->judgement < needed
		   ? 0
		   : o->judged_ns[(o->judgement - needed + 1) % OBJECT_PROFILE_FRESH];
}

static bool is_fresh(const struct object_profile *o, const struct fresh_objects *f)
{
	return f->judgement + judgements_needed(o) > o->judgement;
}

double object_profile_uncollected_count(const struct object_profile *o,
					const struct object_site *site)
{
	double count = 0;

	for (int i = 0; i < OBJECT_PROFILE_FRESH; i++)
		count += is_fresh(o, &site->fresh[i]) ? site->fresh[i].count : 0;
	return count;
}

double object_profile_uncollected_bytes(const struct object_profile *o,
					const struct object_site *site)
{
	double bytes = 0;

	for (int i = 0; i < OBJECT_PROFILE_FRESH; i++)
		bytes += is_fresh(o, &site->fresh[i]) ? site->fresh[i].bytes : 0;
	return bytes;
}

double object_profile_uncollected(const struct object_profile *o)
{
	double bytes = 0;

	for (size_t i = 0; i < o->site_count; i++)
		bytes += object_profile_uncollected_bytes(o, &o->sites[i]);
	return bytes;
}

static int find_or_add_access(struct object_profile *o, uint32_t site, uint32_t node,
			      struct site_access **out)
{
	struct id_pair key = {site, node};
	uint32_t hash = hash_bytes(&key, sizeof(key));
	uint32_t position;
	int r;

	if (hash_index_find(&o->access_index, hash, access_matches, o, &key, &position)) {
		*out = &o->accesses[position];
		return 0;
	}
	if (o->access_count >= LIMIT_SITE_ACCESSES)
		return -ENOSPC;
	r = array_reserve(&o->accesses, &o->access_capacity, o->access_count + 1,
			  sizeof(*o->accesses));
	if (r == 0)
		r = hash_index_insert(&o->access_index, hash, (uint32_t)o->access_count);
	if (r < 0)
		return r;
	o->accesses[o->access_count] = (struct site_access){.site = site, .node = node};
	*out = &o->accesses[o->access_count++];
	return 0;
}

int object_profile_access(struct object_profile *o, uint32_t site, uint32_t node, double weight,
			  double object_weight, double object_metric)
{
	struct object_site *s = &o->sites[site];
	double metric = weight * object_weight;
	double variance =
	    metric * metric + 2 * object_weight * (object_weight - 1) * object_metric * weight;
	struct site_access *access;
	int r;

	s->samples++;
	s->metric += metric;
	s->variance += variance;
	s->covariance += metric * weight;
	o->heap_squares += weight * weight;
	o->attributed.samples++;
	o->attributed.metric += weight;
	o->estimated += metric;
	o->variance += variance;
	r = find_or_add_access(o, site, node, &access);
	if (r < 0)
		return r;
	access->samples++;
	access->metric += metric;
	return 0;
}

int object_profile_add_access(struct object_profile *o, const struct site_access *from)
{
	struct site_access *access;
	int r = find_or_add_access(o, from->site, from->node, &access);

	if (r < 0)
		return r;
	saturate_add(&access->samples, from->samples);
	access->metric += from->metric;
	return 0;
}

/* As if there had been one judgement, and all that is uncollected had come after it. */
#define CLOSED_JUDGEMENT 1

void object_profile_close(struct object_profile *o, uint64_t judged_ns)
{
	o->concurrent_gc = false;
	o->judgement = CLOSED_JUDGEMENT;
	o->judged_ns[CLOSED_JUDGEMENT] = judged_ns;
}

void object_site_set_uncollected(struct object_site *site, double count, double bytes)
{
	memset(site->fresh, 0, sizeof(site->fresh));
	site->fresh[CLOSED_JUDGEMENT] =
	    (struct fresh_objects){.judgement = CLOSED_JUDGEMENT, .count = count, .bytes = bytes};
}

void object_profile_untracked(struct object_profile *o, unsigned region, double weight)
{
	o->untracked[region].samples++;
	o->untracked[region].metric += weight;
	if (region == JXP__REGION__REGION_HEAP)
		o->heap_squares += weight * weight;
}

uint64_t object_profile_samples(const struct object_profile *o)
{
	uint64_t sum = o->attributed.samples + o->unsettled.samples;

	for (int i = 0; i < OBJECT_PROFILE_REGIONS; i++)
		sum += o->untracked[i].samples;
	return sum;
}

static double heap_metric(const struct object_profile *o)
{
	return o->attributed.metric + o->untracked[JXP__REGION__REGION_HEAP].metric;
}

double object_profile_whole(const struct object_profile *o)
{
	double heap = heap_metric(o);

	return heap > o->estimated ? heap : o->estimated;
}

bool object_profile_is_overestimated(const struct object_profile *o)
{
	return heap_metric(o) < o->estimated;
}

double object_profile_fraction(const struct object_profile *o, const struct object_site *site)
{
	return estimate_fraction(site->metric, object_profile_whole(o));
}

/* Of the numerator of p = site / whole minus p times the whole, which is what makes p uncertain. */
static double residual_variance(const struct object_profile *o, const struct object_site *site,
				double p)
{
	double within = object_profile_is_overestimated(o)
			    ? (1 - 2 * p) * site->variance + p * p * o->variance
			    : site->variance - 2 * p * site->covariance + p * p * o->heap_squares;

	return fmax(within, site->between);
}

struct interval object_profile_fraction_ci95(const struct object_profile *o,
					     const struct object_site *site)
{
	double whole = object_profile_whole(o), p = object_profile_fraction(o, site);
	double squares = o->heap_squares, residual;

	if (p <= 0) {
		/* One access to one of its objects would have counted this much. */
		squares *= estimate_fraction(site->alloc_count, (double)site->allocations) *
			   estimate_fraction(whole, heap_metric(o));
	} else if (p >= 1) {
		squares = fmax(squares, site->variance);
	} else {
		residual = residual_variance(o, site, p);
		/* p (1 - p) / n is the variance of the fraction, residual / whole^2. */
		if (residual > 0)
			squares = residual / (p * (1 - p));
	}
	return estimate_ci95(site->metric, whole, squares);
}

size_t object_profile_memory_bytes(const struct object_profile *o)
{
	return o->site_capacity * sizeof(*o->sites) + o->access_capacity * sizeof(*o->accesses) +
	       (o->site_index.capacity + o->access_index.capacity) * sizeof(struct hash_slot);
}
