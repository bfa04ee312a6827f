/*
 * What only a window that was merged from others has (profile/combine/merge.h): of how many, what
 * could not be added or was different, and how much they differ from each other.
 */
#ifndef JXPERF_PROFILE_WINDOW_MERGED_H
#define JXPERF_PROFILE_WINDOW_MERGED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/kinds.h"

/* Windows that follow each other make a batch: so many at most, and with fewer than the second
 * number nothing is said of how they differ (profile/combine/batches.h). */
#define MERGED_BATCHES     16u
#define MERGED_BATCHES_MIN 8u

#define MERGED_DETAIL_BYTES 64

/* Why a window is not in the merge; then, in what one that is differs from the first. */
enum merged_note {
	MERGED_NO_PROFILE,
	MERGED_OTHER_SAMPLER,
	MERGED_OTHER_KINDS,
	MERGED_OTHER_NODES,
	MERGED_NO_ACCOUNT,
	MERGED_UNREADABLE,
	MERGED_OLDER,
	MERGED_FUTURE,
	MERGED_OTHER_APP,
	MERGED_OTHER_JDK,
	MERGED_OTHER_GC,
	MERGED_OTHER_PERIOD,
	MERGED_OTHER_OBJECT_SIZE,
	MERGED_NO_OBJECTS,
	MERGED_CUT_SHORT,
	MERGED_RUNNING,
	MERGED_OTHER_AGENT,
	MERGED_NOTES,
};

struct merged_note_words {
	const char *name;     /* in JSON */
	const char *sentence; /* for people, after the number of windows */
	bool skipped;         /* such a window is not in the merge */
};

/* By enum merged_note. */
extern const struct merged_note_words merged_note_words[MERGED_NOTES];

struct merged_difference {
	unsigned windows;
	unsigned first;                   /* number of the first of them, or 0, */
	char detail[MERGED_DETAIL_BYTES]; /* and what it was there; or "" */
};

struct window_merged {
	unsigned windows;     /* in the merge, */
	unsigned skipped;     /* and not */
	unsigned first, last; /* the least and the largest of their numbers */
	unsigned processes;   /* of the target, by pid; */
	bool more_processes;  /* there were more */
	double whole_ns;      /* the sum of what shares of CPU time are of in each */
	struct merged_difference notes[MERGED_NOTES];
	/* Sums of each batch, for ratios: by kind, all and wasteful checked bytes; */
	unsigned batches;
	double checked[KIND_VALUES][MERGED_BATCHES];
	double wasteful[KIND_VALUES][MERGED_BATCHES];
	double heap[MERGED_BATCHES];             /* what object_profile_heap is, */
	double (*sites)[MERGED_BATCHES];         /* and the metric of each allocation site */
	double wholes[MERGED_BATCHES];           /* likewise CPU time, */
	double cpu[KIND_VALUES][MERGED_BATCHES]; /* and that at wasteful accesses of each kind */
	/* What a kind's sum_squares would have to be for its interval to say how windows differ,
	 * or 0 where that is not known. */
	double squares[KIND_VALUES];
	/* By what variances of a kind's share of CPU time are larger than sampling's, at least 1.
	 */
	double cpu_effect[KIND_VALUES];
};

/* NULL without memory. */
struct window_merged *window_merged_new(void);

/* free(NULL) is safe. */
void window_merged_free(struct window_merged *m);

#endif
