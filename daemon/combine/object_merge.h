/*
 * The allocation sites of a merge, accesses to their objects, and NUMA nodes. Their sums are
 * doubles in a window, too, so these grow in the merge's own profiles.
 *
 * Counts and bytes of allocations are sums: what was allocated in these windows. What lives at the
 * end of a window is no sum: it is averaged over the time that the windows stand for.
 */
#ifndef JXPERF_DAEMON_COMBINE_OBJECT_MERGE_H
#define JXPERF_DAEMON_COMBINE_OBJECT_MERGE_H

#include "daemon/combine/names.h"
#include "daemon/window/merged.h"
#include "daemon/window/result.h"

struct uncollected {
	double count;
	double bytes;
};

/* All zero is empty. */
struct object_merge {
	struct uncollected *sites; /* of each site of the merge's object profile */
	size_t capacity;
	size_t batch_capacity; /* of the facts' sites */
	double estimated[MERGED_BATCHES];
	double stands_for_s; /* of all windows that tracked objects */
	double heap;         /* accesses to the heap as sampled, */
	double weighted;     /* and weighted */
};

/* Adds the sites of w to those of to, whose names map has. weight: of each access, beside its own;
 * stands_for_s: what w does. 0 or -ENOMEM. */
int object_merge_add(struct object_merge *m, struct window_result *to,
		     const struct window_result *w, const struct names_map *map, double weight,
		     double stands_for_s, unsigned batch);

/* The batches became half as many. */
void object_merge_fold(struct object_merge *m, struct window_merged *facts, size_t sites);

/* Weights so that their mean is 1, averages, and how windows differ. */
void object_merge_finish(struct object_merge *m, struct window_result *to);

void object_merge_release(struct object_merge *m);

#endif
