/*
 * Words that the rest of the room has in common: types of columns, what becomes of their values
 * when rows of many windows are one, and what a column is.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_TYPES_H
#define JXPERF_EXPORT_CLICKHOUSE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/tables.h"

struct column;
struct house_row;
struct house_writer;

enum house_type {
	HOUSE_U8,
	HOUSE_U16,
	HOUSE_U32,
	HOUSE_U64,
	HOUSE_I32,
	HOUSE_F64,
	HOUSE_TEXT,
	HOUSE_HASH, /* HOUSE_HASH_BYTES bytes */
	HOUSE_DATE,
	HOUSE_TIME, /* seconds since 1970 */
	HOUSE_TYPES,
};

#define HOUSE_HASH_BYTES 16u

/* What becomes of a column when rows of many windows are one. */
enum house_sum {
	HOUSE_KEY,    /* rows with the same are one */
	HOUSE_ANY,    /* goes with the key */
	HOUSE_LAYOUT, /* likewise; LOCATION_VARIES where two differ */
	HOUSE_MOST,
	HOUSE_COUNT,
	HOUSE_WEIGHTED, /* added up, times the weight, */
	HOUSE_SQUARES,  /* or its square */
	HOUSE_FACT,     /* of one window: nothing */
};

/* Behind those of enum profile_weight: the weight of an observation's bytes. */
#define HOUSE_WEIGHT_OBSERVATION PROFILE_WEIGHTS
#define HOUSE_WEIGHTS            (PROFILE_WEIGHTS + 1)

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
	uint8_t sum;  /* enum house_sum */
	bool array;
	uint8_t weight; /* enum profile_weight, or HOUSE_WEIGHT_OBSERVATION */
	/* Where its value is: what put writes; else part of column, in the row of table that it is
	 * about, or in the one at the position that via says. */
	int (*put)(struct house_writer *out, const struct house_row *row);
	uint8_t part; /* enum house_part */
	const struct column *column, *via;
	uint32_t table; /* enum profile_table; of the column */
};

/* Tables of windows' rows, then windows, then contexts. */
#define HOUSE_DATA     15u
#define HOUSE_WINDOWS  HOUSE_DATA
#define HOUSE_CONTEXTS (HOUSE_DATA + 1)
#define HOUSE_TABLES   (HOUSE_DATA + 2)

#endif
