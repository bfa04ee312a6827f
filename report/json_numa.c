/* NUMA in the JSON report: "numa", over all accesses to the heap, and the member of the same name
 * of each allocation site. */
#include "report/json_parts.h"

#include "profile/estimate.h"
#include "report/content/numa_advice.h"

/* [{"node": id, "fraction": f}], largest share first; [] when all sums are 0. */
static json_t *shares_json(const struct numa_topology *t, const double *sums)
{
	double left[NUMA_NODES_MAX], sum = 0, share;
	json_t *list = json_array();
	uint8_t node;

	for (unsigned i = 0; i < t->node_count; i++) {
		left[i] = sums[i];
		sum += sums[i];
	}
	while ((node = numa_largest(left, t->node_count, &share)) != NUMA_NONE) {
		left[node] = 0;
		list =
		    json_appended(list, json_pack("{s:i, s:f}", "node", (int)t->node_id[node],
						  "fraction", estimate_fraction(sums[node], sum)));
	}
	return list;
}

json_t *report_json_site_numa(const struct report_model *m, const struct numa_site *s)
{
	const struct numa_topology *t = m->numa.topology;
	char advice[NUMA_ADVICE_BYTES];
	double share;
	uint8_t alloc = numa_largest(s->allocated_on, t->node_count, &share);
	const char *given = numa_advice(s, t, m->window->always_pretouch, advice) ? advice : NULL;

	return JSON_OBJECT({"samples", json_integer((json_int_t)s->samples)},
			   {"remote_fraction", json_real(numa_site_remote_fraction(s))},
			   {"alloc_node", alloc == NUMA_NONE
					      ? json_null()
					      : json_integer((json_int_t)t->node_id[alloc])},
			   {"first_touch", shares_json(t, s->first_touch)},
			   {"page_on", shares_json(t, s->page_on)},
			   {"accessed_from", shares_json(t, s->accessed_from)},
			   JSON_MEMBER_IF_ANY("advice", given));
}

/* [accessing node][node of the page] */
static json_t *matrix_json(const struct report_numa *n)
{
	json_t *matrix = json_array();

	for (unsigned from = 0; from < n->topology->node_count; from++) {
		json_t *row = json_array();

		for (unsigned page = 0; page < n->topology->node_count; page++)
			row = json_appended(row, json_real(n->matrix[from][page]));
		matrix = json_appended(matrix, row);
	}
	return matrix;
}

static json_t *node_ids_json(const struct numa_topology *t)
{
	json_t *ids = json_array();

	for (unsigned i = 0; i < t->node_count; i++)
		ids = json_appended(ids, json_integer((json_int_t)t->node_id[i]));
	return ids;
}

json_t *report_json_numa(const struct report_model *m)
{
	const struct numa_profile *p = &m->window->numa;
	const struct report_numa *n = &m->numa;

	if (!n->asked)
		return json_null();
	if (!n->measured)
		return json_pack("{s:i, s:n, s:[], s:s}", "nodes", 1, "remote_fraction", "matrix",
				 "note",
				 "this machine has one NUMA node: there is nothing to measure");
	return JSON_OBJECT({"nodes", json_integer((int)n->topology->node_count)},
			   {"node_ids", node_ids_json(n->topology)},
			   {"samples", json_integer((json_int_t)p->samples)},
			   {"remote_samples", json_integer((json_int_t)p->remote_samples)},
			   {"unplaced", json_integer((json_int_t)p->unplaced)},
			   {"remote_fraction", json_known(p->samples, n->remote_fraction)},
			   {"matrix", matrix_json(n)},
			   {"first_touch_traced", json_boolean(p->touch_traced)},
			   {"always_pretouch", json_boolean(m->window->always_pretouch)},
			   {"sites_dropped", json_integer((json_int_t)p->sites_dropped)});
}
