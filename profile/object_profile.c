#include "profile/object_profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/saturate.h"
#include "profile/tables.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

/* What lives can come out a little below 0, as a difference of sums. */
static const struct column site_columns[] = {
    COLUMN(struct object_site, class_name, .role = COLUMN_CLASS),
    COLUMN(struct object_site, node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMN(struct object_site, allocations, .role = COLUMN_COUNT),
    COLUMN(struct object_site, alloc_count, .role = COLUMN_SUM),
    COLUMN(struct object_site, alloc_bytes, .role = COLUMN_SUM),
    COLUMN(struct object_site, alloc_squares, .role = COLUMN_SQUARES),
    COLUMN(struct object_site, untracked, .role = COLUMN_COUNT),
    COLUMN(struct object_site, untracked_bytes, .role = COLUMN_SUM),
    COLUMN(struct object_site, live_count, .role = COLUMN_SUM, .weight = WEIGHT_TIME,
	   .any_sign = true),
    COLUMN(struct object_site, live_bytes, .role = COLUMN_SUM, .weight = WEIGHT_TIME,
	   .any_sign = true),
    COLUMNS(struct object_site, fresh, fresh[0].judgement),
    COLUMNS(struct object_site, fresh, fresh[0].count, .any_sign = true),
    COLUMNS(struct object_site, fresh, fresh[0].bytes, .any_sign = true),
    COLUMN(struct object_site, samples, .role = COLUMN_COUNT),
    COLUMN(struct object_site, metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct object_site, variance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
    COLUMN(struct object_site, covariance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
};

const struct table_layout object_site_layout = {
    TABLE_COLUMNS(site_columns),
    .row_size = sizeof(struct object_site),
    .key_words = 2,
    .limit = LIMIT_SITES,
};

static const struct column access_columns[] = {
    COLUMN(struct site_access, site, .role = COLUMN_POSITION, .table = TABLE_SITES),
    COLUMN(struct site_access, node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMN(struct site_access, location, .role = COLUMN_ID, .table = TABLE_LOCATIONS),
    COLUMN(struct site_access, samples, .role = COLUMN_COUNT),
    COLUMN(struct site_access, metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
};

const struct table_layout site_access_layout = {
    TABLE_COLUMNS(access_columns),
    .row_size = sizeof(struct site_access),
    .key_words = 3,
    .limit = LIMIT_SITE_ACCESSES,
};

static const struct column sums_columns[] = {
    COLUMN(struct object_profile, attributed.samples, .role = COLUMN_COUNT),
    COLUMN(struct object_profile, attributed.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMNS(struct object_profile, untracked, untracked[0].samples, .role = COLUMN_COUNT),
    COLUMNS(struct object_profile, untracked, untracked[0].metric, .role = COLUMN_SUM,
	    .weight = WEIGHT_ACCESS),
    COLUMN(struct object_profile, unsettled.samples, .role = COLUMN_COUNT),
    COLUMN(struct object_profile, unsettled.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct object_profile, estimated, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct object_profile, variance, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS,
	   .any_sign = true),
    COLUMN(struct object_profile, heap_squares, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS),
    COLUMN(struct object_profile, judgement),
    COLUMNS(struct object_profile, judged_ns, judged_ns[0]),
    COLUMN(struct object_profile, concurrent_gc),
};

const struct table_layout object_sums_layout = {
    TABLE_COLUMNS(sums_columns),
    .row_size = sizeof(struct object_profile),
    .limit = 1,
};

void object_profile_release(struct object_profile *o)
{
	row_table_release(&o->site_table);
	row_table_release(&o->access_table);
	row_table_release(&o->sharing_table);
	class_profile_release(&o->classes);
	strata_release(&o->strata);
	*o = (struct object_profile){0};
}

int object_profile_site(struct object_profile *o, uint32_t class_name, uint32_t node,
			uint32_t *site)
{
	const uint32_t key[2] = {class_name, node};
	int r = row_table_add(&o->site_table, &object_site_layout, key, site);

	return r < 0 ? r : 0;
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

/* Of a concurrent collector one of the last two between judgements must have died: behind this
 * judgement they are the last but one and the one before, and what came before them was looked at.
 */
void object_profile_judged(struct object_profile *o, uint32_t youngest, uint64_t time_ns)
{
	if (o->concurrent_gc && youngest + (OBJECT_PROFILE_FRESH - 1) <= o->judgement)
		return;
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

static int add_access(struct object_profile *o, const struct site_access *from)
{
	uint32_t position;
	int r = row_table_add(&o->access_table, &site_access_layout, from, &position);

	if (r < 0)
		return r;
	saturate_add(&o->accesses[position].samples, from->samples);
	o->accesses[position].metric += from->metric;
	return 0;
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
	const struct site_access access = {site, a->node, a->location, 1, metric};
	uint32_t stratum = 0;
	int r;

	add_to_site(o, site, &sums, a->weight);
	r = add_to_heap(o, a, o->sites[site].class_name, true, true, &stratum);
	if (r == 0)
		r = strata_add_tracked(&o->strata, stratum, site, &sums);
	return r < 0 ? r : add_access(o, &access);
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

double object_profile_heap(const struct object_profile *o)
{
	return o->attributed.metric + o->untracked[JXP__REGION__REGION_HEAP].metric;
}

bool object_profile_is_overestimated(const struct object_profile *o)
{
	return object_profile_heap(o) < o->estimated;
}
