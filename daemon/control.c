#include "daemon/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "daemon/connection.h"
#include "daemon/control_socket.h"

#define DEFAULT_DIRECTORY "/run/jxperf"

struct control {
	uv_poll_t poll;
	int fd;
	int spare_fd; /* for refuse_one; -1: none was to be had */
	struct control_context context;
	struct control_settings settings;
	struct stat socket_identity; /* so that only our own file is removed */
	struct connection *connections[CONTROL_CONNECTIONS_MAX];
	size_t connection_count;
	void (*drained)(void *arg); /* set by control_drain until it was called */
	void *drained_arg;
};

static void report_if_drained(struct control *c)
{
	void (*drained)(void *) = c->drained;

	if (!drained || c->connection_count > 0)
		return;
	c->drained = NULL;
	drained(c->drained_arg);
}

static void on_connection_closed(void *arg, struct connection *connection)
{
	struct control *c = arg;
	size_t i = 0;

	while (c->connections[i] != connection)
		i++;
	c->connections[i] = c->connections[--c->connection_count];
	if (c->connection_count == 0 && c->settings.idle)
		c->settings.idle(c->settings.arg);
	report_if_drained(c);
}

/* A connection that is not accepted makes its socket readable again at once, for ever: it is taken
 * with the descriptor that is kept for this, and closed. */
static void refuse_one(struct control *c, int error)
{
	log_warn("cannot accept a control connection: %s", strerror(error));
	cleanup_close(&c->spare_fd);
	c->spare_fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);
	cleanup_close(&c->spare_fd);
	c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void control_adopt(struct control *c, int connected)
{
	_cleanup_close_ int fd = connected;
	struct err err;

	if (c->connection_count == CONTROL_CONNECTIONS_MAX) {
		log_warn("a control connection was refused: %d are open", CONTROL_CONNECTIONS_MAX);
		return;
	}
	if (connection_new(&c->connections[c->connection_count], &c->context, fd,
			   on_connection_closed, c, &err) < 0) {
		log_warn("a control connection was refused: %s", err.message);
		return;
	}
	(void)TAKE_FD(fd); /* The connection owns it. */
	c->connection_count++;
	if (c->settings.busy)
		c->settings.busy(c->settings.arg);
}

static void accept_one(struct control *c)
{
	int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		control_adopt(c, fd);
	else if (errno != EAGAIN && errno != ECONNABORTED) /* Then the client went away. */
		refuse_one(c, errno);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	(void)events; /* Only UV_READABLE was asked for. */
	if (status < 0)
		log_warn("the control socket failed: %s", uv_strerror(status));
	else
		accept_one(poll->data);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static int start_listening(struct control *c, uv_loop_t *loop,
			   const struct control_settings *settings, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (strcmp(settings->socket_path, CONTROL_SOCKET_DEFAULT) == 0 &&
	    mkdir(DEFAULT_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return err_set_errno(err, errno, "cannot create '%s' (use another --socket)",
				     DEFAULT_DIRECTORY);
	fd = control_socket_listen(settings->socket_path, err);
	if (fd < 0)
		return fd;
	if (stat(settings->socket_path, &c->socket_identity) < 0)
		return err_set_errno(err, errno, "cannot look at '%s'", settings->socket_path);
	r = uv_poll_init(loop, &c->poll, fd);
	if (r < 0)
		return err_set_errno(err, -r, "cannot watch the control socket");
	c->poll.data = c;
	c->fd = TAKE_FD(fd);
	c->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Fails only for a handle that is closing. */
	(void)uv_poll_start(&c->poll, UV_READABLE, on_poll);
	return 0;
}

int control_new(struct control **out, uv_loop_t *loop, struct engine *engine,
		const struct control_settings *settings, struct err *err)
{
	_cleanup_free_ struct control *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->fd = c->spare_fd = -1;
	c->settings = *settings;
	c->context = (struct control_context){.loop = loop,
					      .engine = engine,
					      .broker = settings->broker,
					      .http = settings->http,
					      .started_ns = clock_monotonic_ns()};
	if (settings->socket_path[0])
		r = start_listening(c, loop, settings, err);
	if (r == 0)
		*out = TAKE_PTR(c);
	return r;
}

void control_drain(struct control *c, void (*done)(void *arg), void *arg)
{
	size_t kept = 0;

	if (c->fd >= 0)
		(void)uv_poll_stop(&c->poll); /* Cannot fail. */
	for (size_t i = 0; i < c->connection_count; i++) {
		if (connection_is_finishing(c->connections[i]))
			c->connections[kept++] = c->connections[i];
		else
			connection_free(c->connections[i]);
	}
	c->connection_count = kept;
	c->drained = done;
	c->drained_arg = arg;
	report_if_drained(c);
}

void control_free(struct control *c)
{
	struct stat st;

	if (!c)
		return;
	for (size_t i = 0; i < c->connection_count; i++)
		connection_free(c->connections[i]);
	if (c->fd < 0) {
		free(c);
		return;
	}
	if (stat(c->settings.socket_path, &st) == 0 && st.st_dev == c->socket_identity.st_dev &&
	    st.st_ino == c->socket_identity.st_ino)
		(void)unlink(c->settings.socket_path); /* A stale socket is replaced next time. */
	uv_close((uv_handle_t *)&c->poll, on_closed);
	cleanup_close(&c->spare_fd);
	(void)close(c->fd); /* Nothing is buffered in a listening socket. */
}
