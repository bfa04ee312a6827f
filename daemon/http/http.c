#include "daemon/http/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/http/http_address.h"
#include "daemon/http/http_clients.h"

/* Before those that were accepted get their turn: fewer than can make each other give way. */
#define ACCEPTS_IN_A_ROW (HTTP_ADDRESS_MAX / 2)

struct http {
	struct MHD_Daemon *daemon;
	uv_poll_t poll;   /* of the daemon's epoll descriptor */
	uv_timer_t timer; /* its timeouts */
	uv_poll_t listening;
	uv_timer_t late;  /* the next client's time is over */
	unsigned closing; /* handles that are being closed */
	int listener;
	int spare_fd; /* for fd_drop_connection */
	struct http_clients clients;
	uint64_t told_ns; /* when the log last said who was refused */
	const struct http_route *routes;
	char address[HTTP_ADDRESS_BYTES];
};

/* ---------------------------------------------------------------- requests */

struct http_request {
	struct MHD_Connection *connection;
};

const char *http_request_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static void not_found(void *arg, const struct http_request *request, struct http_response *response)
{
	(void)arg;
	(void)request;
	response->status = MHD_HTTP_NOT_FOUND;
	(void)fputs("try /metrics\n", response->body); /* Errors are found when it is closed. */
}

static void not_allowed(void *arg, const struct http_request *request,
			struct http_response *response)
{
	(void)arg;
	(void)request;
	response->status = MHD_HTTP_METHOD_NOT_ALLOWED;
	(void)fputs("only GET and HEAD\n", response->body); /* As above. */
}

/* Which row a request is for; one of the two above, should it be for none. */
static struct http_route route_of(const struct http *h, const char *path, const char *method)
{
	for (const struct http_route *r = h->routes; r->path; r++) {
		if (strcmp(path, r->path) != 0)
			continue;
		/* libmicrohttpd sends the headers only of an answer to HEAD. */
		if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		    strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
			return *r;
		return (struct http_route){.handle = not_allowed};
	}
	return (struct http_route){.handle = not_found};
}

/* Takes body. MHD_NO, for want of memory, closes the connection. */
static enum MHD_Result send_response(struct MHD_Connection *connection,
				     const struct http_response *made, char *body, size_t size)
{
	struct MHD_Response *response =
	    MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result r;

	if (!response) {
		free(body);
		return MHD_NO;
	}
	/* A header that cannot be added leaves a response that is still true. */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, made->type);
	if (made->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = MHD_queue_response(connection, made->status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result answer(const struct http *h, struct MHD_Connection *connection,
			      const char *path, const char *method)
{
	const struct http_route route = route_of(h, path, method);
	const struct http_request request = {.connection = connection};
	struct http_response response = {.status = MHD_HTTP_OK,
					 .type = "text/plain; charset=utf-8"};
	char *body = NULL;
	size_t size = 0;

	response.body = open_memstream(&body, &size);
	if (!response.body)
		return MHD_NO;
	route.handle(route.arg, &request, &response);
	if (fclose(response.body) != 0) { /* The only way in which writing to memory fails. */
		free(body);
		return MHD_NO;
	}
	return send_response(connection, &response, body, size);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	static const char seen;

	(void)version;
	(void)upload;
	/* The first call is for the headers only; a body is swallowed piece by piece. */
	if (!*request) {
		*request = (void *)&seen;
		return MHD_YES;
	}
	if (*upload_size > 0) {
		*upload_size = 0;
		return MHD_YES;
	}
	return answer(arg, connection, url, method);
}

/* ---------------------------------------------------------------- the loop */

static void run(struct http *h);

static void on_timer(uv_timer_t *timer)
{
	run(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	(void)status; /* libmicrohttpd looks for itself. */
	(void)events;
	run(poll->data);
}

/* One line in its time, however many they are. The first one's is at once. */
static void log_refusals(struct http *h, uint64_t now_ns)
{
	char text[HTTP_CLIENTS_TEXT_BYTES];

	if (h->told_ns && now_ns - h->told_ns < HTTP_REFUSALS_LOG_S * NS_PER_S)
		return;
	if (!http_clients_tell(&h->clients, text))
		return;
	log_warn("http connections refused or closed early: %s", text);
	h->told_ns = now_ns;
}

static void run(struct http *h)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t late_ns = http_clients_expire(&h->clients, now_ns);
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	log_refusals(h, now_ns);
	(void)MHD_run(h->daemon); /* Fails only for a daemon with a thread of its own. */
	/* The calls below fail only for a NULL callback or a closing handle. */
	(void)uv_poll_start(&h->poll, UV_READABLE, on_poll);
	if (MHD_get_timeout(h->daemon, &timeout_ms) == MHD_YES)
		(void)uv_timer_start(&h->timer, on_timer, timeout_ms, 0);
	else
		(void)uv_timer_stop(&h->timer);
	if (late_ns)
		(void)uv_timer_start(&h->late, on_timer, (late_ns - now_ns) / NS_PER_MS + 1, 0);
	else
		(void)uv_timer_stop(&h->late);
}

/* ---------------------------------------------------------------- connections */

/* False when none waits. */
static bool accept_one(struct http *h)
{
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	struct http_client *client;
	_cleanup_close_ int fd =
	    accept4(h->listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
		fd_drop_connection(h->listener, &h->spare_fd);
		h->clients.refused[HTTP_REFUSED_DESCRIPTORS]++;
	}
	if (fd < 0)
		return false;
	client = http_clients_add(&h->clients, (struct sockaddr *)&from, fd, clock_monotonic_ns());
	if (!client)
		return true;
	/* Takes the descriptor in any case. */
	if (MHD_add_connection(h->daemon, TAKE_FD(fd), (struct sockaddr *)&from, size) != MHD_YES) {
		http_clients_closed(client);
		h->clients.refused[HTTP_REFUSED_DESCRIPTORS]++;
	}
	return true;
}

static void on_listening(uv_poll_t *poll, int status, int events)
{
	struct http *h = poll->data;

	(void)status; /* accept4 tells. */
	(void)events;
	for (int i = 0; i < ACCEPTS_IN_A_ROW && accept_one(h); i++)
		;
	run(h);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct http *h = arg;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*context = http_clients_find(&h->clients, info->connect_fd);
	} else if (*context) {
		http_clients_closed(*context);
	}
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode how)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)arg;
	(void)request;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK && info && info->socket_context)
		http_clients_answered(info->socket_context, clock_monotonic_ns());
}

