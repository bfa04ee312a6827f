#include "daemon/http/endpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/http/accept.h"
#include "daemon/http/export_metrics.h"
#include "daemon/http/own_metrics.h"
#include "daemon/http/http.h"
#include "daemon/http/metrics_kept.h"
#include "daemon/schedule/scheduler.h"

#define TYPE_TEXT        "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum { METRICS, HEALTHY, READY, ROUTES };

struct endpoints {
	struct http *http;
	struct http_route routes[ROUTES + 1];
	struct endpoints_sources sources;
	const struct keeper *keeper;   /* or NULL */
	const struct exports *exports; /* or NULL */
	double process_start_s;
	bool ready;
};

static void write_store(const struct endpoints *e, FILE *out, bool openmetrics)
{
	struct keeper_stats stats;

	if (e->keeper)
		stats = keeper_stats(e->keeper);
	store_metrics_write(out, e->keeper ? &stats : NULL, openmetrics);
}

static void write_schedules(const struct scheduler *s, FILE *out, bool openmetrics)
{
	schedule_metrics_write(out, scheduler_planner(s), openmetrics);
	if (scheduler_has_schedules(s))
		discovery_metrics_write(out, scheduler_newcomers(s), openmetrics);
}

static void serve_metrics(void *arg, const struct http_request *request,
			  struct http_response *response)
{
	const struct endpoints *e = arg;
	const struct endpoints_sources *from = &e->sources;
	const char *accept = http_request_header(request, "Accept");
	unsigned quality = accept_quality(accept, "application/openmetrics-text");
	bool openmetrics = quality > 0 && quality >= accept_quality(accept, "text/plain");
	FILE *out = response->body;

	response->type = openmetrics ? TYPE_OPENMETRICS : TYPE_TEXT;
	process_metrics_write(out, e->process_start_s, openmetrics);
	own_cost_write(out, from->client, openmetrics);
	daemon_metrics_write(out, from->daemon, openmetrics);
	http_write_metrics(out, e->http, openmetrics);
	broker_metrics_write(out, from->broker, openmetrics);
	if (from->engine)
		engine_metrics_write(out, from->engine, openmetrics);
	write_store(e, out, openmetrics);
	export_metrics_write(out, e->exports, openmetrics);
	if (from->scheduler)
		write_schedules(from->scheduler, out, openmetrics);
	/* Last: it ends with OpenMetrics's end. */
	metrics_write(out, metrics_kept_shown(from->metrics),
		      (double)clock_ns(CLOCK_REALTIME) / (double)NS_PER_S, openmetrics);
}

static void serve_healthy(void *arg, const struct http_request *request,
			  struct http_response *response)
{
	(void)arg; /* A loop that answers is healthy. */
	(void)request;
	(void)fputs("healthy\n", response->body); /* Errors are the server's. */
}

static void serve_ready(void *arg, const struct http_request *request,
			struct http_response *response)
{
	const struct endpoints *e = arg;

	(void)request;
	if (!e->ready)
		response->status = HTTP_UNAVAILABLE;
	(void)fputs(e->ready ? "ready\n" : "not ready\n", response->body); /* As above. */
}

int endpoints_new(struct endpoints **out, uv_loop_t *loop, const char *address,
		  const struct endpoints_sources *sources, struct err *err)
{
	_cleanup_free_ struct endpoints *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	e->sources = *sources;
	e->process_start_s = process_metrics_start();
	e->routes[METRICS] = (struct http_route){"/metrics", serve_metrics, e};
	e->routes[HEALTHY] = (struct http_route){"/-/healthy", serve_healthy, e};
	e->routes[READY] = (struct http_route){"/-/ready", serve_ready, e};
	r = http_new(&e->http, loop, address, e->routes, err);
	if (r < 0)
		return r;
	*out = TAKE_PTR(e);
	return 0;
}

void endpoints_free(struct endpoints *e)
{
	if (!e)
		return;
	http_free(e->http);
	free(e);
}

void endpoints_set_ready(struct endpoints *e, bool ready)
{
	e->ready = ready;
}

void endpoints_set_keeper(struct endpoints *e, const struct keeper *keeper)
{
	e->keeper = keeper;
}

void endpoints_set_exports(struct endpoints *e, const struct exports *exports)
{
	e->exports = exports;
}

const char *endpoints_address(const struct endpoints *e)
{
	return http_address(e->http);
}
