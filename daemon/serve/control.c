#include "daemon/serve/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/serve/access.h"
#include "daemon/serve/audit.h"
#include "daemon/serve/connection.h"
#include "daemon/serve/control_socket.h"
#include "daemon/answer/render.h"
#include "daemon/serve/refusals.h"
#include "daemon/serve/reports.h"
#include "daemon/serve/request.h"
#include "daemon/shares/shares.h"
#include "proto/failure.h"
#include "proto/frame.h"

#define DEFAULT_DIRECTORY "/run/jxperf"

struct control_client {
	struct connection *connection;
	uid_t user;   /* daemon/shares/shares.h */
	bool leaving; /* it has made room, and no place any more */
};

struct control {
	uv_poll_t poll;
	struct refusals refusals;
	int open_handles;
	int fd;
	int spare_fd; /* for fd_drop_connection */
	struct control_context context;
	struct control_settings settings;
	struct access_rules rules;
	struct stat socket_identity; /* so that only our own file is removed */
	struct shares connections;
	struct control_client clients[CONTROL_CONNECTIONS_MAX + CONTROL_LEAVING_MAX];
	size_t client_count;
	void (*drained)(void *arg); /* set by control_drain until it was called */
	void *drained_arg;
};

static void report_if_drained(struct control *c)
{
	void (*drained)(void *) = c->drained;

	if (!drained || c->client_count > 0)
		return;
	c->drained = NULL;
	drained(c->drained_arg);
}

static void give_place(struct control *c, const struct control_client *client)
{
	if (!client->leaving)
		shares_give(&c->connections, client->user, 1);
}

static void on_connection_closed(void *arg, struct connection *connection)
{
	struct control *c = arg;
	size_t i = 0;

	while (c->clients[i].connection != connection)
		i++;
	give_place(c, &c->clients[i]);
	c->clients[i] = c->clients[--c->client_count];
	report_if_drained(c);
}

/* ---------------------------------------------------------------- refusals */

/* What a client hears that is not let in: the one reply, before it asked. A new socket's buffer has
 * room for it; should it not, the client sees the end only. */
static void tell_refused(int fd, const char *why)
{
	_cleanup_(buffer_release) struct buffer frame;
	struct failure_reply f;

	failure_reply_init(&f, why, false);
	f.failure.again = true;
	buffer_init(&frame, FRAME_HEADER_BYTES + ERR_MESSAGE_MAX * 2);
	if (fd_set_nonblocking(fd, true) == 0 &&
	    frame_append(&frame, &f.reply.base, ERR_MESSAGE_MAX * 2) == 0)
		(void)fd_send(fd, buffer_head(&frame), buffer_length(&frame), NULL, 0);
}

/* Does a client that waits make room for user's? Its own does for the user, and another's if that
 * has more connections. */
static bool makes_room(const struct control *c, const struct control_client *client, uid_t user)
{
	return !client->leaving && connection_is_waiting(client->connection) &&
	       (client->user == user || shares_makes_way(&c->connections, client->user, user));
}

/* Has one that waits leave for a user who has no place: a place like shares_take's, or what that
 * said. */
static int take_place_of_another(struct control *c, uid_t user, int refused)
{
	size_t i = 0;

	while (i < c->client_count && !makes_room(c, &c->clients[i], user))
		i++;
	if (i == c->client_count ||
	    c->client_count == CONTROL_CONNECTIONS_MAX + CONTROL_LEAVING_MAX)
		return refused;
	give_place(c, &c->clients[i]);
	c->clients[i].leaving = true;
	connection_make_room(c->clients[i].connection);
	return shares_take(&c->connections, user, 1, NULL) < 0 ? refused : 0;
}

static int take_place(struct control *c, uid_t user, struct err *err)
{
	int r = shares_take(&c->connections, user, 1, err);

	return r == -EDQUOT || r == -ENOSPC ? take_place_of_another(c, user, r) : r;
}

