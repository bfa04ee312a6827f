/*
 * Parses what a user writes for durations, percentages and sizes, on command lines and in the
 * configuration.
 *
 * All return 0, or -EINVAL with a message that quotes the text and shows a right one; the output is
 * unchanged on failure. Numbers are decimal, may have a fraction, and never a sign.
 */
#ifndef JXPERF_COMMON_UNITS_H
#define JXPERF_COMMON_UNITS_H

#include <stdint.h>

#include "common/err.h"

/* "30s", "1.5s", "5ms", "500us", "100ns", "2m", "1h", "30d"; above 0. */
int units_duration(const char *text, uint64_t *ns, struct err *err);

/* "1%" or "0.01" as a fraction above 0 and up to 1. A bare number of 1 or more is refused: it could
 * mean either. */
int units_fraction(const char *text, double *fraction, struct err *err);

/* "4" or "1.5"; 0 or more. */
int units_number(const char *text, double *number, struct err *err);

/* "4096", "512B", "1KiB", "1.5MiB", "2GiB". */
int units_size(const char *text, uint64_t *bytes, struct err *err);

#endif
