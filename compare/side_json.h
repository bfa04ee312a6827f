/*
 * A side in the JSON report: the member "comparison", schema 1.
 *
 *   { "unit": "cpu", "cpu_ns", "ticks", "methods": [name...],
 *     "nodes": { "parent": [...], "method": [...], "ns": [...], "ticks": [...] },
 *     "nodes_omitted", "excess": [by method...], "freedom",
 *     "kinds": [ { "kind", "ns", "squares", "count" } ],
 *     "waste": [ { "kind", "method", "place", "spill", "ns", "squares", "count" } ],
 *     "waste_omitted" }
 *
 * A report of before there was "unit" is one of CPU time. "excess" and "freedom" are a merge's
 * whose windows tell how they differ.
 *
 * Without CPU time there is no "cpu_ns", "ticks" or "nodes", "bytes" is in the place of "ns", and a
 * kind has all that was checked as well:
 *
 *   { "unit": "bytes", "methods", "kinds": [ { "kind", "bytes", "squares", "count",
 *     "checked": { "bytes", "squares", "count" } } ], "waste", "waste_omitted" }
 */
#ifndef JXPERF_COMPARE_SIDE_JSON_H
#define JXPERF_COMPARE_SIDE_JSON_H

#include <jansson.h>

#include "common/err.h"
#include "compare/side.h"

/* A report has at most so many bytes. */
#define COMPARE_REPORT_MAX ((size_t)64 << 20)

/* The member of a side. NULL without memory. */
json_t *compare_side_json(const struct compare_side *s);

/* The side of a report's text, which nobody has checked, with the name that people know it by.
 * Only what is compared is parsed, so that any other text takes no more memory than itself. 0;
 * -EBADMSG with what is wrong with it; -ENODATA with the reason where it is a report that has
 * nothing to compare; -ENOMEM. */
int compare_side_read(struct compare_side *s, const char *name, const void *text, size_t size,
		      struct err *err);

#endif
