/*
 * The difference of two windows as data: what daemon/combine/diff.h makes, and reports write down.
 */
#ifndef JXPERF_DAEMON_COMBINE_DIFFERENCE_H
#define JXPERF_DAEMON_COMBINE_DIFFERENCE_H

#include "daemon/combine/share.h"
#include "daemon/window/result.h"

/* The chance of any false alarm, over everything that is tested. */
#define DIFF_LEVEL 0.01

/* Rows with fewer observations in both windows together are never called. */
#define DIFF_COUNT_MIN 10u

enum diff_verdict { DIFF_NONE, DIFF_MORE, DIFF_LESS };

/* Of a difference that was tested: p is Holm's, to be compared with DIFF_LEVEL. */
struct diff_test {
	struct share_comparison share;
	double p;
	enum diff_verdict verdict; /* of B: more than A, or less */
};

/* One kind of pairs, or, without one, allocation sites, which have no fraction as a whole. */
struct diff_kind {
	const struct pair_kind *pairs;
	struct share_whole whole[2];
	bool compared; /* both were asked for it, and have something to compare */
	struct interval ci95[2];
	struct diff_test test; /* of pairs */
};

struct diff_row {
	unsigned kind;  /* of the diff's kinds */
	uint32_t watch; /* a method of its names; of sites the class, a text; */
	uint32_t trap;  /* of sites the method that allocates */
	uint64_t count; /* observations, in both */
	struct diff_test test;
	bool explains;        /* its kind's fraction was called different, in its direction */
	size_t first_context; /* of the diff's contexts, most of the difference first; only */
	size_t context_count; /* a row that is called different has some */
};

struct diff_context {
	uint32_t row;   /* its position */
	uint32_t watch; /* nodes of the diff's names; of sites where they are allocated, */
	uint32_t trap;  /* and 0 */
	double share[2];
};

#define DIFF_KINDS (PAIR_KINDS + 1)

struct diff {
	const struct window_result *side[2]; /* A and B, borrowed */
	struct profile names;                /* methods and contexts of both; no pairs */
	uint64_t losses[LOSS_MAX];           /* of names that did not fit */
	struct diff_kind kinds[DIFF_KINDS];
	size_t kind_count;
	struct diff_row
	    *rows; /* what is called different first, in the order of daemon/combine/diff.h */
	size_t row_count;
	size_t called_rows;
	unsigned tested; /* kinds and rows */
	struct diff_context *contexts;
	size_t context_count;
};

#endif
