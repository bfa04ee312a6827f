#include "daemon/combine/object_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "daemon/combine/batches.h"
#include "common/saturate.h"

#define NO_SITE UINT32_MAX

static int reserve(struct object_merge *m, struct window_merged *facts, size_t count)
{
	size_t before = m->capacity, batches_before = m->batch_capacity;
	int r = array_reserve(&m->sites, &m->capacity, count, sizeof(*m->sites));

	if (r < 0)
		return r;
	memset(m->sites + before, 0, (m->capacity - before) * sizeof(*m->sites));
	r = array_reserve(&facts->sites, &m->batch_capacity, count, sizeof(*facts->sites));
	if (r < 0)
		return r;
	memset(facts->sites + batches_before, 0,
	       (m->batch_capacity - batches_before) * sizeof(*facts->sites));
	return 0;
}

/* What one window is added with. */
struct addition {
	struct window_result *to;
	const struct window_result *from;
	const struct names_map *map;
	double weight;
	double stands_for_s;
	unsigned batch;
};

static int add_site(struct object_merge *m, const struct addition *a, const struct object_site *s,
		    uint32_t *position)
{
	struct window_result *to = a->to;
	struct object_site *site;
	uint32_t name = 0;
	int r = names_class(&to->profile, &a->from->profile, s->class_name, &name, to->losses);

	if (r == 0)
		r = object_profile_site(&to->objects, name, a->map->nodes[s->node], position);
	if (r == -ENOSPC) {
		saturate_add(&to->losses[LOSS_SITES], s->allocations);
		*position = NO_SITE;
		return 0;
	}
	if (r == 0)
		r = reserve(m, to->merged, (size_t)*position + 1);
	if (r < 0)
		return r;
	site = &to->objects.sites[*position];
	saturate_add(&site->allocations, s->allocations);
	saturate_add(&site->samples, s->samples);
	site->alloc_count += s->alloc_count;
	site->alloc_bytes += s->alloc_bytes;
	site->alloc_squares += s->alloc_squares;
	saturate_add(&site->untracked, s->untracked);
	site->untracked_bytes += s->untracked_bytes;
	site->live_count += a->stands_for_s * s->live_count;
	site->live_bytes += a->stands_for_s * s->live_bytes;
	m->sites[*position].count +=
	    a->stands_for_s * object_profile_uncollected_count(&a->from->objects, s);
	m->sites[*position].bytes +=
	    a->stands_for_s * object_profile_uncollected_bytes(&a->from->objects, s);
	site->metric += a->weight * s->metric;
	site->variance += a->weight * a->weight * s->variance;
	site->covariance += a->weight * a->weight * s->covariance;
	to->merged->sites[*position][a->batch] += a->weight * s->metric;
	return 0;
}

static int add_accesses(const struct addition *a, const uint32_t *positions)
{
	const struct object_profile *from = &a->from->objects;

	for (size_t i = 0; i < from->access_count; i++) {
		struct site_access access = from->accesses[i];
		int r;

		access.site = positions[access.site];
		if (access.site == NO_SITE)
			continue;
		access.node = a->map->nodes[access.node];
		access.location = a->map->locations[access.location];
		access.metric *= a->weight;
		r = object_profile_add_access(&a->to->objects, &access);
		if (r == -ENOSPC)
			saturate_add(&a->to->losses[LOSS_SITE_ACCESSES], access.samples);
		else if (r < 0)
			return r;
	}
	return 0;
}

static void add_sum(struct access_sum *to, const struct access_sum *from, double weight)
{
	saturate_add(&to->samples, from->samples);
	to->metric += weight * from->metric;
}

/* A stratum with the sites that have tracked objects in it. */
static int add_strata(const struct addition *a, const uint32_t *positions)
{
	const struct strata *from = &a->from->objects.strata;
	struct strata *to = &a->to->objects.strata;
	_cleanup_free_ uint32_t *found = calloc(from->count + 1, sizeof(*found));
	uint64_t *losses = a->to->losses;
	int r = found ? 0 : -ENOMEM;

	for (size_t i = 0; i < from->count && r == 0; i++) {
		const struct stratum *s = &from->list[i];
		uint32_t name = 0;

		r = names_class(&a->to->profile, &a->from->profile, s->class_name, &name, losses);
		if (r == 0)
			r = strata_find(to, name, s->size_class, s->weight_class, &found[i]);
		if (r < 0)
			return r;
		access_moments_add(&to->list[found[i]].all, &s->all, a->weight);
		access_moments_add(&to->list[found[i]].seen, &s->seen, a->weight);
	}
	for (size_t i = 0; i < from->site_count && r == 0; i++) {
		const struct stratum_site *s = &from->sites[i];
		struct tracked_sums sums = {0};

		tracked_sums_add(&sums, &s->tracked, a->weight);
		if (positions[s->site] != NO_SITE)
			r = strata_add_tracked(to, found[s->stratum], positions[s->site], &sums);
	}
	return r;
}