/* ---------------------------------------------------------------- life */

static void log_message(void *arg, const char *fmt, va_list ap)
{
	char line[256];

	(void)arg;
	(void)vsnprintf(line, sizeof(line), fmt, ap); /* May be cut. */
	line[strcspn(line, "\n")] = '\0';
	log_debug("http: %s", line);
}

static int start_daemon(struct http *h, struct err *err)
{
	h->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
	    h, MHD_OPTION_EXTERNAL_LOGGER, log_message, NULL, MHD_OPTION_NOTIFY_CONNECTION,
	    on_connection, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CLIENTS_CAPACITY, MHD_OPTION_END);
	return h->daemon ? 0
			 : err_set(err, EIO, "cannot start the http server on '%s'", h->address);
}

/* 0, or a libuv error with no handle left to close. */
static int start_polls(struct http *h, uv_loop_t *loop)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r = uv_poll_init(loop, &h->poll, info->epoll_fd);

	if (r < 0)
		return r;
	/* All that can fail in it is epoll, which took a descriptor just now. */
	(void)uv_poll_init(loop, &h->listening, h->listener);
	/* Cannot fail; uv_poll_start only for a NULL callback or a closing handle. */
	(void)uv_timer_init(loop, &h->timer);
	(void)uv_timer_init(loop, &h->late);
	h->poll.data = h->timer.data = h->listening.data = h->late.data = h;
	(void)uv_poll_start(&h->listening, UV_READABLE, on_listening);
	run(h);
	return 0;
}

int http_new(struct http **out, uv_loop_t *loop, const char *address,
	     const struct http_route *routes, struct err *err)
{
	_cleanup_free_ struct http *h = calloc(1, sizeof(*h));
	_cleanup_close_ int fd = -1;
	int r;

	if (!h)
		return err_set(err, ENOMEM, "out of memory");
	h->routes = routes;
	http_clients_init(&h->clients);
	fd = http_address_listen(address, err);
	if (fd < 0)
		return fd;
	http_address_of(fd, h->address);
	r = start_daemon(h, err);
	if (r < 0)
		return r;
	h->listener = fd;
	r = start_polls(h, loop);
	if (r < 0) {
		MHD_stop_daemon(h->daemon);
		return err_set_errno(err, -r, "cannot watch the http server");
	}
	h->spare_fd = fd_spare();
	(void)TAKE_FD(fd);
	*out = TAKE_PTR(h);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct http *h = handle->data;

	if (--h->closing == 0)
		free(h);
}

void http_free(struct http *h)
{
	if (!h)
		return;
	h->closing = 4;
	uv_close((uv_handle_t *)&h->poll, on_closed);
	uv_close((uv_handle_t *)&h->timer, on_closed);
	uv_close((uv_handle_t *)&h->listening, on_closed);
	uv_close((uv_handle_t *)&h->late, on_closed);
	MHD_stop_daemon(h->daemon);
	fd_close_all(&h->listener, 1);
	fd_close_all(&h->spare_fd, 1);
}

void http_write_metrics(FILE *out, const struct http *h, bool openmetrics)
{
	http_clients_write(out, &h->clients, openmetrics);
}

const char *http_address(const struct http *h)
{
	return h->address;
}