/* Takes the descriptor in any case. 0, or -errno when its client was told why it is not served. */
static int serve(struct control *c, int connected, const struct window_asker *asker,
		 struct err *err)
{
	_cleanup_close_ int fd = connected;
	struct control_client *client = &c->clients[c->client_count];
	int r = take_place(c, asker->sees, err);

	if (r == 0) {
		r = connection_new(&client->connection, &c->context, asker, fd,
				   on_connection_closed, c, err);
		if (r < 0)
			shares_give(&c->connections, asker->sees, 1);
	}
	if (r < 0) {
		tell_refused(fd, err->message);
		return r;
	}
	(void)TAKE_FD(fd); /* The connection owns it. */
	client->user = asker->sees;
	client->leaving = false;
	c->client_count++;
	return 0;
}

static void refuse(void *arg, const struct audit_entry *entry, bool connection)
{
	struct control *c = arg;

	refusals_note(&c->refusals, entry, connection);
}

static void refuse_connection(struct control *c, const struct window_asker *asker, int error,
			      const char *why)
{
	const struct audit_entry entry = {
	    .action = "connect", .who = asker, .reason = why, .error = error};

	if (c->settings.connections_refused)
		++*c->settings.connections_refused;
	refusals_note(&c->refusals, &entry, true);
}

/* identified: 0 when asker is who connects, else why that cannot be told is in err. */
static void admit(struct control *c, int fd, int identified, const struct window_asker *asker,
		  struct err *err)
{
	if (identified < 0) {
		tell_refused(fd, err->message);
		fd_close_all(&fd, 1);
		refuse_connection(c, NULL, -identified, err->message);
	} else {
		int r = serve(c, fd, asker, err);

		if (r < 0)
			refuse_connection(c, asker, -r, err->message);
	}
}

void control_set_store(struct control *c, const char *path)
{
	c->context.store = path;
}

void control_set_exports(struct control *c, const struct exports *exports)
{
	c->context.exports = exports;
}

void control_adopt(struct control *c, int fd)
{
	struct window_asker asker;
	struct err err;

	admit(c, fd, access_of_owner(fd, &asker, &err), &asker, &err);
}

static void accept_one(struct control *c)
{
	int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);
	struct window_asker asker;
	struct err err;

	if (fd >= 0) {
		admit(c, fd, access_of_peer(&c->rules, fd, &asker, &err), &asker, &err);
	} else if (errno != EAGAIN && errno != ECONNABORTED) { /* Then the client went away. */
		refuse_connection(c, NULL, errno, strerror(errno));
		fd_drop_connection(c->fd, &c->spare_fd);
	}
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
	struct control *c = handle->data;

	if (--c->open_handles == 0)
		free(c);
}

static void start_listening(struct control *c, int fd)
{
	c->open_handles++;
	c->poll.data = c;
	c->fd = fd;
	c->spare_fd = fd_spare();
	/* Fails only for a handle that is closing. */
	(void)uv_poll_start(&c->poll, UV_READABLE, on_poll);
}

/* A socket to listen on, with its poll handle initialised last, or -errno. */
static int open_socket(struct control *c, uv_loop_t *loop, const char *path, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (strcmp(path, CONTROL_SOCKET_DEFAULT) == 0 && mkdir(DEFAULT_DIRECTORY, 0755) < 0 &&
	    errno != EEXIST)
		return err_set_errno(err, errno, "cannot create '%s' (use another --socket)",
				     DEFAULT_DIRECTORY);
	fd = control_socket_listen(path, c->settings.group_may_connect, err);
	if (fd < 0)
		return fd;
	if (stat(path, &c->socket_identity) < 0)
		return err_set_errno(err, errno, "cannot look at '%s'", path);
	r = uv_poll_init(loop, &c->poll, fd);
	if (r < 0)
		return err_set_errno(err, -r, "cannot watch the control socket");
	return TAKE_FD(fd);
}

