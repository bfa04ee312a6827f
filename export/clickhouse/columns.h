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

struct house_row;
struct house_writer;

/* What of the column's value it is. */
enum house_part {
	HOUSE_VALUE,
	HOUSE_STRING, /* of an id, */
	HOUSE_CLASS,  /* without a number that a JVM made up */
	HOUSE_KIND,
	HOUSE_METHOD_CLASS,
	HOUSE_METHOD_NAME,
	HOUSE_METHOD_FILE,
	HOUSE_CONTEXT,
	HOUSE_NODE_CLASS,
	HOUSE_NODE_METHOD,
	HOUSE_NODE_LINE,
	HOUSE_NODE_CERTAINTY,
	HOUSE_PLACE_KIND,
	HOUSE_PLACE_CLASS,
	HOUSE_PLACE_FIELD,
	HOUSE_PLACE_OWNER,
	HOUSE_PLACE_TYPE,
	HOUSE_PLACE_OFFSET,
	HOUSE_PLACE_BYTES,
	HOUSE_PLACE_OBJECT_BYTES,
};

#define HOUSE_NAME_BYTES 64

struct house_column {
	char name[HOUSE_NAME_BYTES];
	uint8_t type; /* enum house_type */
	bool array;
	uint8_t sum;    /* enum house_sum */
	uint8_t weight; /* enum profile_weight, or HOUSE_WEIGHT_OBSERVATION */
	/* Where its value is: what put writes; else part of column, in the row of table that it is
	 * about, or in the one at the position that via says. */
	int (*put)(struct house_writer *out, const struct house_row *row);
	uint8_t part; /* enum house_part */
	const struct column *column, *via;
	uint32_t table; /* enum profile_table; of the column */
};

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
