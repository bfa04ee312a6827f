/*
 * The statements that make ClickHouse's tables (columns.h), for a server of a version.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_SCHEMA_H
#define JXPERF_EXPORT_CLICKHOUSE_SCHEMA_H

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

/* The i-th statement, in *text to be freed, without its semicolon; NULL behind the last. 0 or
 * -ENOMEM. */
int house_schema_statement(const struct house_schema *s, size_t i, char **text);

#endif
