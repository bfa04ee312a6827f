#include "daemon/profile/object_profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "common/saturate.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

void object_profile_release(struct object_profile *o)
{
	free(o->sites);
	hash_index_release(&o->site_index);
	free(o->accesses);
	hash_index_release(&o->access_index);
	class_profile_release(&o->classes);
	strata_release(&o->strata);
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
	to->classes = (struct class_profile){0};
	to->strata = (struct strata){0};
	r = array_copy(&to->sites, from->sites, from->site_count, sizeof(*from->sites));
	if (r == 0)
		r = array_copy(&to->accesses, from->accesses, from->access_count,
			       sizeof(*from->accesses));
	if (r == 0)
		r = class_profile_copy(&to->classes, &from->classes);
	if (r == 0)
		r = strata_copy(&to->strata, &from->strata);
	return r;
}

/* Ids without padding, so that they can be hashed and compared in a row. */
struct id_pair {
	uint32_t first;
	uint32_t second;
};

struct access_key {
	uint32_t site;
	uint32_t node;
	uint32_t location;
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
	const struct site_access *a = &o->accesses[position];
	struct access_key own = {a->site, a->node, a->location};

	return memcmp(&own, key, sizeof(own)) == 0;
}

int object_profile_site(struct object_profile *o, uint32_t class_name, uint32_t node,
			uint32_t *site)
{
	struct id_pair key = {class_name, node};
	uint32_t hash = hash_ids(&key, 2);
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

static void add_allocation(struct object_site *s, double weight, double bytes)
{
	s->allocations++;
	s->alloc_count += weight;
	s->alloc_bytes += bytes;
	s->alloc_squares += bytes * bytes;
}

void object_profile_told(struct object_profile *o, uint32_t site, double weight,
			 uint64_t size_bytes)
{
	struct object_site *s = &o->sites[site];
	double bytes = weight * (double)size_bytes;

	add_allocation(s, weight, bytes);
	s->untracked++;
	s->untracked_bytes += bytes;
}

void object_profile_allocated(struct object_profile *o, uint32_t site, double weight,
			      uint64_t size_bytes)
{
	struct object_site *s = &o->sites[site];
	struct fresh_objects *f = &s->fresh[o->judgement % OBJECT_PROFILE_FRESH];
	double bytes = weight * (double)size_bytes;

	add_allocation(s, weight, bytes);
	s->live_count += weight;
	s->live_bytes += bytes;
	if (f->judgement != o->judgement)
		*f = (struct fresh_objects){.judgement = o->judgement};
	f->count += weight;
	f->bytes += bytes;
}

double object_site_weight(const struct object_site *site)
{
	if (site->allocations == 0)
		return 1;
	return site->untracked < site->allocations
		   ? site->alloc_count / (double)(site->allocations - site->untracked)
		   : INFINITY;
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

static int find_or_add_access(struct object_profile *o, const struct access_key *key,
			      struct site_access **out)
{
	uint32_t hash = hash_ids(key, 3);
	uint32_t position;
	int r;

	if (hash_index_find(&o->access_index, hash, access_matches, o, key, &position)) {
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
	o->accesses[o->access_count] =
	    (struct site_access){.site = key->site, .node = key->node, .location = key->location};
	*out = &o->accesses[o->access_count++];
	return 0;
}

/* One access to the heap: where it belongs among classes and strata. */
static int add_to_heap(struct object_profile *o, const struct object_access *a, uint32_t site_class,
		       bool tracked, bool seen, uint32_t *stratum)
{
	uint32_t class_name = a->class_name ? a->class_name : site_class, field;
	int r =
	    class_profile_field(&o->classes, class_name, a->class_name ? a->location : 0, &field);

	if (r == 0)
		r = class_profile_add(&o->classes, field, a->node, a->weight, tracked);
	if (r == 0)
		r = strata_find_now(&o->strata, a->class_name, a->object_bytes, stratum);
	if (r < 0)
		return r;
	access_moments_count(&o->strata.list[*stratum].all, a->weight);
	if (seen)
		access_moments_count(&o->strata.list[*stratum].seen, a->weight);
	return 0;
}

static void add_to_site(struct object_profile *o, uint32_t site, const struct tracked_sums *sums,
			double weight)
{
	struct object_site *s = &o->sites[site];

	s->samples++;
	s->metric += sums->metric;
	s->variance += sums->variance;
	s->covariance += sums->covariance;
	o->heap_squares += weight * weight;
	o->attributed.samples++;
	o->attributed.metric += weight;
	o->estimated += sums->metric;
	o->variance += sums->variance;
}

int object_profile_access(struct object_profile *o, uint32_t site, const struct object_access *a,
			  double object_weight, double object_metric)
{
	double metric = a->weight * object_weight;
	struct tracked_sums sums = {.samples = 1,
				    .metric = metric,
				    .variance = metric * metric + 2 * object_weight *
								      (object_weight - 1) *
								      object_metric * a->weight,
				    .covariance = metric * a->weight};
	struct access_key key = {site, a->node, a->location};
	struct site_access *access;
	uint32_t stratum = 0;
	int r;

	add_to_site(o, site, &sums, a->weight);
	r = add_to_heap(o, a, o->sites[site].class_name, true, true, &stratum);
	if (r == 0)
		r = strata_add_tracked(&o->strata, stratum, site, &sums);
	if (r == 0)
		r = find_or_add_access(o, &key, &access);
	if (r != 0)
		return r;
	access->samples++;
	access->metric += metric;
	return 0;
}

int object_profile_add_access(struct object_profile *o, const struct site_access *from)
{
	struct access_key key = {from->site, from->node, from->location};
	struct site_access *access;
	int r = find_or_add_access(o, &key, &access);

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

int object_profile_untracked(struct object_profile *o, unsigned region,
			     const struct object_access *a)
{
	uint32_t stratum = 0;

	o->untracked[region].samples++;
	o->untracked[region].metric += a->weight;
	if (region != JXP__REGION__REGION_HEAP)
		return 0;
	o->heap_squares += a->weight * a->weight;
	return add_to_heap(o, a, 0, false, true, &stratum);
}

int object_profile_unsettled(struct object_profile *o, const struct object_access *a)
{
	uint32_t stratum = 0;

	o->unsettled.samples++;
	o->unsettled.metric += a->weight;
	return add_to_heap(o, a, 0, false, false, &stratum);
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

size_t object_profile_memory_bytes(const struct object_profile *o)
{
	return o->site_capacity * sizeof(*o->sites) + o->access_capacity * sizeof(*o->accesses) +
	       (o->site_index.capacity + o->access_index.capacity) * sizeof(struct hash_slot) +
	       class_profile_memory_bytes(&o->classes) + strata_memory_bytes(&o->strata);
}
