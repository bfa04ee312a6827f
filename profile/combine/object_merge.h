/*
 * Merges what is not added up by itself of the allocation sites of a merge
 * (profile/combine/row_merge.h): how windows differ, and what lives at the end of a window. That is
 * no sum: it is averaged over the time that the windows stand for.
 */
#ifndef JXPERF_PROFILE_COMBINE_OBJECT_MERGE_H
#define JXPERF_PROFILE_COMBINE_OBJECT_MERGE_H

#include "profile/combine/batches.h"
#include "profile/combine/row_merge.h"
#include "profile/window/merged.h"
#include "profile/window/result.h"

struct uncollected {
	double count;
	double bytes;
};

/* All zero is empty. */
struct object_merge {
	struct batch_clock clock;  /* of windows that track objects */
	struct uncollected *sites; /* of each site of the merge's object profile */
	size_t capacity;
	size_t batch_capacity; /* of the facts' sites */
	double estimated[MERGED_BATCHES];
	double stands_for_s; /* of all windows that tracked objects */
	double heap;         /* accesses to the heap as sampled, */
	double weighted;     /* and weighted */
};

/* Adds the sites of a window whose rows were, if it tracked objects. stands_for_s: what it does. 0
 * or -ENOMEM. */
int object_merge_add(struct object_merge *m, const struct row_merge *rows, double stands_for_s);

/* Room for the sums of so many sites. 0 or -ENOMEM. */
int object_merge_reserve(struct object_merge *m, struct window_merged *facts, size_t count);

/* By what weights are multiplied so that their mean is 1, and what lives so that it is an average.
 */
double object_merge_scale(const struct object_merge *m);
double object_merge_share(const struct object_merge *m);

/* Tells how windows differ in the rows of to, which were multiplied by these. */
void object_merge_finish(struct object_merge *m, struct window_result *to);

void object_merge_release(struct object_merge *m);

#endif
