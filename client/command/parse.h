/*
 * Parses what a user writes for the values of options, and options that several commands have;
 * durations, percentages and sizes are parsed in common/units.h.
 *
 * All return 0, or -EINVAL with a message that quotes the text and shows a right one; the output is
 * unchanged on failure. Numbers are decimal, may have a fraction, and never a sign.
 */
#ifndef JXPERF_CLIENT_COMMAND_PARSE_H
#define JXPERF_CLIENT_COMMAND_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/err.h"
#include "proto/kinds.h"

/* The kinds that exist; a request names each at most once. */
#define PARSE_KINDS_MAX (PAIR_KINDS + SUBJECT_KINDS)

/* A process id, 1 to INT_MAX. */
int parse_pid(const char *text, uint32_t *pid, struct err *err);

/* Is the text a number, and so a pid rather than a name? */
bool parse_is_number(const char *text);

/* A time that begins and ends with such times, "24h..12h"; either may be left out: "24h.." is until
 * now, "..2026-11-22" from the beginning (0). *until_unix_ns is 0 for now. */
int parse_period(const char *text, uint64_t now_unix_ns, uint64_t *since_unix_ns,
		 uint64_t *until_unix_ns, struct err *err);

/* Is the text a period, and so no window? */
bool parse_is_period(const char *text);

/* A list of kinds, "dead-store,silent-load". Its length goes to *count. */
int parse_kinds(const char *text, Jxp__Kind kinds[PARSE_KINDS_MAX], size_t *count, struct err *err);

/* ---------------------------------------------------------------- for tables of arguments */

/* A uint64_t, nanoseconds since 1970: "24h", so long ago; "2026-11-22 03:00", "2026-11-22T03:00:30"
 * or "2026-11-22" of the local time zone. */
int parse_time(const char *text, void *unix_ns, struct err *err);

/* A uint32_t, 1 to 1000000. */
int parse_count(const char *text, void *count, struct err *err);

/* How a report is shown: fields of a Jxp__ReportRequest. */
extern const struct argument_option report_arguments[];

/* Where a report goes: a const char *, NULL without the option. */
extern const struct argument_option output_arguments[];

/* Windows of an application: fields of a Jxp__Selection; and without its name and time. */
extern const struct argument_option selection_arguments[];
extern const struct argument_option chosen_arguments[];

#endif
