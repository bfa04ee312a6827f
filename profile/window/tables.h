/*
 * The tables of a window (profile/tables.h), each where it lies in it: what is done to all
 * of a window's data alike goes through them.
 */
#ifndef JXPERF_PROFILE_WINDOW_TABLES_H
#define JXPERF_PROFILE_WINDOW_TABLES_H

#include "profile/tables.h"
#include "profile/window/result.h"

struct window_table {
	const struct table_layout *layout;
	size_t offset; /* in struct window_result */
	size_t rows;   /* that always are there, at that place; 0: it is a struct row_table */
};

/* By enum profile_table. */
extern const struct window_table window_tables[PROFILE_TABLES];

/* For a number whose rows are 0. */
static inline struct row_table *window_table_of(const struct window_result *w, size_t number)
{
	return (struct row_table *)((char *)w + window_tables[number].offset);
}

static inline void *window_rows_of(const struct window_result *w, size_t number)
{
	return (char *)w + window_tables[number].offset;
}

/* A copy of what reports need of a window that runs, as it is now: at most WINDOW_BYTES_MAX. NULL
 * without memory. */
struct window_result *window_result_snapshot(const struct window_result *w);

/* A window that nothing changes any more, for the caller to free: w itself, kept, if it is
 * finished, else a snapshot. NULL without memory. */
struct window_result *window_result_still(const struct window_result *w);

/* What it takes. */
size_t window_result_memory_bytes(const struct window_result *w);

#endif
