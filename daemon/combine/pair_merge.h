/*
 * The pairs and totals of a merge: weighted sums as they grow, in doubles, which become the
 * integers of a profile once, at the end.
 */
#ifndef JXPERF_DAEMON_COMBINE_PAIR_MERGE_H
#define JXPERF_DAEMON_COMBINE_PAIR_MERGE_H

#include "daemon/combine/names.h"
#include "daemon/window/merged.h"
#include "daemon/window/result.h"

struct pair_sums {
	double checked;
	double wasteful;
	double squares; /* of a pair's wasteful observations, of a total's all */
};

/* All zero is empty. */
struct pair_merge {
	struct pair_sums *pairs; /* of each pair of the merge's profile */
	size_t capacity;
	size_t batch_capacity; /* of the facts' pairs */
	struct pair_sums application[KIND_VALUES];
	struct pair_sums jvm[KIND_VALUES];
};

/* Adds the pairs of w to those of to, whose names map has; weight: of each observation; batch: of w
 * (daemon/combine/batches.h). 0 or -ENOMEM. */
int pair_merge_add(struct pair_merge *m, struct window_result *to, const struct window_result *w,
		   const struct names_map *map, double weight, unsigned batch);

/* The batches of facts became half as many. */
void pair_merge_fold(struct window_merged *facts, size_t pairs);

/* Everything into the profile of to and its facts, times scale. */
void pair_merge_finish(struct pair_merge *m, struct window_result *to, double scale);

void pair_merge_release(struct pair_merge *m);

#endif
