#include "daemon/http/endpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/http/broker_metrics.h"
#include "daemon/http/http.h"
#include "daemon/http/schedule_metrics.h"

#define TYPE_TEXT        "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum { METRICS, HEALTHY, READY, ROUTES };

struct endpoints {
	struct http *http;
	struct http_route routes[ROUTES + 1];
	const struct metrics *metrics;
	const struct broker_metrics *broker;
	const struct scheduler *scheduler; /* or NULL */
	bool ready;
};

static void serve_metrics(void *arg, const struct http_request *request,
			  struct http_response *response)
{
	const struct endpoints *e = arg;
	const char *accept = http_request_header(request, "Accept");
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");

	response->type = openmetrics ? TYPE_OPENMETRICS : TYPE_TEXT;
	http_write_metrics(response->body, e->http, openmetrics);
	broker_metrics_write(response->body, e->broker, openmetrics);
	if (e->scheduler)
		schedule_metrics_write(response->body, scheduler_planner(e->scheduler),
				       openmetrics);
	if (e->scheduler && scheduler_has_schedules(e->scheduler))
		discovery_metrics_write(response->body, scheduler_newcomers(e->scheduler),
					openmetrics);
	/* Last: it ends with OpenMetrics's end. */
	metrics_write(response->body, e->metrics, openmetrics);
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
	(void)fputs(e->ready ? "ready\n" : "not ready\n", response->body); /* Likewise. */
}

int endpoints_new(struct endpoints **out, uv_loop_t *loop, const char *address,
		  const struct metrics *metrics, const struct broker_metrics *broker,
		  const struct scheduler *scheduler, struct err *err)
{
	_cleanup_free_ struct endpoints *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	e->metrics = metrics;
	e->broker = broker;
	e->scheduler = scheduler;
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

const char *endpoints_address(const struct endpoints *e)
{
	return http_address(e->http);
}
