#include "daemon/broker/client.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "daemon/broker/pending.h"
#include "daemon/broker/start.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define MESSAGES_PER_WAKE 64

/* Between attempts to connect to a broker that listens: doubled each time. */
#define RETRY_FIRST_MS 200
#define RETRY_MAX_MS   10000

/* For its hello: requests wait that long for it, and the connection is given up then. */
#define HELLO_PATIENCE_MS 3000
#define HELLO_LIMIT_MS    20000

/* A broker of our own is UP until it has ENDED; one that listens goes round the others. */
enum link_state {
	LINK_AWAY,     /* the next attempt is due, or the last connection is being closed */
	LINK_GREETING, /* connected, and no hello yet: requests wait */
	LINK_LATE,     /* the same, for so long that requests are answered without it */
	LINK_UP,
	LINK_ENDED,
};

/* Invariants: socket is open in GREETING, LATE and UP. The handles are closed and the client is
 * freed in the order: socket closed, broker reaped, all close callbacks run. */
struct broker_client {
	uv_loop_t *loop;
	enum link_state state;
	uv_poll_t socket_poll;
	int socket; /* -1 once closed */
	/* For our own broker: */
	uv_poll_t process_poll;
	int process_fd;
	pid_t process;
	bool reaped;
	/* For one that listens, path NULL if it is our own: */
	char *path;
	uv_timer_t timer;   /* AWAY: the next attempt; GREETING, LATE: the end of patience */
	uv_timer_t refusal; /* answers requests that nobody can take, from the loop */
	unsigned delay_ms;
	char told[ERR_MESSAGE_MAX]; /* the last reason that died was told, or "" */
	bool freed;                 /* by the owner: no callback runs any more */
	int open_handles;
	struct pendings pendings;
	struct broker_client_callbacks callbacks;
	char reason[ERR_MESSAGE_MAX]; /* why there is no broker */
	uint64_t cpu_ns;              /* as this broker said last; */
	uint64_t cpu_before_ns;       /* of those before it */
};

static void fail_all(struct broker_client *c)
{
	struct err err;

	(void)err_set(&err, EPIPE, "%s; %s", c->reason,
		      c->path ? "try again when it is back" : "restart jxperfd");
	pendings_fail(&c->pendings, err.message);
}

/* ---------------------------------------------------------------- the end */

static void handle_closed(uv_handle_t *handle)
{
	struct broker_client *c = handle->data;

	if (--c->open_handles > 0)
		return;
	cleanup_close(&c->process_fd);
	c->process_fd = -1;
	if (c->freed) {
		free(c->path);
		free(c);
	}
}

static void try_to_connect(uv_timer_t *timer);

/* The poll handle can be used for another connection from here on. */
static void connection_closed(uv_handle_t *handle)
{
	struct broker_client *c = handle->data;

	if (c->path && !c->freed)
		(void)uv_timer_start(&c->timer, try_to_connect, c->delay_ms, 0);
	handle_closed(handle);
}

/* A broker of our own ends at end of file; process_exited continues. */
static void close_socket(struct broker_client *c)
{
	if (c->socket < 0)
		return;
	uv_close((uv_handle_t *)&c->socket_poll, connection_closed);
	cleanup_close(&c->socket);
	c->socket = -1;
}

static void describe_end(struct broker_client *c, int status)
{
	if (c->reason[0]) /* Ended by us, for cause. */
		return;
	if (WIFSIGNALED(status))
		(void)snprintf(c->reason, sizeof(c->reason),
			       "the privileged half of jxperfd was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(c->reason, sizeof(c->reason),
			       "the privileged half of jxperfd ended with exit status %d",
			       WEXITSTATUS(status));
}

static void process_exited(uv_poll_t *handle, int uv_status, int events)
{
	struct broker_client *c = handle->data;
	int status = 0;

	(void)uv_status; /* Readable or broken, the pidfd has nothing more to tell. */
	(void)events;
	while (waitpid(c->process, &status, 0) < 0 && errno == EINTR)
		;
	c->reaped = true;
	c->state = LINK_ENDED;
	describe_end(c, status);
	close_socket(c);
	uv_close((uv_handle_t *)&c->process_poll, handle_closed);
	fail_all(c);
	if (!c->freed)
		c->callbacks.died(c->callbacks.arg, c->reason);
}

