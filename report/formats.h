/*
 * How each format writes a report down.
 */
#ifndef JXPERF_REPORT_FORMATS_H
#define JXPERF_REPORT_FORMATS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/content/model.h"

/* With at most pairs pairs of each kind. 0 or -ENOMEM; stream errors are the caller's, and a writer
 * that meets one (ferror: the report is too long) stops soon. */
typedef int report_write_fn(FILE *out, const struct report_model *m, size_t pairs);

report_write_fn report_text_write;
report_write_fn report_json_write;
report_write_fn report_collapsed_write;
report_write_fn report_sarif_write;
report_write_fn report_speedscope_write;

/* The JSON report with calling contexts by number: the data of a page (docs/page.md). */
report_write_fn report_page_write;

/* "2026-11-21T08:40:00.123Z" */
#define REPORT_TIME_BYTES 32
void report_time(char text[REPORT_TIME_BYTES], uint64_t unix_ns);

#endif
