#include "report/content/numa_advice.h"

#include <stdio.h>

/* Fewer samples, or a smaller remote share, are no reason to change a program. */
#define LEAST_SAMPLES 20
#define LEAST_REMOTE  0.3

/* Pages or accesses that are "all" on one node. */
#define ALMOST_ALL 0.8

bool numa_advice(const struct numa_site *s, const struct numa_topology *t, bool pretouched,
		 char text[NUMA_ADVICE_BYTES])
{
	double page_share, from_share, alloc_share, touch_share;
	uint8_t page = numa_largest(s->page_on, t->node_count, &page_share);
	uint8_t from = numa_largest(s->accessed_from, t->node_count, &from_share);
	uint8_t alloc = numa_largest(s->allocated_on, t->node_count, &alloc_share);
	uint8_t touch = numa_largest(s->first_touch, t->node_count, &touch_share);

	if (s->samples < LEAST_SAMPLES || numa_site_remote_fraction(s) < LEAST_REMOTE ||
	    page == NUMA_NONE || from == NUMA_NONE)
		return false;
	if (page_share < ALMOST_ALL) {
		(void)snprintf(text, NUMA_ADVICE_BYTES,
			       "pages lie on several nodes, and threads access those of others: "
			       "give each thread its own part of the data, or keep threads on the "
			       "nodes of theirs (-XX:+UseNUMA, numactl --cpunodebind)");
	} else if (from_share < ALMOST_ALL) {
		(void)snprintf(
		    text, NUMA_ADVICE_BYTES,
		    "all pages lie on node %u, and threads of several nodes access them: "
		    "let each thread initialise the part that it works on (parallel "
		    "first touch), or interleave the pages (numactl --interleave)",
		    t->node_id[page]);
	} else if (pretouched || (alloc == from && alloc_share >= ALMOST_ALL &&
				  (touch == NUMA_NONE || touch != alloc))) {
		(void)snprintf(
		    text, NUMA_ADVICE_BYTES,
		    "threads of node %u access pages of node %u that were touched before "
		    "the objects came to lie there (%s): -XX:+UseNUMA, or a JVM bound to "
		    "one node (numactl --cpunodebind --membind)",
		    t->node_id[from], t->node_id[page],
		    pretouched ? "AlwaysPreTouch" : "by the collector, or an earlier use");
	} else {
		(void)snprintf(
		    text, NUMA_ADVICE_BYTES,
		    "initialised on node %u, accessed from node %u: let the threads that "
		    "use the data allocate and initialise it, or keep them on node %u",
		    t->node_id[page], t->node_id[from], t->node_id[page]);
	}
	return true;
}
