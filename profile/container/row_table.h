/*
 * Tables: rows of fixed columns, found by a key, and what is done to all of them alike.
 *
 * A row is a plain struct. Its first key_words words of 32 bits are its key, without padding, so
 * that it is hashed and compared as bytes; a table without a key is just an array. A layout says
 * what the columns are: where in the row, of which type, and in which role. From it rows are added
 * up and scaled when windows are merged, and written to the store and read from it
 * (profile/container/table_codec.h). So a column that counts something is one line of a layout,
 * beside whoever counts.
 *
 * Nothing is removed from a table, but by row_table_index_again. Bounded by the layout's limit;
 * what is beyond it is refused, and counted by the caller.
 */
#ifndef JXPERF_PROFILE_CONTAINER_ROW_TABLE_H
#define JXPERF_PROFILE_CONTAINER_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/hash.h"
#include "profile/container/hash_index.h"

enum column_type {
	COLUMN_BOOL,
	COLUMN_U8,
	COLUMN_U16,
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_I32,
	COLUMN_DOUBLE,
	COLUMN_TEXT, /* in the row, with its NUL */
};

enum column_role {
	COLUMN_VALUE,    /* says what the row is; its values are below the column's limit, if any */
	COLUMN_NAME,     /* a string's id, 0: none, */
	COLUMN_CLASS,    /* likewise, the name of a class */
	COLUMN_ID,       /* a row of another table, from 1; 0: none */
	COLUMN_OLDER,    /* an older row of the same table, likewise */
	COLUMN_POSITION, /* a row of another table, from 0 */
	COLUMN_COUNT,    /* a number of observations: adds up, and is never weighted */
	COLUMN_SUM,      /* of weights, or of what is multiplied by them */
	COLUMN_SQUARES,  /* of their squares */
	COLUMN_MOST,     /* the largest is what counts of several */
};

struct column {
	const char *name;
	uint32_t offset;
	uint32_t size;   /* of one value, bytes */
	uint32_t repeat; /* values in a row; 0 stands for 1 */
	uint32_t stride; /* from one to the next */
	uint32_t below;  /* for values: 0 is no limit */
	uint8_t type;    /* enum column_type */
	uint8_t role;    /* enum column_role */
	uint8_t table;   /* the number of the one that it refers to */
	uint8_t weight;  /* which of a merge's weights is its; 0: none */
	bool any_sign;   /* it may be below 0: a difference, or an estimate */
};

#define COLUMN_TYPE_OF(value) \
	_Generic((value),                  \
	    bool: COLUMN_BOOL,             \
	    uint8_t: COLUMN_U8,            \
	    uint16_t: COLUMN_U16,          \
	    uint32_t: COLUMN_U32,          \
	    uint64_t: COLUMN_U64,          \
	    int32_t: COLUMN_I32,           \
	    double: COLUMN_DOUBLE,         \
	    char *: COLUMN_TEXT)

#define COLUMN_MEMBER(row, member)                                  \
	.name = #member, .offset = (uint32_t)offsetof(row, member), \
	.size = sizeof(((row *)0)->member), .type = COLUMN_TYPE_OF(((row *)0)->member)

/* A column; what follows are further members of struct column. */
#define COLUMN(row, member, ...)                        \
	{                                               \
		COLUMN_MEMBER(row, member), __VA_ARGS__ \
	}

/* One for each element of an array of the row: element is array[0], or a member of that. */
#define COLUMNS(row, array, element, ...)                                               \
	{                                                                               \
		COLUMN_MEMBER(row, element),                                            \
		    .repeat = sizeof(((row *)0)->array) / sizeof(((row *)0)->array[0]), \
		    .stride = sizeof(((row *)0)->array[0]), __VA_ARGS__                 \
	}

struct table_layout {
	const struct column *columns;
	size_t column_count;
	size_t row_size;
	size_t key_words; /* at most HASH_IDS_MAX; 0: rows are not found, and there is no index */
	size_t limit;     /* rows */
	bool copies_find; /* rows are found in copies, too */
	/* Checks what no column says alone; of what comes from a file. NULL: nothing. */
	bool (*is_valid)(const void *row);
	/* Is a row kept in the store? NULL: each is. */
	bool (*is_kept)(const void *row);
};

#define TABLE_COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof((list)[0])

/* All zero is an empty table. */
struct row_table {
	void *rows;
	size_t count;
	size_t capacity;
	struct hash_index index;
};

/* A table as a member of another struct, whose rows and their number have names and a type, too. */
#define TABLE_OF(type, rows_name, count_name, table_name) \
	union {                                           \
		struct row_table table_name;              \
		struct {                                  \
			type *rows_name;                  \
			size_t count_name;                \
		};                                        \
	}

void row_table_release(struct row_table *t);

/* The position of the row with the key. */
bool row_table_find(const struct row_table *t, const struct table_layout *l, const void *key,
		    uint32_t *position);

/* The position of the row with the key, known (0) or new (1), and then all 0 but for its key.
 * -ENOSPC at the limit, -ENOMEM. */
int row_table_add(struct row_table *t, const struct table_layout *l, const void *key,
		  uint32_t *position);

/* Rows were written where they lie: the first count of them are the table's, and found from now on.
 * 0; -EEXIST where two have one key; -ENOMEM. */
int row_table_index_again(struct row_table *t, const struct table_layout *l, size_t count);

/* Copies what reports need of from: nothing can be added to it. 0 or -ENOMEM; to can be released
 * even then. */
int row_table_copy(struct row_table *to, const struct table_layout *l,
		   const struct row_table *from);

/* Heap bytes held. */
size_t row_table_memory_bytes(const struct row_table *t, const struct table_layout *l);

/* Adds a row's columns to another's by their roles. weights: by column.weight; NULL: all
 * are 1. */
void table_row_add(const struct table_layout *l, void *to, const void *from, const double *weights);

/* Multiplies sums, and squares by the square. */
void table_row_scale(const struct table_layout *l, void *row, const double *scales);

/* Value number i of a column. */
static inline void *column_at(const struct column *c, const void *row, size_t i)
{
	return (char *)row + c->offset + i * c->stride;
}

static inline size_t column_values(const struct column *c)
{
	return c->repeat ? c->repeat : 1;
}

#endif
