/*
 * The windows that the daemon has in memory now, for /metrics. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_ENGINE_METRICS_H
#define JXPERF_DAEMON_HTTP_ENGINE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

struct engine;

/* Their families of /metrics. Errors of out are the caller's. */
void engine_metrics_write(FILE *out, const struct engine *e, bool openmetrics);

#endif