int control_new(struct control **out, uv_loop_t *loop, struct engine *engine,
		const struct control_settings *settings, struct err *err)
{
	static const struct share_limits connections = {.things = "connections to the daemon open",
							.advice = "wait until some of them end",
							.all = CONTROL_CONNECTIONS_MAX,
							.reserved = CONTROL_CONNECTIONS_RESERVED,
							.of_user = CONTROL_CONNECTIONS_OF_USER};
	_cleanup_free_ struct control *c = calloc(1, sizeof(*c));
	struct window_sink sink;
	int fd = -1, r;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->fd = c->spare_fd = -1;
	c->settings = *settings;
	shares_init(&c->connections, &connections);
	r = access_rules_set(&c->rules, settings->admin_group, err);
	if (r < 0)
		return r;
	c->context = (struct control_context){.handle = request_handle,
					      .report = reports_send_window,
					      .refused = refuse,
					      .refused_arg = c,
					      .loop = loop,
					      .broker = settings->broker,
					      .engine = engine,
					      .scheduler = settings->scheduler,
					      .http = settings->http,
					      .reload = settings->reload,
					      .reload_arg = settings->arg,
					      .started_ns = clock_monotonic_ns()};
	c->context.renders = renders_new(loop);
	if (!c->context.renders)
		return err_set(err, ENOMEM, "out of memory");
	if (settings->socket_path[0]) {
		fd = open_socket(c, loop, settings->socket_path, err);
		if (fd < 0) {
			renders_free(c->context.renders);
			return fd;
		}
	}
	/* Nothing fails from here on: handles that are open would have to be closed first. */
	refusals_init(&c->refusals, loop);
	sink = refusals_sink(&c->refusals);
	engine_add_sink(engine, &sink);
	c->open_handles = 1;
	if (fd >= 0)
		start_listening(c, fd);
	*out = TAKE_PTR(c);
	return 0;
}

int control_set_admin_group(struct control *c, const char *group, struct err *err)
{
	return access_rules_set(&c->rules, group, err);
}

void control_drain(struct control *c, void (*done)(void *arg), void *arg)
{
	size_t kept = 0;

	if (c->fd >= 0)
		(void)uv_poll_stop(&c->poll); /* Cannot fail. */
	for (size_t i = 0; i < c->client_count; i++) {
		struct connection *connection = c->clients[i].connection;

		if (connection_is_finishing(connection) || connection_is_rendering(connection)) {
			c->clients[kept++] = c->clients[i];
		} else {
			give_place(c, &c->clients[i]);
			connection_free(connection);
		}
	}
	c->client_count = kept;
	c->drained = done;
	c->drained_arg = arg;
	report_if_drained(c);
}

bool control_is_rendering(const struct control *c)
{
	for (size_t i = 0; i < c->client_count; i++)
		if (connection_is_rendering(c->clients[i].connection))
			return true;
	return false;
}

void control_free(struct control *c)
{
	struct stat st;

	if (!c)
		return;
	for (size_t i = 0; i < c->client_count; i++)
		connection_free(c->clients[i].connection);
	shares_release(&c->connections);
	renders_free(c->context.renders);
	refusals_release(&c->refusals);
	c->refusals.timer.data = c; /* It runs no more. */
	uv_close((uv_handle_t *)&c->refusals.timer, on_closed);
	if (c->fd < 0)
		return;
	if (stat(c->settings.socket_path, &st) == 0 && st.st_dev == c->socket_identity.st_dev &&
	    st.st_ino == c->socket_identity.st_ino)
		(void)unlink(c->settings.socket_path); /* A stale socket is replaced next time. */
	uv_close((uv_handle_t *)&c->poll, on_closed);
	cleanup_close(&c->spare_fd);
	(void)close(c->fd); /* Nothing is buffered in a listening socket. */
}
