/*
 * What schedules did, for /metrics. Nothing where there is none.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_SCHEDULE_METRICS_H
#define JXPERF_DAEMON_HTTP_SCHEDULE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

struct newcomers;
struct planner;

/* Their families of /metrics. Errors of out are the caller's. */
void schedule_metrics_write(FILE *out, const struct planner *p, bool openmetrics);

/* Those of how JVMs are found. */
void discovery_metrics_write(FILE *out, const struct newcomers *n, bool openmetrics);

#endif