static void end_own_broker(struct broker_client *c)
{
	c->state = LINK_ENDED;
	close_socket(c);
	/* Not reaped yet, so it is ours. Where it is root's and we are not, it ends at the end of
	 * the stream; nobody needs to wait for that. */
	if (kill(c->process, SIGKILL) == 0)
		return;
	if (!c->reason[0])
		(void)snprintf(c->reason, sizeof(c->reason),
			       "the privileged half of jxperfd closed its connection");
	fail_all(c);
}

/* There is no broker that listens, for the reason that is there. Each reason is told once. */
static void lose(struct broker_client *c)
{
	bool tell = strcmp(c->told, c->reason) != 0 && !c->freed;

	c->state = LINK_AWAY;
	memcpy(c->told, c->reason, sizeof(c->told));
	(void)uv_timer_stop(&c->timer);
	if (c->socket >= 0)
		close_socket(c);
	else
		(void)uv_timer_start(&c->timer, try_to_connect, c->delay_ms, 0);
	fail_all(c);
	if (tell)
		c->callbacks.died(c->callbacks.arg, c->reason);
}

/* A broker that closed its socket or broke the protocol is of no more use. */
static void end_broker(struct broker_client *c, const char *why)
{
	if (c->path) {
		(void)snprintf(c->reason, sizeof(c->reason), "%s",
			       why ? why : "the privileged half of jxperfd has gone");
		lose(c);
		return;
	}
	if (why && !c->reason[0])
		(void)snprintf(c->reason, sizeof(c->reason), "%s", why);
	end_own_broker(c);
}

/* ---------------------------------------------------------------- transfer */

static void socket_ready(uv_poll_t *handle, int status, int events);

static void update_events(struct broker_client *c)
{
	bool unsent = c->state == LINK_UP && pendings_has_unsent(&c->pendings);

	/* Cannot fail for a descriptor that epoll has accepted before. */
	(void)uv_poll_start(&c->socket_poll, UV_READABLE | (unsent ? UV_WRITABLE : 0),
			    socket_ready);
}

/* Sends what the socket takes now. Errors show up as end of file on the reading side. */
static void flush(struct broker_client *c)
{
	struct pending **at = &c->pendings.first;

	while (*at) {
		struct pending *p = *at;

		if (!p->sent) {
			if (fd_send(c->socket, &p->request, sizeof(p->request), NULL, 0) < 0)
				break;
			p->sent = true;
			if (!broker_operation_is_answered(p->request.operation)) {
				free(pendings_take(&c->pendings, at));
				continue;
			}
		}
		at = &p->next;
	}
	update_events(c);
}

/* The first message of a broker that listens. False when it ended the connection. */
static bool take_hello(struct broker_client *c, struct broker_reply *hello, ssize_t n)
{
	struct err err;

	if (broker_check_hello(hello, n, &err) < 0) {
		end_broker(c, err.message);
		return false;
	}
	c->state = LINK_UP;
	c->cpu_before_ns += c->cpu_ns;
	c->cpu_ns = hello->cpu_ns;
	c->told[0] = '\0';
	c->delay_ms = RETRY_FIRST_MS;
	(void)uv_timer_stop(&c->timer);
	flush(c);
	if (!c->freed)
		c->callbacks.came(c->callbacks.arg, hello);
	return true;
}

static void end_texts(struct broker_reply *reply)
{
	struct container_names *c = &reply->container;

	reply->message[sizeof(reply->message) - 1] = '\0';
	c->id[sizeof(c->id) - 1] = '\0';
	c->namespace[sizeof(c->namespace) - 1] = '\0';
	c->pod[sizeof(c->pod) - 1] = '\0';
}

