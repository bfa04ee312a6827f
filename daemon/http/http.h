/*
 * An HTTP server, over libmicrohttpd driven by the event loop (no thread of its own), and which
 * function answers for which path: a table of routes. It accepts connections itself, so that no
 * number of them keeps it from accepting more: daemon/http/http_clients.h decides which make way.
 *
 * Only GET and HEAD are answered, others with 405, and paths that are in no route with 404; the
 * body of a request is swallowed.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_HTTP_H
#define JXPERF_DAEMON_HTTP_HTTP_H

#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

#include "common/err.h"

/* Statuses that handlers use besides 200. */
#define HTTP_UNAVAILABLE 503

struct http;
struct http_request;

/* What a handler answers. */
struct http_response {
	unsigned status;  /* 200, unless it sets another */
	const char *type; /* plain text, unless it sets another; static text */
	FILE *body; /* in memory: what it writes is sent. Its errors are found by the server */
};

/* Fills the response at once: the loop waits. request lives until it returns. */
typedef void (*http_handler_fn)(void *arg, const struct http_request *request,
				struct http_response *response);

struct http_route {
	const char *path; /* the whole of it, without a query */
	http_handler_fn handle;
	void *arg;
};

/* Listens on an address (daemon/http/http_address.h). routes ends with one without a path, and
 * outlives the server. 0 or -errno. */
int http_new(struct http **out, uv_loop_t *loop, const char *address,
	     const struct http_route *routes, struct err *err);

/* No handler is called any more; the rest goes once the loop has closed its handles. free(NULL) is
 * safe. */
void http_free(struct http *h);

/* The value of a header of the request, NULL without one. Lives as long as the request. */
const char *http_request_header(const struct http_request *request, const char *name);

/* "ADDR:PORT" with the port that is really used. */
const char *http_address(const struct http *h);

/* The server's own family of /metrics. */
void http_write_metrics(FILE *out, const struct http *h, bool openmetrics);

#endif
