/*
 * The tables of ClickHouse, column by column: made of the layouts of a window's own tables
 * (profile/window/tables.h), so that what a window counts is said once. Tables' definitions
 * (schema.h), rows (rows.h) and the questions of `jxperfctl fleet` (fleet/report/) all go by them.
 *
 * What a window's row names by an id or a position is said in full: a method by its names, a
 * calling context by the hash of its frames (contexts.h) with its last frame in words, a row of
 * another table by that one's key.
 *
 * Constant data once it is made: any thread.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_COLUMNS_H
#define JXPERF_EXPORT_CLICKHOUSE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/clickhouse/types.h"
#include "profile/container/row_table.h"

#define HOUSE_COLUMNS_MAX 256u

struct house_table {
	const char *name;
	const char *words; /* what its rows are, for people who read the schema */
	const char *order; /* its sorting key, which is what tells rows apart */
	uint32_t table;    /* enum profile_table; PROFILE_TABLES: none */
	size_t count;
	struct house_column columns[HOUSE_COLUMNS_MAX];
};

const struct house_table *house_table(size_t number);

/* The number of the table that has rows of a window's table; HOUSE_TABLES: none. */
size_t house_table_of(uint32_t profile_table);

/* "UInt64", and of an array "Array(UInt64)". */
#define HOUSE_TYPE_BYTES 32
const char *house_type_name(const struct house_column *c, char name[HOUSE_TYPE_BYTES]);

/* Is a column of a layout within its key? */
bool house_in_key(const struct table_layout *l, const struct column *c);

#endif
