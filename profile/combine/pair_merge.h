/*
 * The bytes of a merge's pairs and totals: weighted sums as they grow, in doubles, which become the
 * integers of a profile once, at the end. What is counted of them, and their CPU time, grows in its
 * place (profile/combine/row_merge.h).
 */
#ifndef JXPERF_PROFILE_COMBINE_PAIR_MERGE_H
#define JXPERF_PROFILE_COMBINE_PAIR_MERGE_H

#include "profile/combine/row_merge.h"
#include "profile/window/merged.h"
#include "profile/window/result.h"

struct pair_sums {
	double checked;
	double wasteful;
	double squares; /* of a pair's wasteful observations, of a total's all */
};

/* The totals of a kind. */
struct kind_sums {
	struct pair_sums application;
	struct pair_sums regions[PROFILE_REGIONS];
	struct pair_sums jvm;
};

/* The weights of each observation: its bytes, and the CPU time that it stands for. */
struct pair_weights {
	double observation;
	double cpu;
};

/* All zero is empty. */
struct pair_merge {
	struct pair_sums *pairs; /* of each pair of the merge's profile */
	size_t capacity;
	struct kind_sums kinds[KIND_VALUES];
};

/* Adds the pairs of a window whose rows were; batch: its own (profile/combine/batches.h). 0 or
 * -ENOMEM. */
int pair_merge_add(struct pair_merge *m, const struct row_merge *rows,
		   const struct pair_weights *weights, unsigned batch);

/* The batches of facts became half as many. */
void pair_merge_fold(struct window_merged *facts);

/* Everything into the profile of to and its facts, times scale. The counters of to are final, and
 * its rows were multiplied by the scale of CPU time. */
void pair_merge_finish(struct pair_merge *m, struct window_result *to,
		       const struct pair_weights *scale);

void pair_merge_release(struct pair_merge *m);

#endif
