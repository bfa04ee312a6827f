/*
 * Values that options of several commands take, for their tables (common/arguments.h): as the
 * parsers of client/command/parse.h, for a field whose type the table does not know.
 */
#ifndef JXPERF_CLIENT_COMMAND_VALUES_H
#define JXPERF_CLIENT_COMMAND_VALUES_H

#include "common/err.h"

int value_duration(const char *text, void *ns, struct err *err);     /* uint64_t */
int value_format(const char *text, void *format, struct err *err);   /* Jxp__Format */
int value_time(const char *text, void *unix_ns, struct err *err);    /* uint64_t */
int value_view(const char *text, void *view, struct err *err);       /* Jxp__View */
int value_regions(const char *text, void *regions, struct err *err); /* struct parse_regions */
int value_count(const char *text, void *count, struct err *err);     /* uint32_t */

#endif
