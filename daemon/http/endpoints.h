/*
 * What the daemon serves by HTTP: /metrics, in the format that is asked for, /-/healthy and
 * /-/ready.
 *
 * Loop thread only. What is served is borrowed.
 */
#ifndef JXPERF_DAEMON_HTTP_ENDPOINTS_H
#define JXPERF_DAEMON_HTTP_ENDPOINTS_H

#include <stdbool.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/http/metrics.h"

struct broker_metrics;
struct endpoints;
struct scheduler;

/* Listens on an address (daemon/http/http_address.h). scheduler: NULL where there are no
 * schedules. 0 or -errno. */
int endpoints_new(struct endpoints **out, uv_loop_t *loop, const char *address,
		  const struct metrics *metrics, const struct broker_metrics *broker,
		  const struct scheduler *scheduler, struct err *err);

/* The rest goes once the loop has closed its handles. free(NULL) is safe. */
void endpoints_free(struct endpoints *e);

/* Whether /-/ready says so; false at first. */
void endpoints_set_ready(struct endpoints *e, bool ready);

/* "ADDR:PORT" with the port that is really used. */
const char *endpoints_address(const struct endpoints *e);

#endif
