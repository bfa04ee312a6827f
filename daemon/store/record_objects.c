#include "daemon/store/record_parts.h"

#include <errno.h>
#include <string.h>

#include "common/array.h"
#include "proto/limits.h"

/* ---------------------------------------------------------------- objects */

static int pack_sites(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m)
{
	size_t count = o->site_count;

	if (!RECORD_COLUMN(a, m, site_class, count) || !RECORD_COLUMN(a, m, site_node, count) ||
	    !RECORD_COLUMN(a, m, site_allocations, count) ||
	    !RECORD_COLUMN(a, m, site_alloc_count, count) ||
	    !RECORD_COLUMN(a, m, site_alloc_bytes, count) ||
	    !RECORD_COLUMN(a, m, site_alloc_squares, count) ||
	    !RECORD_COLUMN(a, m, site_untracked, count) ||
	    !RECORD_COLUMN(a, m, site_untracked_bytes, count) ||
	    !RECORD_COLUMN(a, m, site_live_count, count) ||
	    !RECORD_COLUMN(a, m, site_live_bytes, count) ||
	    !RECORD_COLUMN(a, m, site_uncollected_count, count) ||
	    !RECORD_COLUMN(a, m, site_uncollected_bytes, count) ||
	    !RECORD_COLUMN(a, m, site_samples, count) || !RECORD_COLUMN(a, m, site_metric, count) ||
	    !RECORD_COLUMN(a, m, site_variance, count) ||
	    !RECORD_COLUMN(a, m, site_covariance, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct object_site *s = &o->sites[i];

		m->site_class[i] = s->class_name;
		m->site_node[i] = s->node;
		m->site_allocations[i] = s->allocations;
		m->site_alloc_count[i] = s->alloc_count;
		m->site_alloc_bytes[i] = s->alloc_bytes;
		m->site_alloc_squares[i] = s->alloc_squares;
		m->site_untracked[i] = s->untracked;
		m->site_untracked_bytes[i] = s->untracked_bytes;
		m->site_live_count[i] = s->live_count;
		m->site_live_bytes[i] = s->live_bytes;
		m->site_uncollected_count[i] = object_profile_uncollected_count(o, s);
		m->site_uncollected_bytes[i] = object_profile_uncollected_bytes(o, s);
		m->site_samples[i] = s->samples;
		m->site_metric[i] = s->metric;
		m->site_variance[i] = s->variance;
		m->site_covariance[i] = s->covariance;
	}
	return 0;
}

static int pack_accesses(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m)
{
	size_t count = o->access_count;

	if (!RECORD_COLUMN(a, m, access_site, count) || !RECORD_COLUMN(a, m, access_node, count) ||
	    !RECORD_COLUMN(a, m, access_location, count) ||
	    !RECORD_COLUMN(a, m, access_samples, count) ||
	    !RECORD_COLUMN(a, m, access_metric, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->access_site[i] = o->accesses[i].site;
		m->access_node[i] = o->accesses[i].node;
		m->access_location[i] = o->accesses[i].location;
		m->access_samples[i] = o->accesses[i].samples;
		m->access_metric[i] = o->accesses[i].metric;
	}
	return 0;
}

int record_pack_objects(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m)
{
	int r;

	jxp__stored_objects__init(m);
	r = pack_sites(a, o, m);
	if (r == 0)
		r = pack_accesses(a, o, m);
	if (r == 0)
		r = record_pack_classes(a, o, m);
	if (r == 0 && (!RECORD_COLUMN(a, m, untracked_samples, OBJECT_PROFILE_REGIONS) ||
		       !RECORD_COLUMN(a, m, untracked_metric, OBJECT_PROFILE_REGIONS)))
		r = -ENOMEM;
	if (r < 0)
		return r;
	for (size_t i = 0; i < OBJECT_PROFILE_REGIONS; i++) {
		m->untracked_samples[i] = o->untracked[i].samples;
		m->untracked_metric[i] = o->untracked[i].metric;
	}
	m->attributed_samples = o->attributed.samples;
	m->attributed_metric = o->attributed.metric;
	m->unsettled_samples = o->unsettled.samples;
	m->unsettled_metric = o->unsettled.metric;
	m->estimated = o->estimated;
	m->variance = o->variance;
	m->heap_squares = o->heap_squares;
	m->judged_ns = object_profile_judged_ns(o);
	return 0;
}

static bool site_columns_match(const Jxp__StoredObjects *m)
{
	size_t count = m->n_site_class;

	return m->n_site_node == count && m->n_site_allocations == count &&
	       m->n_site_alloc_count == count && m->n_site_alloc_bytes == count &&
	       m->n_site_live_count == count && m->n_site_live_bytes == count &&
	       m->n_site_uncollected_count == count && m->n_site_uncollected_bytes == count &&
	       m->n_site_samples == count && m->n_site_metric == count &&
	       m->n_site_variance == count && m->n_site_covariance == count &&
	       (m->n_site_alloc_squares == 0 || m->n_site_alloc_squares == count) &&
	       (m->n_site_untracked == 0 || m->n_site_untracked == count) &&
	       m->n_site_untracked_bytes == m->n_site_untracked;
}

/* What lives can come out a little below 0, as a difference of sums. */
static bool site_is_valid(const struct object_site *s, double uncollected_count,
			  double uncollected_bytes)
{
	return record_is_sum(s->alloc_count) && record_is_sum(s->alloc_bytes) &&
	       record_is_sum(s->alloc_squares) && s->untracked <= s->allocations &&
	       record_is_sum(s->untracked_bytes) && isfinite(s->live_count) &&
	       isfinite(s->live_bytes) && isfinite(uncollected_count) &&
	       isfinite(uncollected_bytes) && record_is_sum(s->metric) && isfinite(s->variance) &&
	       isfinite(s->covariance);
}

static int unpack_sites(const Jxp__StoredObjects *m, const struct profile *p,
			struct object_profile *o)
{
	int r = 0;

	if (!site_columns_match(m))
		return -EBADMSG;
	for (size_t i = 0; i < m->n_site_class && r == 0; i++) {
		struct object_site s = {
		    .class_name = m->site_class[i],
		    .node = m->site_node[i],
		    .allocations = m->site_allocations[i],
		    .alloc_count = m->site_alloc_count[i],
		    .alloc_bytes = m->site_alloc_bytes[i],
		    .alloc_squares = m->n_site_alloc_squares ? m->site_alloc_squares[i] : 0,
		    .untracked = m->n_site_untracked ? m->site_untracked[i] : 0,
		    .untracked_bytes = m->n_site_untracked ? m->site_untracked_bytes[i] : 0,
		    .live_count = m->site_live_count[i],
		    .live_bytes = m->site_live_bytes[i],
		    .samples = m->site_samples[i],
		    .metric = m->site_metric[i],
		    .variance = m->site_variance[i],
		    .covariance = m->site_covariance[i]};
		uint32_t site = 0;

		if (!record_has_text(p, s.class_name) || !record_has_node(p, s.node) ||
		    !site_is_valid(&s, m->site_uncollected_count[i], m->site_uncollected_bytes[i]))
			return -EBADMSG;
		object_site_set_uncollected(&s, m->site_uncollected_count[i],
					    m->site_uncollected_bytes[i]);
		r = object_profile_site(o, s.class_name, s.node, &site);
		if (r == 0 && site == i)
			o->sites[i] = s;
		else if (r != -ENOMEM)
			r = -EBADMSG;
	}
	return r;
}

static int unpack_accesses(const Jxp__StoredObjects *m, const struct profile *p,
			   struct object_profile *o)
{
	size_t count = m->n_access_site;
	int r = 0;

	if (m->n_access_node != count || m->n_access_samples != count ||
	    m->n_access_metric != count ||
	    (m->n_access_location != count && m->n_access_location != 0))
		return -EBADMSG;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct site_access access = {.site = m->access_site[i],
					     .node = m->access_node[i],
					     .location =
						 m->n_access_location ? m->access_location[i] : 0,
					     .samples = m->access_samples[i],
					     .metric = m->access_metric[i]};

		if (access.site >= o->site_count || !record_has_node(p, access.node) ||
		    !record_has_location(p, access.location) || !record_is_sum(access.metric))
			return -EBADMSG;
		r = object_profile_add_access(o, &access);
		if (r == -ENOSPC || (r == 0 && o->access_count != i + 1))
			r = -EBADMSG;
	}
	return r;
}

static int unpack_sums(const Jxp__StoredObjects *m, struct object_profile *o)
{
	if (m->n_untracked_samples != m->n_untracked_metric ||
	    m->n_untracked_samples > OBJECT_PROFILE_REGIONS ||
	    !record_is_sum(m->attributed_metric) || !record_is_sum(m->unsettled_metric) ||
	    !record_is_sum(m->estimated) || !isfinite(m->variance) ||
	    !record_is_sum(m->heap_squares))
		return -EBADMSG;
	for (size_t i = 0; i < m->n_untracked_samples; i++) {
		if (!record_is_sum(m->untracked_metric[i]))
			return -EBADMSG;
		o->untracked[i] =
		    (struct access_sum){m->untracked_samples[i], m->untracked_metric[i]};
	}
	o->attributed = (struct access_sum){m->attributed_samples, m->attributed_metric};
	o->unsettled = (struct access_sum){m->unsettled_samples, m->unsettled_metric};
	o->estimated = m->estimated;
	o->variance = m->variance;
	o->heap_squares = m->heap_squares;
	return 0;
}

int record_unpack_objects(const Jxp__StoredObjects *m, const struct profile *p,
			  struct object_profile *o)
{
	int r = unpack_sums(m, o);

	object_profile_close(o, m->judged_ns);
	if (r == 0)
		r = unpack_sites(m, p, o);
	if (r == 0)
		r = unpack_accesses(m, p, o);
	if (r == 0)
		r = record_unpack_classes(m, p, o);
	return r;
}

/* ---------------------------------------------------------------- NUMA nodes */

/* The columns of a site that have a value for each node. */
static bool site_columns(struct arena *a, size_t values, Jxp__StoredNuma *m)
{
	return RECORD_COLUMN(a, m, accessed_from, values) && RECORD_COLUMN(a, m, page_on, values) &&
	       RECORD_COLUMN(a, m, allocated_on, values) &&
	       RECORD_COLUMN(a, m, first_touch, values);
}

int record_pack_numa(struct arena *a, const struct numa_profile *n, unsigned nodes,
		     Jxp__StoredNuma *m)
{
	jxp__stored_numa__init(m);
	m->nodes = nodes;
	m->touch_traced = n->touch_traced;
	m->samples = n->samples;
	m->remote_samples = n->remote_samples;
	m->unplaced = n->unplaced;
	m->sites_dropped = n->sites_dropped;
	if (!RECORD_COLUMN(a, m, matrix, (size_t)nodes * nodes) ||
	    !RECORD_COLUMN(a, m, site, n->site_count) ||
	    !RECORD_COLUMN(a, m, site_samples, n->site_count) ||
	    !RECORD_COLUMN(a, m, remote, n->site_count) ||
	    !RECORD_COLUMN(a, m, local, n->site_count) ||
	    !site_columns(a, n->site_count * nodes, m))
		return -ENOMEM;
	for (unsigned from = 0; from < nodes; from++)
		memcpy(m->matrix + (size_t)from * nodes, n->matrix[from], nodes * sizeof(double));
	for (size_t i = 0; i < n->site_count; i++) {
		const struct numa_site *s = &n->sites[i];

		m->site[i] = s->site;
		m->site_samples[i] = s->samples;
		m->remote[i] = s->remote;
		m->local[i] = s->local;
		memcpy(m->accessed_from + i * nodes, s->accessed_from, nodes * sizeof(double));
		memcpy(m->page_on + i * nodes, s->page_on, nodes * sizeof(double));
		memcpy(m->allocated_on + i * nodes, s->allocated_on, nodes * sizeof(double));
		memcpy(m->first_touch + i * nodes, s->first_touch, nodes * sizeof(double));
	}
	return 0;
}

static bool are_sums(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!record_is_sum(values[i]))
			return false;
	return true;
}

