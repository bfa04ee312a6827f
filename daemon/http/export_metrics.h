/*
 * What /metrics tells of windows that are sent to other servers, by destination; nothing where
 * there is none. Errors of out are the caller's.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_EXPORT_METRICS_H
#define JXPERF_DAEMON_HTTP_EXPORT_METRICS_H

#include <stdbool.h>
#include <stdio.h>

struct exports;

/* exports NULL: windows are sent nowhere. */
void export_metrics_write(FILE *out, const struct exports *exports, bool openmetrics);

#endif