static int add_class_fields(const struct addition *a, uint32_t *found)
{
	const struct class_profile *from = &a->from->objects.classes;
	struct class_profile *to = &a->to->objects.classes;

	for (size_t i = 0; i < from->field_count; i++) {
		const struct class_field *f = &from->fields[i];
		uint32_t name = 0;
		int r = names_class(&a->to->profile, &a->from->profile, f->class_name, &name,
				    a->to->losses);

		if (r == 0)
			r = class_profile_field(to, name, a->map->locations[f->location],
						&found[i]);
		if (r < 0)
			return r;
		access_moments_add(&to->fields[found[i]].sum, &f->sum, a->weight);
		add_sum(&to->fields[found[i]].tracked, &f->tracked, a->weight);
	}
	return 0;
}

static int add_classes(const struct addition *a)
{
	const struct class_profile *from = &a->from->objects.classes;
	_cleanup_free_ uint32_t *found = calloc(from->field_count + 1, sizeof(*found));
	int r = found ? add_class_fields(a, found) : -ENOMEM;

	for (size_t i = 0; i < from->access_count && r == 0; i++) {
		struct class_access access = from->accesses[i];

		access.field = found[access.field];
		access.node = a->map->nodes[access.node];
		access.metric *= a->weight;
		r = class_profile_add_access(&a->to->objects.classes, &access);
	}
	return r;
}

static double heap_of(const struct object_profile *o)
{
	return o->attributed.metric + o->untracked[JXP__REGION__REGION_HEAP].metric;
}

static void add_sums(struct object_merge *m, const struct addition *a)
{
	const struct object_profile *from = &a->from->objects;
	struct object_profile *to = &a->to->objects;
	double w = a->weight, heap = heap_of(from);

	add_sum(&to->attributed, &from->attributed, w);
	for (size_t i = 0; i < OBJECT_PROFILE_REGIONS; i++)
		add_sum(&to->untracked[i], &from->untracked[i], w);
	add_sum(&to->unsettled, &from->unsettled, w);
	to->estimated += w * from->estimated;
	to->variance += w * w * from->variance;
	to->heap_squares += w * w * from->heap_squares;
	a->to->merged->heap[a->batch] += w * heap;
	m->estimated[a->batch] += w * from->estimated;
	m->heap += heap;
	m->weighted += w * heap;
	m->stands_for_s += a->stands_for_s;
}

static void scale_nodes(double *sums, size_t count, double scale)
{
	for (size_t i = 0; i < count; i++)
		sums[i] *= scale;
}

static void scale_numa_site(struct numa_site *s, double scale)
{
	scale_nodes(s->accessed_from, NUMA_NODES_MAX, scale);
	scale_nodes(s->page_on, NUMA_NODES_MAX, scale);
	scale_nodes(s->allocated_on, NUMA_NODES_MAX, scale);
	scale_nodes(s->first_touch, NUMA_NODES_MAX, scale);
	s->remote *= scale;
	s->local *= scale;
}

static int add_numa(const struct addition *a, const uint32_t *positions)
{
	const struct numa_profile *from = &a->from->numa;
	struct numa_profile *to = &a->to->numa;

	saturate_add(&to->samples, from->samples);
	saturate_add(&to->remote_samples, from->remote_samples);
	saturate_add(&to->unplaced, from->unplaced);
	saturate_add(&to->sites_dropped, from->sites_dropped);
	to->touch_traced |= from->touch_traced;
	for (unsigned i = 0; i < NUMA_NODES_MAX; i++)
		for (unsigned j = 0; j < NUMA_NODES_MAX; j++)
			to->matrix[i][j] += a->weight * from->matrix[i][j];
	for (size_t i = 0; i < from->site_count; i++) {
		struct numa_site site = from->sites[i];
		int r;

		/* A site of the window's object profile: whoever made the window sees to it. */
		site.site = positions[site.site];
		if (site.site == NO_SITE)
			continue;
		scale_numa_site(&site, a->weight);
		r = numa_profile_add_site(to, &site);
		if (r < 0)
			return r;
	}
	return 0;
}