static bool numa_is_valid(const Jxp__StoredNuma *m, unsigned nodes)
{
	size_t sites = m->n_site, values = sites * nodes;

	return m->nodes == nodes && m->n_matrix == (size_t)nodes * nodes &&
	       m->n_site_samples == sites && m->n_remote == sites && m->n_local == sites &&
	       m->n_accessed_from == values && m->n_page_on == values &&
	       m->n_allocated_on == values && m->n_first_touch == values &&
	       sites <= NUMA_SITES_MAX && m->remote_samples <= m->samples &&
	       are_sums(m->matrix, m->n_matrix) && are_sums(m->remote, sites) &&
	       are_sums(m->local, sites) && are_sums(m->accessed_from, values) &&
	       are_sums(m->page_on, values) && are_sums(m->allocated_on, values) &&
	       are_sums(m->first_touch, values);
}

int record_unpack_numa(const Jxp__StoredNuma *m, unsigned nodes, size_t sites,
		       struct numa_profile *n)
{
	if (!numa_is_valid(m, nodes))
		return -EBADMSG;
	n->touch_traced = m->touch_traced;
	n->samples = m->samples;
	n->remote_samples = m->remote_samples;
	n->unplaced = m->unplaced;
	n->sites_dropped = m->sites_dropped;
	for (unsigned from = 0; from < nodes; from++)
		memcpy(n->matrix[from], m->matrix + (size_t)from * nodes, nodes * sizeof(double));
	for (size_t i = 0; i < m->n_site; i++) {
		struct numa_site s = {.site = m->site[i],
				      .samples = m->site_samples[i],
				      .remote = m->remote[i],
				      .local = m->local[i]};
		int r;

		if (s.site >= sites || numa_profile_site(n, s.site))
			return -EBADMSG;
		memcpy(s.accessed_from, m->accessed_from + i * nodes, nodes * sizeof(double));
		memcpy(s.page_on, m->page_on + i * nodes, nodes * sizeof(double));
		memcpy(s.allocated_on, m->allocated_on + i * nodes, nodes * sizeof(double));
		memcpy(s.first_touch, m->first_touch + i * nodes, nodes * sizeof(double));
		r = numa_profile_add_site(n, &s);
		if (r < 0)
			return r;
	}
	return 0;
}
