/*
 * What a ClickHouse server's answer means. Its exceptions come with HTTP status 500 mostly, and
 * begin "Code: N": the number says what to do.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_ANSWERS_H
#define JXPERF_EXPORT_CLICKHOUSE_ANSWERS_H

#include "export/format.h"

/* As judge of struct export_format. What is wrong with the server, its tables, its user or its
 * space is tried again: somebody will see to that, and no window is lost meanwhile. What is wrong
 * with the rows themselves is refused. With every other exception the request has failed. */
enum export_outcome house_judge(int status, const void *body, size_t body_bytes, struct err *line,
				uint64_t *lost);

/* The number of the exception that a body begins with; 0: there is none. */
unsigned house_exception(const void *body, size_t body_bytes);

/* What it says, on one line; at most bytes of it. */
void house_exception_words(const void *body, size_t body_bytes, char *words, size_t bytes);

#endif
