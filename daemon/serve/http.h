/*
 * The HTTP server: /metrics, /-/healthy and /-/ready, over libmicrohttpd driven by the event loop
 * (no thread of its own). It accepts connections itself, so that no number of them keeps it from
 * accepting more: daemon/serve/http_clients.h decides which make way. Only GET and HEAD are
 * answered.
 *
 * Loop thread only. The metrics are borrowed.
 */
#ifndef JXPERF_DAEMON_SERVE_HTTP_H
#define JXPERF_DAEMON_SERVE_HTTP_H

#include <stdbool.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/serve/metrics.h"

/* Room for "[IPv6]:PORT". */
#define HTTP_ADDRESS_BYTES 64

struct http;

/* Listens on "ADDR:PORT", ADDR numeric ("127.0.0.1", "[::1]"), PORT 0 for any free one. 0 or
 * -errno. */
int http_new(struct http **out, uv_loop_t *loop, const char *address, const struct metrics *metrics,
	     struct err *err);
void http_free(struct http *h);

/* Whether /-/ready says so; false at first. */
void http_set_ready(struct http *h, bool ready);

/* "ADDR:PORT" with the port that is really used. */
const char *http_address(const struct http *h);

/* Checks the form of an address without using it. 0 or -EINVAL. */
int http_check_address(const char *address, struct err *err);

#endif
