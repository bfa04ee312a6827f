#include "daemon/serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/serve/http_clients.h"

#define BACKLOG 128

/* Before those that were accepted get their turn: fewer than can make each other give way. */
#define ACCEPTS_IN_A_ROW (HTTP_ADDRESS_MAX / 2)

#define TYPE_TEXT        "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_PLAIN       "text/plain; charset=utf-8"

struct http {
	struct MHD_Daemon *daemon;
	uv_poll_t poll;   /* of the daemon's epoll descriptor */
	uv_timer_t timer; /* its timeouts */
	uv_poll_t listening;
	uv_timer_t late;  /* the next client's time is over */
	unsigned closing; /* handles that are being closed */
	int listener;
	int spare_fd; /* for accept_without_descriptors; -1: none was to be had */
	struct http_clients clients;
	const struct metrics *metrics;
	bool ready;
	char address[HTTP_ADDRESS_BYTES];
};

/* ---------------------------------------------------------------- answers */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
			      char *body, size_t size, enum MHD_ResponseMemoryMode memory)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, body, memory);
	enum MHD_Result r;

	if (!response) {
		if (memory == MHD_RESPMEM_MUST_FREE)
			free(body);
		return MHD_NO; /* Closes the connection. */
	}
	/* A header that cannot be added leaves a response that is still true. */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
				   const char *text)
{
	return answer(connection, status, TYPE_PLAIN, (char *)text, strlen(text),
		      MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result serve_metrics(struct http *h, struct MHD_Connection *connection)
{
	const char *accept =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	char *body = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&body, &size);

	if (!out)
		return MHD_NO;
	http_clients_write(out, &h->clients, openmetrics);
	metrics_write(out, h->metrics, openmetrics); /* Last: it ends with OpenMetrics's end. */
	if (fclose(out) != 0) { /* The only way in which writing to memory fails. */
		free(body);
		return MHD_NO;
	}
	return answer(connection, MHD_HTTP_OK, openmetrics ? TYPE_OPENMETRICS : TYPE_TEXT, body,
		      size, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result serve_healthy(struct http *h, struct MHD_Connection *connection)
{
	(void)h; /* A loop that answers is healthy. */
	return answer_text(connection, MHD_HTTP_OK, "healthy\n");
}

static enum MHD_Result serve_ready(struct http *h, struct MHD_Connection *connection)
{
	return h->ready ? answer_text(connection, MHD_HTTP_OK, "ready\n")
			: answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not ready\n");
}

static const struct {
	const char *path;
	enum MHD_Result (*serve)(struct http *h, struct MHD_Connection *connection);
} pages[] = {
    {"/metrics", serve_metrics},
    {"/-/healthy", serve_healthy},
    {"/-/ready", serve_ready},
};

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	static const char seen;
	bool reads =
	    strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

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
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (strcmp(url, pages[i].path) != 0)
			continue;
		return reads ? pages[i].serve(arg, connection)
			     : answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
					   "only GET and HEAD\n");
	}
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "try /metrics\n");
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

static void run(struct http *h)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t late_ns = http_clients_expire(&h->clients, now_ns);
	MHD_UNSIGNED_LONG_LONG timeout_ms;

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

/* A connection that is not accepted makes its socket readable again at once, for ever: it is taken
 * with the descriptor that is kept for this, and closed. */
static void accept_without_descriptors(struct http *h)
{
	fd_close_all(&h->spare_fd, 1);
	h->spare_fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
	fd_close_all(&h->spare_fd, 1);
	h->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	h->clients.refused[HTTP_REFUSED_DESCRIPTORS]++;
}

/* False when none waits. */
static bool accept_one(struct http *h)
{
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	struct http_client *client;
	_cleanup_close_ int fd =
	    accept4(h->listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		accept_without_descriptors(h);
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

/* ---------------------------------------------------------------- address */

/* Splits "ADDR:PORT" or "[ADDR]:PORT"; the parts must hold HTTP_ADDRESS_BYTES each. */
static int split_address(const char *address, char *host, char *port, struct err *err)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	const char *start = address;

	if (!colon || length == 0 || strlen(address) >= HTTP_ADDRESS_BYTES || colon[1] == '\0' ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return err_set(err, EINVAL,
			       "'%s' is not ADDR:PORT: use an address such as 127.0.0.1:9779",
			       address);
	if (start[0] == '[' && start[length - 1] == ']') {
		start++;
		length -= 2;
	}
	memcpy(host, start, length);
	host[length] = '\0';
	(void)snprintf(port, HTTP_ADDRESS_BYTES, "%s", colon + 1); /* Fits: checked above. */
	return 0;
}

/* The address for bind, to be freed with freeaddrinfo; NULL with the reason when it is not numeric.
 */
static struct addrinfo *resolve(const char *address, struct err *err)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM};
	char host[HTTP_ADDRESS_BYTES], port[HTTP_ADDRESS_BYTES];
	struct addrinfo *list = NULL;

	if (split_address(address, host, port, err) < 0)
		return NULL;
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (strtoul(port, NULL, 10) > UINT16_MAX || getaddrinfo(host, port, &hints, &list) != 0) {
		(void)err_set(err, EINVAL,
			      "'%s' is not a numeric ADDR:PORT: use one such as 127.0.0.1:9779",
			      address); /* Only its text is wanted. */
		return NULL;
	}
	return list;
}

int http_check_address(const char *address, struct err *err)
{
	struct addrinfo *list = resolve(address, err);

	if (!list)
		return -EINVAL;
	freeaddrinfo(list);
	return 0;
}

static int listen_on(const char *address, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct addrinfo *list = resolve(address, err);
	int one = 1, r = 0;

	if (!list)
		return -EINVAL;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Without it a restart has to wait for old connections to time out; it works on every
	 * TCP socket. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		r = err_set_errno(err, errno, "cannot serve http on '%s' (use another --http)",
				  address);
	freeaddrinfo(list);
	return r < 0 ? r : TAKE_FD(fd);
}

static void describe_address(struct http *h, int fd)
{
	struct sockaddr_storage name = {0};
	socklen_t size = sizeof(name);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	/* A socket that is bound has a name, and numbers can always be shown. */
	(void)getsockname(fd, (struct sockaddr *)&name, &size);
	(void)getnameinfo((struct sockaddr *)&name, size, host, sizeof(host), port, sizeof(port),
			  NI_NUMERICHOST | NI_NUMERICSERV);
	(void)snprintf(h->address, sizeof(h->address),
		       name.ss_family == AF_INET6 ? "[%.46s]:%.6s" : "%.46s:%.6s", host, port);
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

int http_new(struct http **out, uv_loop_t *loop, const char *address, const struct metrics *metrics,
	     struct err *err)
{
	_cleanup_free_ struct http *h = calloc(1, sizeof(*h));
	_cleanup_close_ int fd = -1;
	int r;

	if (!h)
		return err_set(err, ENOMEM, "out of memory");
	h->metrics = metrics;
	http_clients_init(&h->clients);
	fd = listen_on(address, err);
	if (fd < 0)
		return fd;
	describe_address(h, fd);
	r = start_daemon(h, err);
	if (r < 0)
		return r;
	h->listener = fd;
	r = start_polls(h, loop);
	if (r < 0) {
		MHD_stop_daemon(h->daemon);
		return err_set_errno(err, -r, "cannot watch the http server");
	}
	h->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
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

void http_set_ready(struct http *h, bool ready)
{
	h->ready = ready;
}

const char *http_address(const struct http *h)
{
	return h->address;
}
