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

/* What a kind of pairs takes of a window: its batch among those that have the kind. */
struct pair_batch {
	bool taken;
	bool fold; /* before that, batches became half as many */
	unsigned batch;
};

/* What is summed up of windows, to tell how they differ. */
struct pair_cluster {
	double checked, wasteful; /* bytes; */
	double cpu, whole;        /* CPU time at wasteful accesses, and all */
};

/* Adds a window's to those of its batch, which is taken. */
void pair_merge_batch(struct window_merged *facts, Jxp__Kind kind, const struct pair_batch *b,
		      const struct pair_cluster *window);

/* All zero is empty. */
struct pair_merge {
	struct pair_sums *pairs; /* of each pair of the merge's profile */
	size_t capacity;
	struct kind_sums kinds[KIND_VALUES];
};

/* Adds the pairs of a window whose rows were; batches: by kind (profile/combine/batches.h). 0 or
 * -ENOMEM. */
int pair_merge_add(struct pair_merge *m, const struct row_merge *rows,
		   const struct pair_weights *weights, const struct pair_batch *batches);

/* Everything into the profile of to and its facts, times the scale of its kind. What else the facts
 * say of kinds, and the rows of to, are final, but for WEIGHT_PAIRS. */
void pair_merge_finish(struct pair_merge *m, struct window_result *to,
		       const struct pair_weights scales[KIND_VALUES]);

/* Room for the sums of so many pairs. 0 or -ENOMEM. */
int pair_merge_reserve(struct pair_merge *m, size_t count);

/* Those of clusters of the kind's windows: hosts, say. */
struct pair_clusters {
	const double *checked, *wasteful, *cpu, *wholes;
	unsigned count;
};

/* Tells w's facts by how much they differ, in a merge that is finished: only ratios of sums count.
 */
void pair_merge_clusters(struct window_result *w, Jxp__Kind kind, const struct pair_clusters *c);

void pair_merge_release(struct pair_merge *m);

#endif
