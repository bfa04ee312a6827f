/*
 * What the server answers, row by row, into a merge (profile/combine/merge.h), whose weighted sums
 * the server has made.
 */
#ifndef JXPERF_FLEET_REPORT_ANSWER_H
#define JXPERF_FLEET_REPORT_ANSWER_H

#include "common/buffer.h"
#include "common/err.h"
#include "export/clickhouse/contexts.h"
#include "fleet/report/reader.h"
#include "profile/combine/merge.h"

/* Contexts that the answers name, by hash, and their nodes in the merge. All zero is empty. */
struct fleet_contexts {
	struct house_hash *hashes; /* in order once they are sorted */
	uint32_t *nodes;           /* 0: not known */
	size_t count, capacity;
};

void fleet_contexts_release(struct fleet_contexts *c);

/* How much of a table there is. */
struct fleet_extent {
	uint64_t rows;         /* of windows, */
	uint64_t observations; /* in them (fleet_observations()), */
	uint64_t paths;        /* and different paths, roughly; 0: not known */
};

/* Those that a table's answer names, and how much it is of. 0, -ENOMEM, or -EBADMSG where it is no
 * such answer. */
int fleet_contexts_collect(struct fleet_contexts *c, size_t table, const struct buffer *answer,
			   struct fleet_extent *extent);

/* Each once, in order, and without the empty one, which is node 0. 0 or -ENOMEM. */
int fleet_contexts_sort(struct fleet_contexts *c);

/* Frames that the server has of them. 0, -ENOMEM or -EBADMSG. */
int fleet_contexts_add(struct fleet_contexts *c, const struct buffer *answer,
		       struct window_result *w);

/* Into a window without a number: its row of `windows`. 0, -ENODATA where there is none, -EBADMSG.
 */
int fleet_answer_first(const struct buffer *answer, struct window_result *w);

/* Sums over windows of the columns of `windows` that are merged. -EBADMSG or 0. */
int fleet_answer_windows(struct fleet_reader *r, struct window_result *w);

/* The rows of a table. 0, -ENOMEM or -EBADMSG. */
int fleet_answer_table(size_t table, const struct buffer *answer,
		       const struct fleet_contexts *contexts, struct merge *m);

#endif
