/*
 * Words that the rest of the room has in common: types of columns, and what becomes of their values
 * when rows of many windows are one.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_TYPES_H
#define JXPERF_EXPORT_CLICKHOUSE_TYPES_H

#include "profile/tables.h"

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
	HOUSE_LEAST,
	HOUSE_MOST,
	HOUSE_COUNT,
	HOUSE_WEIGHTED, /* added up, times the weight, */
	HOUSE_SQUARES,  /* or its square */
	HOUSE_FACT,     /* of one window: nothing */
};

/* Behind those of enum profile_weight: the weight of an observation's bytes. */
#define HOUSE_WEIGHT_OBSERVATION PROFILE_WEIGHTS
#define HOUSE_WEIGHTS            (PROFILE_WEIGHTS + 1)

/* Tables of windows' rows, then windows, then contexts. */
#define HOUSE_DATA     14u
#define HOUSE_WINDOWS  HOUSE_DATA
#define HOUSE_CONTEXTS (HOUSE_DATA + 1)
#define HOUSE_TABLES   (HOUSE_DATA + 2)

#endif
