/*
 * What differs between two windows A and B, each one window or many that were merged: for each kind
 * the fractions of both, and rows of what became more and what less.
 *
 * A row is a pair of leaf methods, of the first and of the second access: without lines, bytecodes
 * and callers, so that a new build's line numbers do not make everything different; or the class of
 * an allocation site and the method that allocates. Below one are the contexts, by methods, that
 * carry most of its difference. Methods are met by class and name (daemon/combine/names.h).
 *
 * All kinds, and all rows with enough observations on both sides together, are tested
 * (daemon/combine/share.h), and called different by Holm's procedure: when nothing differs, the
 * chance that anything is called is at most DIFF_LEVEL, as far as the variances are right. That is
 * stricter than the usual 5% because a program's phases make them too small. How often a row was
 * seen in both together says nothing of a difference, so choosing rows by it spoils no test.
 *
 * Fractions are of what was checked: where one falls to nothing, the others rise by their part of
 * it. The row that was repaired has the largest difference, and rows are in that order: by the
 * least that the difference may be (the end of its 95% interval next to 0).
 *
 * Read-only once made. It takes some 600 bytes for each pair of methods while it is made.
 */
#ifndef JXPERF_DAEMON_COMBINE_DIFF_H
#define JXPERF_DAEMON_COMBINE_DIFF_H

#include "common/err.h"
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
	struct diff_row *rows; /* what is called different first, by the least it may be */
	size_t row_count;
	size_t called_rows;
	unsigned tested; /* kinds and rows */
	struct diff_context *contexts;
	size_t context_count;
};

/* Nothing may change a and b until the diff is released. 0; -EINVAL with the reason when they
 * cannot be compared; -ENOMEM. Nothing is held then. */
int diff_init(struct diff *d, const struct window_result *a, const struct window_result *b,
	      struct err *err);
void diff_release(struct diff *d);

/* The difference of a kind's fraction that would have been called, had all else been alike. */
double diff_visible(const struct diff *d, const struct diff_kind *kind);

#endif
