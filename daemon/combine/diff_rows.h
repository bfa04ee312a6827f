/*
 * The rows of a diff while they are collected: sums of both windows over pairs of the same leaf
 * methods, and then over the contexts of those that are called different.
 */
#ifndef JXPERF_DAEMON_COMBINE_DIFF_ROWS_H
#define JXPERF_DAEMON_COMBINE_DIFF_ROWS_H

#include "daemon/combine/difference.h"
#include "daemon/combine/names.h"
#include "daemon/container/hash_index.h"

/* What makes a row, or a context below one; no padding, so that it can be hashed as bytes. */
struct diff_key {
	uint32_t owner; /* a row's kind, a context's row */
	uint32_t watch;
	uint32_t trap;
};

struct diff_sums {
	struct diff_key key;
	struct share_part part[2];
};

/* All zero is empty. */
struct diff_sums_table {
	struct diff_sums *sums;
	size_t count;
	size_t capacity;
	struct hash_index index;
};

void diff_sums_release(struct diff_sums_table *t);

/* The rows of all kinds that are compared; maps: of both windows' names. 0 or -ENOMEM; the table is
 * released by the caller in either case. */
int diff_collect_rows(struct diff_sums_table *rows, struct diff *d, const struct names_map maps[2]);

/* The contexts of some rows: place[position in rows] is the row's in the diff, or DIFF_NO_PLACE. 0
 * or -ENOMEM, likewise. */
#define DIFF_NO_PLACE UINT32_MAX
int diff_collect_contexts(struct diff_sums_table *contexts, struct diff *d,
			  const struct names_map maps[2], const struct diff_sums_table *rows,
			  const uint32_t *place);

#endif