/* Handles one reply; false when it is none of ours. */
static bool take_reply(struct broker_client *c, struct broker_reply *reply, ssize_t n, int *fds,
		       size_t fd_count)
{
	struct pending **at;

	if (n != (ssize_t)sizeof(*reply) || reply->error < 0)
		return false;
	/* All or none: this process has too many already. */
	if (reply->fds > 0 && fd_count == 0) {
		reply->fds = 0;
		reply->error = EMFILE;
		(void)snprintf(reply->message, sizeof(reply->message),
			       "jxperfd has too many open descriptors: raise its limit "
			       "(LimitNOFILE=)");
	}
	if (reply->fds != fd_count)
		return false;
	at = pendings_find(&c->pendings, reply->id);
	if (!at || !(*at)->sent || (*at)->request.operation != reply->operation)
		return false;
	end_texts(reply);
	c->cpu_ns = reply->cpu_ns;
	pending_answer(pendings_take(&c->pendings, at), reply, fds);
	return true;
}

static bool take_event(struct broker_client *c, const struct broker_event *event, ssize_t n,
		       size_t fd_count)
{
	if (n != (ssize_t)sizeof(*event) || fd_count > 0 || event->kind == 0 ||
	    event->kind >= BROKER_EVENT_KINDS)
		return false;
	if (!c->freed)
		c->callbacks.event(c->callbacks.arg, event);
	return true;
}

static void receive(struct broker_client *c)
{
	for (int i = 0; i < MESSAGES_PER_WAKE && c->socket >= 0; i++) {
		union broker_message message = {.operation = 0};
		int fds[FD_PASS_MAX];
		size_t fd_count = FD_PASS_MAX;
		ssize_t n = fd_recv_permitted(c->socket, &message, sizeof(message), fds, &fd_count);

		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			end_broker(c, NULL);
			return;
		}
		if (c->state != LINK_UP) {
			fd_close_all(fds, fd_count); /* It has none. */
			if (!take_hello(c, &message.reply, n))
				return;
			continue;
		}
		if (message.operation == BROKER_EVENT
			? !take_event(c, &message.event, n, fd_count)
			: !take_reply(c, &message.reply, n, fds, fd_count)) {
			fd_close_all(fds, fd_count);
			end_broker(c, "the privileged half of jxperfd sent an unexpected message");
			return;
		}
	}
}

static void socket_ready(uv_poll_t *handle, int status, int events)
{
	struct broker_client *c = handle->data;

	if (status < 0 || (events & UV_READABLE))
		receive(c);
	if (c->state == LINK_UP && (events & UV_WRITABLE))
		flush(c);
}

/* ---------------------------------------------------------------- a broker that listens */

static void give_up_greeting(uv_timer_t *timer)
{
	end_broker(timer->data, "the privileged half of jxperfd does not say hello");
}

static void lose_patience(uv_timer_t *timer)
{
	struct broker_client *c = timer->data;

	c->state = LINK_LATE;
	(void)snprintf(c->reason, sizeof(c->reason),
		       "the privileged half of jxperfd is still starting");
	(void)uv_timer_start(&c->timer, give_up_greeting, HELLO_LIMIT_MS - HELLO_PATIENCE_MS, 0);
	fail_all(c);
}

/* A socket that does not block, or -errno. */
static int connect_to(const char *path)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return -errno;
	strcpy(address.sun_path, path); /* broker_client_connect has seen that it fits. */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* libuv's poll handles fail only for descriptors that epoll refuses, and for want of memory. */
static void watch_socket(struct broker_client *c)
{
	(void)uv_poll_init(c->loop, &c->socket_poll, c->socket);
	c->socket_poll.data = c;
	c->open_handles++;
	update_events(c);
}

static void try_to_connect(uv_timer_t *timer)
{
	struct broker_client *c = timer->data;
	int fd = connect_to(c->path);

	c->delay_ms = c->delay_ms ? 2 * c->delay_ms : RETRY_FIRST_MS;
	if (c->delay_ms > RETRY_MAX_MS)
		c->delay_ms = RETRY_MAX_MS;
	if (fd < 0) {
		(void)snprintf(c->reason, sizeof(c->reason),
			       "the privileged half of jxperfd cannot be reached at '%s': %s (see "
			       "'systemctl status jxperf-broker')",
			       c->path, strerror(-fd));
		lose(c);
		return;
	}
	c->socket = fd;
	c->state = LINK_GREETING;
	watch_socket(c);
	(void)uv_timer_start(&c->timer, lose_patience, HELLO_PATIENCE_MS, 0);
}

