/*
 * The two forms in which metrics are told: Prometheus text 0.0.4, and OpenMetrics 1.0.0, which
 * names a family of counters without "_total", says its unit, and has exemplars.
 *
 * Errors of out are the caller's. Any thread.
 */
#ifndef JXPERF_DAEMON_HTTP_EXPOSITION_H
#define JXPERF_DAEMON_HTTP_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum exposition_type {
	EXPOSITION_GAUGE,
	EXPOSITION_COUNTER, /* whose samples are named NAME_total */
	EXPOSITION_HISTOGRAM,
};

/* What comes before a family's samples. The unit is the last word of its name. */
void exposition_head(FILE *out, bool openmetrics, enum exposition_type type, const char *name,
		     const char *help);

/* Whole families of one sample without labels. */
void exposition_counter(FILE *out, bool openmetrics, const char *name, const char *help,
			uint64_t value);
void exposition_gauge(FILE *out, bool openmetrics, const char *name, const char *help,
		      double value);

/* Ends a sample's line, with the window that the value came from, what it brought, and when, in
 * seconds since 1970. Without a window (0), or in the other form, the line just ends. */
void exposition_end_line(FILE *out, bool openmetrics, unsigned window, double value, double time_s);

#endif
