/*
 * What a user writes for durations, percentages, sizes and the other values of the options.
 *
 * All return 0, or -EINVAL with a message that quotes the text and shows a right one; the output is
 * unchanged on failure. Numbers are decimal, may have a fraction, and never a sign.
 */
#ifndef JXPERF_CLIENT_COMMAND_PARSE_H
#define JXPERF_CLIENT_COMMAND_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "proto/kinds.h"

/* The kinds that exist; a request names each at most once. */
#define PARSE_KINDS_MAX (PAIR_KINDS + SUBJECT_KINDS)

/* "30s", "1.5s", "5ms", "500us", "100ns", "2m", "1h"; above 0. */
int parse_duration(const char *text, uint64_t *ns, struct err *err);

/* "1%" or "0.01" as a fraction above 0 and up to 1. A bare number of 1 or more is refused: it could
 * mean either. */
int parse_fraction(const char *text, double *fraction, struct err *err);

/* "4096", "512B", "1KiB", "1.5MiB", "2GiB". */
int parse_size(const char *text, uint64_t *bytes, struct err *err);

/* A process id, 1 to INT_MAX. */
int parse_pid(const char *text, uint32_t *pid, struct err *err);

/* Is the text a number, and so a pid rather than a name? */
bool parse_is_number(const char *text);

/* 1 to 1000000. */
int parse_count(const char *text, uint32_t *count, struct err *err);

/* A list of kinds, "dead-store,silent-load". Its length goes to *count. */
int parse_kinds(const char *text, Jxp__Kind kinds[PARSE_KINDS_MAX], size_t *count, struct err *err);

/* "auto", "pebs", "ibs", "clock". */
int parse_sampler(const char *text, Jxp__Sampler *sampler, struct err *err);

/* "text", "json", "collapsed", "pprof". */
int parse_format(const char *text, Jxp__Format *format, struct err *err);

#endif