static void refuse(uv_timer_t *timer)
{
	struct broker_client *c = timer->data;

	if (c->state == LINK_AWAY || c->state == LINK_LATE)
		fail_all(c);
}

/* ---------------------------------------------------------------- life */

static struct broker_client *client_new(uv_loop_t *loop,
					const struct broker_client_callbacks *callbacks)
{
	struct broker_client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->loop = loop;
	c->callbacks = *callbacks;
	c->socket = c->process_fd = -1;
	pendings_init(&c->pendings);
	return c;
}

int broker_client_new(struct broker_client **out, uv_loop_t *loop, const char *daemon_path,
		      const struct startup *startup,
		      const struct broker_client_callbacks *callbacks, struct err *err)
{
	_cleanup_free_ struct broker_client *c = client_new(loop, callbacks);
	int r;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	r = broker_start(&c->process, &c->process_fd, &c->socket, daemon_path, startup, err);
	if (r < 0)
		return r;
	c->state = LINK_UP;
	(void)uv_poll_init(loop, &c->process_poll, c->process_fd); /* As watch_socket's. */
	c->process_poll.data = c;
	c->open_handles++;
	(void)uv_poll_start(&c->process_poll, UV_READABLE, process_exited);
	watch_socket(c);
	*out = TAKE_PTR(c);
	return 0;
}

int broker_client_connect(struct broker_client **out, uv_loop_t *loop, const char *path,
			  const struct broker_client_callbacks *callbacks, struct err *err)
{
	_cleanup_free_ struct broker_client *c = client_new(loop, callbacks);

	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return err_set(err, ENAMETOOLONG, "the path '%s' is too long for a socket", path);
	if (c)
		c->path = strdup(path);
	if (!c || !c->path)
		return err_set(err, ENOMEM, "out of memory");
	(void)uv_timer_init(loop, &c->timer); /* These cannot fail. */
	(void)uv_timer_init(loop, &c->refusal);
	c->timer.data = c->refusal.data = c;
	c->open_handles = 2;
	c->reaped = true; /* There is nothing to reap. */
	(void)uv_timer_start(&c->timer, try_to_connect, 0, 0);
	*out = TAKE_PTR(c);
	return 0;
}

void broker_client_free(struct broker_client *c)
{
	if (!c)
		return;
	c->freed = true;
	pendings_forget(&c->pendings);
	if (c->path) {
		fail_all(c); /* Frees them. */
		uv_close((uv_handle_t *)&c->timer, handle_closed);
		uv_close((uv_handle_t *)&c->refusal, handle_closed);
	}
	if (c->reaped && c->open_handles == 0)
		free(c);
	else
		close_socket(c);
}

uint64_t broker_client_cpu_ns(const struct broker_client *c)
{
	return c->cpu_before_ns + c->cpu_ns;
}

bool broker_client_serves(const struct broker_client *c)
{
	return c->state == LINK_UP;
}

/* ---------------------------------------------------------------- requests */

int broker_client_ask(struct broker_client *c, const struct broker_request *request,
		      broker_reply_fn fn, void *arg)
{
	int id = c->state == LINK_ENDED ? -EPIPE : pendings_add(&c->pendings, request, fn, arg);

	if (id < 0)
		return id;
	if (c->state == LINK_UP)
		flush(c);
	else if (c->state != LINK_GREETING)
		(void)uv_timer_start(&c->refusal, refuse, 0, 0);
	return id;
}

void broker_client_forget(struct broker_client *c, int id)
{
	struct pending **at = pendings_find(&c->pendings, (uint32_t)id);

	if (at)
		(*at)->fn = NULL;
}
