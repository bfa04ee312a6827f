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

struct broker_client;
struct broker_metrics;
struct daemon_metrics;
struct endpoints;
struct engine;
struct exports;
struct keeper;
struct metrics_kept;
struct scheduler;

/* Whose figures /metrics has. */
struct endpoints_sources {
	const struct metrics_kept *metrics;
	const struct broker_metrics *broker;
	const struct daemon_metrics *daemon;
	const struct broker_client *client; /* NULL: no broker */
	const struct engine *engine;        /* NULL: no windows */
	const struct scheduler *scheduler;  /* NULL: no schedules */
};

/* Listens on an address (daemon/http/http_address.h). 0 or -errno. */
int endpoints_new(struct endpoints **out, uv_loop_t *loop, const char *address,
		  const struct endpoints_sources *sources, struct err *err);

/* The rest goes once the loop has closed its handles. free(NULL) is safe. */
void endpoints_free(struct endpoints *e);

/* Whether /-/ready says so; false at first. */
void endpoints_set_ready(struct endpoints *e, bool ready);

/* What keeps windows; until then nothing does. */
void endpoints_set_keeper(struct endpoints *e, const struct keeper *keeper);

/* What sends windows elsewhere; NULL, as at first: nothing does. */
void endpoints_set_exports(struct endpoints *e, const struct exports *exports);

/* "ADDR:PORT" with the port that is really used. */
const char *endpoints_address(const struct endpoints *e);

#endif
