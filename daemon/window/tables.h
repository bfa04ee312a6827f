/*
 * The tables of a window (daemon/profile/tables.h), each where it lies in it: what is done to all
 * of a window's data alike goes through them.
 */
#ifndef JXPERF_DAEMON_WINDOW_TABLES_H
#define JXPERF_DAEMON_WINDOW_TABLES_H

#include "daemon/profile/tables.h"
#include "daemon/window/result.h"

struct window_table {
	const struct table_layout *layout;
	size_t offset; /* in struct window_result */
	size_t rows;   /* that always are there, at that place; 0: it is a struct row_table */
};

/* By enum profile_table. */
extern const struct window_table window_tables[PROFILE_TABLES];

/* Of a number whose rows are 0. */
static inline struct row_table *window_table_of(const struct window_result *w, size_t number)
{
	return (struct row_table *)((char *)w + window_tables[number].offset);
}

static inline void *window_rows_of(const struct window_result *w, size_t number)
{
	return (char *)w + window_tables[number].offset;
}

/* All tables of from, as row_table_copy, in the place of those of to, which are nobody's. 0 or
 * -ENOMEM; to can be released even then. */
int window_tables_copy(struct window_result *to, const struct window_result *from);

/* Heap bytes held. */
size_t window_tables_bytes(const struct window_result *w);

#endif