int object_merge_add(struct object_merge *m, struct window_result *to,
		     const struct window_result *w, const struct names_map *map, double weight,
		     double stands_for_s, unsigned batch)
{
	struct addition a = {to, w, map, weight, stands_for_s, batch};
	_cleanup_free_ uint32_t *positions = calloc(w->objects.site_count + 1, sizeof(*positions));
	int r = positions ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->objects.site_count && r == 0; i++)
		r = add_site(m, &a, &w->objects.sites[i], &positions[i]);
	if (r == 0)
		r = add_accesses(&a, positions);
	if (r == 0)
		r = add_strata(&a, positions);
	if (r == 0)
		r = add_classes(&a);
	if (r == 0)
		r = add_numa(&a, positions);
	if (r == 0)
		add_sums(m, &a);
	return r;
}

void object_merge_fold(struct object_merge *m, struct window_merged *facts, size_t sites)
{
	batches_fold(facts->heap);
	batches_fold(m->estimated);
	for (size_t i = 0; i < sites; i++)
		batches_fold(facts->sites[i]);
}

static void scale_moments(struct access_moments *m, double scale)
{
	m->metric *= scale;
	m->squares *= scale * scale;
}

static void scale_tracked(struct tracked_sums *t, double scale)
{
	t->metric *= scale;
	t->variance *= scale * scale;
	t->covariance *= scale * scale;
}

static void scale_strata(struct strata *s, double scale)
{
	for (size_t i = 0; i < s->count; i++) {
		scale_moments(&s->list[i].all, scale);
		scale_moments(&s->list[i].seen, scale);
		scale_tracked(&s->list[i].tracked, scale);
	}
	for (size_t i = 0; i < s->site_count; i++)
		scale_tracked(&s->sites[i].tracked, scale);
}

static void scale_classes(struct class_profile *c, double scale)
{
	for (size_t i = 0; i < c->field_count; i++) {
		scale_moments(&c->fields[i].sum, scale);
		c->fields[i].tracked.metric *= scale;
	}
	for (size_t i = 0; i < c->access_count; i++)
		c->accesses[i].metric *= scale;
}

static void scale_sums(struct object_profile *o, double scale)
{
	o->attributed.metric *= scale;
	for (size_t i = 0; i < OBJECT_PROFILE_REGIONS; i++)
		o->untracked[i].metric *= scale;
	o->unsettled.metric *= scale;
	o->estimated *= scale;
	o->variance *= scale * scale;
	o->heap_squares *= scale * scale;
	for (size_t i = 0; i < o->access_count; i++)
		o->accesses[i].metric *= scale;
	scale_strata(&o->strata, scale);
	scale_classes(&o->classes, scale);
}

static void finish_site(struct object_merge *m, struct window_result *to, size_t position,
			double scale, double inflation)
{
	struct object_site *s = &to->objects.sites[position];
	double *batches = to->merged->sites[position];
	double share = m->stands_for_s > 0 ? 1 / m->stands_for_s : 0;
	s->metric *= scale;
	s->variance *= scale * scale;
	s->covariance *= scale * scale;
	s->live_count *= share;
	s->live_bytes *= share;
	object_site_set_uncollected(s, share * m->sites[position].count,
				    share * m->sites[position].bytes);
	scale_nodes(batches, MERGED_BATCHES, scale);
	s->between = inflation * batches_variance(batches, to->merged->heap, to->merged->batches);
}

static void scale_numa(struct numa_profile *n, double scale)
{
	for (unsigned i = 0; i < NUMA_NODES_MAX; i++)
		scale_nodes(n->matrix[i], NUMA_NODES_MAX, scale);
	for (size_t i = 0; i < n->site_count; i++)
		scale_numa_site(&n->sites[i], scale);
}

void object_merge_finish(struct object_merge *m, struct window_result *to)
{
	double scale = m->weighted > 0 ? m->heap / m->weighted : 1;
	struct window_merged *facts = to->merged;
	double inflation =
	    facts->batches >= MERGED_BATCHES_MIN ? batches_inflation(facts->batches) : 0;

	scale_sums(&to->objects, scale);
	if (object_profile_is_overestimated(&to->objects))
		memcpy(facts->heap, m->estimated, sizeof(facts->heap));
	scale_nodes(facts->heap, MERGED_BATCHES, scale);
	saturate_add(&to->losses[LOSS_CLASS_ACCESSES], to->objects.classes.refused);
	saturate_add(&to->losses[LOSS_STRATA], to->objects.strata.refused);
	object_profile_close(&to->objects, 0);
	for (size_t i = 0; i < to->objects.site_count; i++)
		finish_site(m, to, i, scale, inflation);
	scale_numa(&to->numa, scale);
}

void object_merge_release(struct object_merge *m)
{
	free(m->sites);
	*m = (struct object_merge){0};
}
