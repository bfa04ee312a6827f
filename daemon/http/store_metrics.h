/*
 * How keeping windows fares, for /metrics. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_STORE_METRICS_H
#define JXPERF_DAEMON_HTTP_STORE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

struct keeper_stats;

/* Their families of /metrics; stats NULL: nothing is kept. Errors of out are the caller's. */
void store_metrics_write(FILE *out, const struct keeper_stats *stats, bool openmetrics);

#endif
