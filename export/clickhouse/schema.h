/*
 * The statements that make ClickHouse's tables (columns.h), for a server of a version.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_SCHEMA_H
#define JXPERF_EXPORT_CLICKHOUSE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define HOUSE_DATABASE "jxperf"

struct house_schema {
	const char *database; /* a name as house_name_check has it, */
	const char *cluster;  /* likewise; NULL: one server */
	unsigned keep_days;   /* 0: for ever */
	unsigned version;     /* of the server, 1816 for 18.16; 0: a current one */
};

/* Letters, digits and underscores, as names are that need no quotes; -EINVAL for another. what:
 * "the database". */
int house_name_check(const char *what, const char *name, struct err *err);

/* "18.16.1" is 1816, "26.5.1.1" 2605. 0, or -EINVAL. */
int house_version_parse(const char *text, unsigned *version, struct err *err);

/* Does such a server drop rows by itself? TTL came with 19.6. */
#define HOUSE_VERSION_TTL 1906u

/* Does such a server take ADD COLUMN IF NOT EXISTS? It came with 19.1. */
#define HOUSE_VERSION_ADD_IF_ABSENT 1901u

/* The i-th statement that makes what is not there at all, in *text to be freed, without its
 * semicolon; NULL behind the last. 0 or -ENOMEM. */
int house_schema_statement(const struct house_schema *s, size_t i, char **text);

/* Has a table, by its name in the database, the column? */
typedef bool house_has_column(void *arg, const char *table, const char *column);

/* Of the i-th table, the statement that adds the columns that it lacks, as house_schema_statement
 * has it; "" where it lacks none. Those of the key are in every table. has NULL: nobody knows what
 * is there, and all are written; a server before HOUSE_VERSION_ADD_IF_ABSENT refuses that. */
int house_schema_addition(const struct house_schema *s, size_t i, house_has_column *has, void *arg,
			  char **text);

#endif
