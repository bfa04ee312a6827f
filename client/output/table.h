/*
 * A table for a terminal: cells left-aligned in columns, the last one as long as it likes. Cells
 * come from JVMs and processes: control characters are shown as '?'. On a terminal that may have
 * colour the headings are bold.
 *
 * A failed allocation is remembered and told by table_print.
 */
#ifndef JXPERF_CLIENT_OUTPUT_TABLE_H
#define JXPERF_CLIENT_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 12
#define TABLE_CELL_BYTES  512 /* a longer cell is cut */

struct table {
	char **cells; /* row by row */
	size_t count;
	size_t capacity;
	size_t columns;
	bool failed;
};

/* A new table whose first row is the headings, NULL-terminated; at most TABLE_COLUMNS_MAX. */
void table_init(struct table *t, const char *const *headings);
void table_release(struct table *t);

/* Appends the next cell of the current row. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same of a time, nanoseconds since 1970, as local time to the second; "-" for what is none. */
void table_time(struct table *t, uint64_t unix_ns);

/* Prints to out, whose errors are the caller's. 0, or -ENOMEM with nothing printed. */
int table_print(const struct table *t, FILE *out);

#endif
