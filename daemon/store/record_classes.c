#include "daemon/store/record_parts.h"

#include <errno.h>

#include "proto/limits.h"

/* ---------------------------------------------------------------- packing */

static int pack_strata(struct arena *a, const struct strata *s, Jxp__StoredObjects *m)
{
	size_t count = s->count;

	if (!RECORD_COLUMN(a, m, stratum_class, count) ||
	    !RECORD_COLUMN(a, m, stratum_size, count) ||
	    !RECORD_COLUMN(a, m, stratum_weight, count) ||
	    !RECORD_COLUMN(a, m, stratum_samples, count) ||
	    !RECORD_COLUMN(a, m, stratum_metric, count) ||
	    !RECORD_COLUMN(a, m, stratum_squares, count) ||
	    !RECORD_COLUMN(a, m, stratum_seen_samples, count) ||
	    !RECORD_COLUMN(a, m, stratum_seen_metric, count) ||
	    !RECORD_COLUMN(a, m, stratum_seen_squares, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->stratum_class[i] = s->list[i].class_name;
		m->stratum_size[i] = s->list[i].size_class;
		m->stratum_weight[i] = s->list[i].weight_class;
		m->stratum_samples[i] = s->list[i].all.samples;
		m->stratum_metric[i] = s->list[i].all.metric;
		m->stratum_squares[i] = s->list[i].all.squares;
		m->stratum_seen_samples[i] = s->list[i].seen.samples;
		m->stratum_seen_metric[i] = s->list[i].seen.metric;
		m->stratum_seen_squares[i] = s->list[i].seen.squares;
	}
	return 0;
}

static int pack_cells(struct arena *a, const struct strata *s, Jxp__StoredObjects *m)
{
	size_t count = s->site_count;

	if (!RECORD_COLUMN(a, m, cell_stratum, count) || !RECORD_COLUMN(a, m, cell_site, count) ||
	    !RECORD_COLUMN(a, m, cell_samples, count) || !RECORD_COLUMN(a, m, cell_metric, count) ||
	    !RECORD_COLUMN(a, m, cell_variance, count) ||
	    !RECORD_COLUMN(a, m, cell_covariance, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->cell_stratum[i] = s->sites[i].stratum;
		m->cell_site[i] = s->sites[i].site;
		m->cell_samples[i] = s->sites[i].tracked.samples;
		m->cell_metric[i] = s->sites[i].tracked.metric;
		m->cell_variance[i] = s->sites[i].tracked.variance;
		m->cell_covariance[i] = s->sites[i].tracked.covariance;
	}
	return 0;
}

static int pack_fields(struct arena *a, const struct class_profile *c, Jxp__StoredObjects *m)
{
	size_t count = c->field_count;

	if (!RECORD_COLUMN(a, m, field_class, count) ||
	    !RECORD_COLUMN(a, m, field_location, count) ||
	    !RECORD_COLUMN(a, m, field_samples, count) ||
	    !RECORD_COLUMN(a, m, field_metric, count) ||
	    !RECORD_COLUMN(a, m, field_squares, count) ||
	    !RECORD_COLUMN(a, m, field_tracked_samples, count) ||
	    !RECORD_COLUMN(a, m, field_tracked_metric, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->field_class[i] = c->fields[i].class_name;
		m->field_location[i] = c->fields[i].location;
		m->field_samples[i] = c->fields[i].sum.samples;
		m->field_metric[i] = c->fields[i].sum.metric;
		m->field_squares[i] = c->fields[i].sum.squares;
		m->field_tracked_samples[i] = c->fields[i].tracked.samples;
		m->field_tracked_metric[i] = c->fields[i].tracked.metric;
	}
	return 0;
}

static int pack_field_accesses(struct arena *a, const struct class_profile *c,
			       Jxp__StoredObjects *m)
{
	size_t count = c->access_count;

	if (!RECORD_COLUMN(a, m, field_access_field, count) ||
	    !RECORD_COLUMN(a, m, field_access_node, count) ||
	    !RECORD_COLUMN(a, m, field_access_samples, count) ||
	    !RECORD_COLUMN(a, m, field_access_metric, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->field_access_field[i] = c->accesses[i].field;
		m->field_access_node[i] = c->accesses[i].node;
		m->field_access_samples[i] = c->accesses[i].samples;
		m->field_access_metric[i] = c->accesses[i].metric;
	}
	return 0;
}

int record_pack_classes(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m)
{
	int r = pack_strata(a, &o->strata, m);

	if (r == 0)
		r = pack_cells(a, &o->strata, m);
	if (r == 0)
		r = pack_fields(a, &o->classes, m);
	if (r == 0)
		r = pack_field_accesses(a, &o->classes, m);
	return r;
}

/* ---------------------------------------------------------------- unpacking */

static bool columns_match(const Jxp__StoredObjects *m)
{
	size_t strata = m->n_stratum_class, cells = m->n_cell_stratum, fields = m->n_field_class,
	       accesses = m->n_field_access_field;

	return m->n_stratum_size == strata && m->n_stratum_weight == strata &&
	       m->n_stratum_samples == strata && m->n_stratum_metric == strata &&
	       m->n_stratum_squares == strata && m->n_stratum_seen_samples == strata &&
	       m->n_stratum_seen_metric == strata && m->n_stratum_seen_squares == strata &&
	       m->n_cell_site == cells && m->n_cell_samples == cells && m->n_cell_metric == cells &&
	       m->n_cell_variance == cells && m->n_cell_covariance == cells &&
	       m->n_field_location == fields && m->n_field_samples == fields &&
	       m->n_field_metric == fields && m->n_field_squares == fields &&
	       m->n_field_tracked_samples == fields && m->n_field_tracked_metric == fields &&
	       m->n_field_access_node == accesses && m->n_field_access_samples == accesses &&
	       m->n_field_access_metric == accesses;
}

static bool moments_are_valid(const struct access_moments *m)
{
	return record_is_sum(m->metric) && record_is_sum(m->squares);
}

static int unpack_strata(const Jxp__StoredObjects *m, const struct profile *p, struct strata *s)
{
	int r = 0;

	for (size_t i = 0; i < m->n_stratum_class && r == 0; i++) {
		struct access_moments all = {m->stratum_samples[i], m->stratum_metric[i],
					     m->stratum_squares[i]};
		struct access_moments seen = {m->stratum_seen_samples[i], m->stratum_seen_metric[i],
					      m->stratum_seen_squares[i]};
		uint32_t position;

		if (m->stratum_weight[i] >= STRATA_WEIGHT_CLASSES ||
		    !record_has_text(p, m->stratum_class[i]) || !moments_are_valid(&all) ||
		    !moments_are_valid(&seen))
			return -EBADMSG;
		r = strata_find(s, m->stratum_class[i], m->stratum_size[i], m->stratum_weight[i],
				&position);
		if (r < 0 || position != i)
			return r < 0 ? r : -EBADMSG;
		s->list[i].all = all;
		s->list[i].seen = seen;
	}
	return r;
}

static int unpack_cells(const Jxp__StoredObjects *m, size_t sites, struct strata *s)
{
	int r = 0;

	for (size_t i = 0; i < m->n_cell_stratum && r == 0; i++) {
		struct tracked_sums sums = {m->cell_samples[i], m->cell_metric[i],
					    m->cell_variance[i], m->cell_covariance[i]};

		if (m->cell_stratum[i] >= s->count || m->cell_site[i] >= sites ||
		    !record_is_sum(sums.metric) || !isfinite(sums.variance) ||
		    !isfinite(sums.covariance))
			return -EBADMSG;
		r = strata_add_tracked(s, m->cell_stratum[i], m->cell_site[i], &sums);
		if (r == 0 && s->site_count != i + 1)
			r = -EBADMSG;
	}
	return r;
}

/* What was kept before there were strata: one, in which no class is known. */
static int unpack_sums(struct object_profile *o)
{
	const struct access_sum *heap = &o->untracked[JXP__REGION__REGION_HEAP];
	uint64_t samples = o->attributed.samples;
	struct access_moments all = {.metric = o->attributed.metric + heap->metric,
				     .squares = o->heap_squares};
	uint32_t stratum;
	int r = strata_find(&o->strata, 0, 0, 0, &stratum);

	if (r < 0)
		return r;
	saturate_add(&samples, heap->samples);
	all.samples = samples;
	o->strata.list[stratum].all = o->strata.list[stratum].seen = all;
	for (uint32_t i = 0; i < o->site_count && r == 0; i++) {
		const struct object_site *s = &o->sites[i];
		struct tracked_sums sums = {s->samples, s->metric, s->variance, s->covariance};

		if (s->samples > 0)
			r = strata_add_tracked(&o->strata, stratum, i, &sums);
	}
	return r;
}

static int unpack_fields(const Jxp__StoredObjects *m, const struct profile *p,
			 struct class_profile *c)
{
	int r = 0;

	for (size_t i = 0; i < m->n_field_class && r == 0; i++) {
		struct class_field f = {
		    .class_name = m->field_class[i],
		    .location = m->field_location[i],
		    .sum = {m->field_samples[i], m->field_metric[i], m->field_squares[i]},
		    .tracked = {m->field_tracked_samples[i], m->field_tracked_metric[i]}};
		uint32_t position;

		if (!record_has_text(p, f.class_name) || !record_has_location(p, f.location) ||
		    !moments_are_valid(&f.sum) || !record_is_sum(f.tracked.metric))
			return -EBADMSG;
		r = class_profile_field(c, f.class_name, f.location, &position);
		if (r < 0 || position != i)
			return r < 0 ? r : -EBADMSG;
		c->fields[i] = f;
	}
	return r;
}

static int unpack_field_accesses(const Jxp__StoredObjects *m, const struct profile *p,
				 struct class_profile *c)
{
	int r = 0;

	for (size_t i = 0; i < m->n_field_access_field && r == 0; i++) {
		struct class_access a = {m->field_access_field[i], m->field_access_node[i],
					 m->field_access_samples[i], m->field_access_metric[i]};

		if (a.field >= c->field_count || !record_has_node(p, a.node) ||
		    !record_is_sum(a.metric))
			return -EBADMSG;
		r = class_profile_add_access(c, &a);
		if (r == 0 && c->access_count != i + 1)
			r = -EBADMSG;
	}
	return r;
}

int record_unpack_classes(const Jxp__StoredObjects *m, const struct profile *p,
			  struct object_profile *o)
{
	int r;

	if (!columns_match(m))
		return -EBADMSG;
	if (m->n_stratum_class == 0)
		return unpack_sums(o);
	r = unpack_strata(m, p, &o->strata);
	if (r == 0)
		r = unpack_cells(m, o->site_count, &o->strata);
	if (r == 0)
		r = unpack_fields(m, p, &o->classes);
	if (r == 0)
		r = unpack_field_accesses(m, p, &o->classes);
	return r;
}
