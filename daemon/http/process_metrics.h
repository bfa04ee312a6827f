/*
 * This process, by the names that Prometheus's own clients give such figures. What cannot be read
 * is left out. Any thread.
 */
#ifndef JXPERF_DAEMON_HTTP_PROCESS_METRICS_H
#define JXPERF_DAEMON_HTTP_PROCESS_METRICS_H

#include <stdbool.h>
#include <stdio.h>

/* When this process started, in seconds since 1970; 0 where that cannot be read. To be asked once:
 * a clock that is set would change it. */
double process_metrics_start(void);

/* Errors of out are the caller's. */
void process_metrics_write(FILE *out, double start_s, bool openmetrics);

#endif
