/*
 * What schedules did, for /metrics. Nothing where there is none.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_SCHEDULE_METRICS_H
#define JXPERF_DAEMON_SERVE_SCHEDULE_METRICS_H

#include <stdbool.h>
#include <stdio.h>

struct planner;

/* Their families of /metrics. Errors of out are the caller's. */
void schedule_metrics_write(FILE *out, const struct planner *p, bool openmetrics);

#endif
