/* Windows as `windows` and `status` show them. */
#ifndef JXPERF_CLIENT_OUTPUT_WINDOWS_H
#define JXPERF_CLIENT_OUTPUT_WINDOWS_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* A new array, or NULL (json.h). */
json_t *windows_json(Jxp__WindowInfo *const *windows, size_t count);

/* Prints a table to stdout. 0 or -ENOMEM. */
int windows_print(Jxp__WindowInfo *const *windows, size_t count, struct err *err);

#endif
