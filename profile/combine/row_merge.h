/*
 * The rows of one window's tables in those of a merge: each is found by what its key means there
 * (other ids of names, methods, contexts, places; other positions of rows that it belongs to), and
 * its columns are added by their roles (profile/container/row_table.h).
 *
 * What there is no room for is counted as the same loss in a window is.
 */
#ifndef JXPERF_PROFILE_COMBINE_ROW_MERGE_H
#define JXPERF_PROFILE_COMBINE_ROW_MERGE_H

#include "profile/combine/names.h"
#include "profile/window/tables.h"

/* The position of a row that has none in the merge. */
#define ROW_MERGE_NONE UINT32_MAX

/* All zero but for the first four is empty. */
struct row_merge {
	struct window_result *to;
	const struct window_result *from;
	const struct names_map *map; /* of what from names, in to */
	const double *weights;       /* by enum profile_weight */
	/* By table, of each row of from: where it is in to. */
	uint32_t *positions[PROFILE_TABLES];
};

/* Adds all that is added up by itself. 0 or -ENOMEM. */
int row_merge_add(struct row_merge *m);
void row_merge_release(struct row_merge *m);

/* The position in w of the row with this key, new or known, whose ids and positions are w's own. 0;
 * -ENOSPC where there is no room for it, which is counted; -ENOMEM. */
int row_merge_find(struct window_result *w, size_t table, const void *key, uint32_t *position);

/* So many observations belong to rows of the table that are in nothing but sums: counted as what
 * there is no room for. */
void row_merge_cut(struct window_result *w, size_t table, uint64_t observations);

/* Is a row of the table left out where there is no room for the context in its key? */
bool row_merge_needs_node(size_t table);

/* Multiplies all that was added by the scales, by enum profile_weight. */
void row_merge_scale(struct window_result *w, const double *scales);

#endif
