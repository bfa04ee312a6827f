/*
 * What only a window that was merged from others has (profile/combine/merge.h): of how many, what
 * could not be added or was different, and how much they differ from each other.
 */
#ifndef JXPERF_PROFILE_WINDOW_MERGED_H
#define JXPERF_PROFILE_WINDOW_MERGED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/kinds.h"

/* Windows that follow each other make a batch: so many at most (profile/combine/batches.h). With
 * fewer than the second number nothing is said of how allocation sites differ. */
#define MERGED_BATCHES      16u
#define MERGED_SITE_BATCHES 8u

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
	MERGED_OTHER_SCHEDULE,
	MERGED_OTHER_APP,
	MERGED_OTHER_JDK,
	MERGED_OTHER_GC,
	MERGED_OTHER_PERIOD,
	MERGED_OTHER_OBJECT_SIZE,
	MERGED_NO_OBJECTS,
	MERGED_CUT_SHORT,
	MERGED_RUNNING,
	MERGED_OTHER_AGENT,
	MERGED_OTHER_VERSION,
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

/* A kind is of the windows that were for it, and not of the others; KIND_NONE stands for all. */
struct merged_kind {
	unsigned windows;
	uint64_t elapsed_ns;
	double whole_ns; /* the sum of what shares of CPU time are of in each, */
	double ticks;    /* and their ticks, */
	double tick_ns;  /* which stand for so much */
	double after;    /* no tick stands for this part of it (window_result_after_ns) */
	unsigned batches;
};

/* How windows differ more than what was sampled in them (profile/combine/batches.h). */
struct merged_spread {
	double excess;  /* the variance between them, as a multiple of sampling's, */
	double freedom; /* and its degrees of freedom, at least 1 */
	double effect;  /* by what sampling's variance is multiplied for 95%, at least 1 */
};

/* Names that windows have in common, and how many do: of the first so many names. */
#define MERGED_NAMES 8u
struct merged_names {
	struct {
		char name[MERGED_DETAIL_BYTES]; /* may be cut */
		unsigned windows;
	} names[MERGED_NAMES];
	unsigned count;
	unsigned more; /* windows with other names */
};

/* A table of which only the rows that weigh most are in the merge. */
#define MERGED_CUTS 16u
struct merged_cut {
	const char *table;     /* its name, which is constant */
	uint64_t observations; /* of the other rows, which are in sums only, */
	uint64_t all;          /* and of all rows */
};

struct window_merged {
	unsigned windows;     /* in the merge, */
	unsigned skipped;     /* and not */
	unsigned first, last; /* the least and the largest of their numbers */
	unsigned processes;   /* of the target, by pid; */
	bool more_processes;  /* there were more */
	struct merged_kind kinds[KIND_VALUES];
	struct merged_names apps;
	struct merged_names schedules; /* "": somebody asked */
	struct merged_difference notes[MERGED_NOTES];
	struct merged_cut cuts[MERGED_CUTS];
	unsigned cut_count;
	unsigned hosts;   /* that they came from, where a fleet was asked; 0: all are of this one */
	bool by_hosts;    /* intervals say how hosts differ, and not batches of windows */
	unsigned batches; /* of the kind that has most, and of windows that track objects */
	unsigned object_batches;
	/* Sums of each batch, for ratios: by kind, all and wasteful checked bytes; */
	double checked[KIND_VALUES][MERGED_BATCHES];
	double wasteful[KIND_VALUES][MERGED_BATCHES];
	double heap[MERGED_BATCHES];     /* what object_profile_heap is, */
	double (*sites)[MERGED_BATCHES]; /* and the metric of each allocation site */
	/* Of each context of the CPU profile, CPU time; NULL where that is not known. What it is of
	 * is wholes of KIND_CPU, and cpu of that kind the collector's threads'. */
	double (*contexts)[MERGED_BATCHES];
	double wholes[KIND_VALUES][MERGED_BATCHES];   /* likewise, by kind, CPU time, */
	double cpu[KIND_VALUES][MERGED_BATCHES];      /* and that at its wasteful accesses */
	struct merged_spread fractions[KIND_VALUES];  /* of checked bytes, and */
	struct merged_spread cpu_shares[KIND_VALUES]; /* of CPU time */
};

/* Were the same windows for both? */
static inline bool merged_kind_is_of_same(const struct merged_kind *a, const struct merged_kind *b)
{
	return a->windows == b->windows && a->elapsed_ns == b->elapsed_ns;
}

/* Was any of the windows not for one of the kinds that others were for? */
bool window_merged_kinds_differ(const struct window_merged *m);

/* So many windows more, the first of them (0: unknown), what was the matter with it or what it was
 * there: said of the first that come. */
void merged_note(struct window_merged *m, enum merged_note which, unsigned windows, unsigned first,
		 const char *detail);

/* So many windows more with the name. */
void merged_names_add(struct merged_names *n, const char *name, unsigned windows);

/* NULL without memory. */
struct window_merged *window_merged_new(void);

/* free(NULL) is safe. */
void window_merged_free(struct window_merged *m);

#endif
