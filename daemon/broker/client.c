#include "daemon/broker/client.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/broker/start.h"
#include "daemon/inspector/inspector.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MESSAGES_PER_WAKE 64

/* A request that waits to be sent or answered. fn is NULL once it is forgotten, and for what
 * is not answered, which is dropped when it has been sent. */
struct pending {
	struct pending *next;
	struct broker_request request;
	bool sent;
	broker_reply_fn fn;
	void *arg;
};

/* Invariants: pendings are in the order of their requests, the sent ones first. The handles are
 * closed and the client is freed in the order: socket closed, broker reaped, both close callbacks
 * run. */
struct broker_client {
	uv_loop_t *loop;
	uv_poll_t socket_poll;
	uv_poll_t process_poll;
	int socket; /* -1 once closed */
	int process_fd;
	pid_t process;
	bool freed; /* by the owner: no callback runs any more */
	bool reaped;
	int open_handles;
	int next_id;
	unsigned answered_pending; /* of those that count against BROKER_PENDING_MAX */
	unsigned silent_pending;
	struct pending *first;
	struct pending **last;
	struct broker_client_callbacks callbacks;
	char reason[ERR_MESSAGE_MAX];
};

/* ---------------------------------------------------------------- the list of pending requests */

static unsigned *counter_of(struct broker_client *c, const struct pending *p)
{
	return broker_operation_is_answered(p->request.operation) ? &c->answered_pending
								  : &c->silent_pending;
}

/* Takes the entry that *at points to out of the list. */
static struct pending *unlink_pending(struct broker_client *c, struct pending **at)
{
	struct pending *p = *at;

	*at = p->next;
	if (c->last == &p->next)
		c->last = at;
	(*counter_of(c, p))--;
	return p;
}

static struct pending **find_pending(struct broker_client *c, uint32_t id)
{
	for (struct pending **at = &c->first; *at; at = &(*at)->next)
		if ((*at)->request.id == id &&
		    broker_operation_is_answered((*at)->request.operation))
			return at;
	return NULL;
}

/* Answers and frees an entry that is no longer in the list; closes what was not taken. */
static void answer(struct pending *p, const struct broker_reply *reply, int *fds)
{
	if (p->fn)
		p->fn(p->arg, reply, fds);
	fd_close_all(fds, reply->fds);
	free(p);
}

static void fail_all(struct broker_client *c)
{
	while (c->first) {
		struct pending *p = unlink_pending(c, &c->first);
		struct broker_reply reply = {
		    .operation = p->request.operation,
		    .id = p->request.id,
		    .error = EPIPE,
		};
		struct err err;

		(void)err_set(&err, EPIPE, "%s; restart jxperfd", c->reason);
		strcpy(reply.message, err.message);
		answer(p, &reply, NULL);
	}
}

static void forget_all(struct broker_client *c)
{
	for (struct pending *p = c->first; p; p = p->next)
		p->fn = NULL;
}

/* ---------------------------------------------------------------- the end */

static void handle_closed(uv_handle_t *handle)
{
	struct broker_client *c = handle->data;

	if (--c->open_handles > 0)
		return;
	cleanup_close(&c->process_fd);
	c->process_fd = -1;
	if (c->freed)
		free(c);
}

/* The broker ends at end of file; process_exited continues. */
static void close_socket(struct broker_client *c)
{
	if (c->socket < 0)
		return;
	uv_close((uv_handle_t *)&c->socket_poll, handle_closed);
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
	describe_end(c, status);
	close_socket(c);
	uv_close((uv_handle_t *)&c->process_poll, handle_closed);
	fail_all(c);
	if (!c->freed)
		c->callbacks.died(c->callbacks.arg, c->reason);
}

/* A broker that closed its socket or broke the protocol is of no more use. */
static void end_broker(struct broker_client *c, const char *why)
{
	if (why && !c->reason[0])
		(void)snprintf(c->reason, sizeof(c->reason), "%s", why);
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

/* ---------------------------------------------------------------- transfer */

static void socket_ready(uv_poll_t *handle, int status, int events);

static void update_events(struct broker_client *c)
{
	bool unsent = false;

	for (struct pending *p = c->first; p; p = p->next)
		unsent |= !p->sent;
	/* Cannot fail for a descriptor that epoll has accepted before. */
	(void)uv_poll_start(&c->socket_poll, UV_READABLE | (unsent ? UV_WRITABLE : 0),
			    socket_ready);
}

/* Sends what the socket takes now. Errors show up as end of file on the reading side. */
static void flush(struct broker_client *c)
{
	struct pending **at = &c->first;

	while (*at) {
		struct pending *p = *at;

		if (!p->sent) {
			if (fd_send(c->socket, &p->request, sizeof(p->request), NULL, 0) < 0)
				break;
			p->sent = true;
			if (!broker_operation_is_answered(p->request.operation)) {
				free(unlink_pending(c, at));
				continue;
			}
		}
		at = &p->next;
	}
	update_events(c);
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
	at = find_pending(c, reply->id);
	if (!at || !(*at)->sent || (*at)->request.operation != reply->operation)
		return false;
	reply->message[sizeof(reply->message) - 1] = '\0';
	answer(unlink_pending(c, at), reply, fds);
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
	if (c->socket >= 0 && (events & UV_WRITABLE))
		flush(c);
}

/* ---------------------------------------------------------------- life */

/* libuv's poll handles fail only for descriptors that epoll refuses, and for want of memory. */
static void start_handles(struct broker_client *c)
{
	(void)uv_poll_init(c->loop, &c->socket_poll, c->socket);
	(void)uv_poll_init(c->loop, &c->process_poll, c->process_fd);
	c->socket_poll.data = c;
	c->process_poll.data = c;
	c->open_handles = 2;
	(void)uv_poll_start(&c->process_poll, UV_READABLE, process_exited);
	update_events(c);
}

int broker_client_new(struct broker_client **out, uv_loop_t *loop, const char *daemon_path,
		      const struct startup *startup,
		      const struct broker_client_callbacks *callbacks, struct err *err)
{
	_cleanup_free_ struct broker_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->loop = loop;
	c->callbacks = *callbacks;
	c->last = &c->first;
	r = broker_start(&c->process, &c->process_fd, &c->socket, daemon_path, startup, err);
	if (r < 0)
		return r;
	start_handles(c);
	*out = TAKE_PTR(c);
	return 0;
}

void broker_client_free(struct broker_client *c)
{
	if (!c)
		return;
	c->freed = true;
	forget_all(c);
	if (c->reaped && c->open_handles == 0)
		free(c);
	else
		close_socket(c);
}

pid_t broker_client_pid(const struct broker_client *c)
{
	return c->process;
}

/* ---------------------------------------------------------------- requests */

static int submit(struct broker_client *c, const struct broker_request *request, broker_reply_fn fn,
		  void *arg)
{
	struct pending *p;

	if (c->socket < 0)
		return -EPIPE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->request = *request;
	if (*counter_of(c, p) >= BROKER_PENDING_MAX) {
		free(p);
		return -EAGAIN;
	}
	c->next_id = c->next_id == INT32_MAX ? 1 : c->next_id + 1;
	p->request.id = (uint32_t)c->next_id;
	p->fn = fn;
	p->arg = arg;
	(*counter_of(c, p))++;
	*c->last = p;
	c->last = &p->next;
	flush(c);
	return (int)c->next_id;
}

int broker_client_attach(struct broker_client *c, pid_t pid, uint64_t start_ticks, uid_t owner,
			 uint32_t flags, broker_reply_fn fn, void *arg)
{
	struct broker_request request = {.operation = BROKER_ATTACH,
					 .pid = pid,
					 .owner = owner,
					 .attach_flags = flags,
					 .start_ticks = start_ticks};

	return submit(c, &request, fn, arg);
}

int broker_client_perf_open(struct broker_client *c, pid_t pid, const Jxp__PerfOpenRequest *asked,
			    broker_reply_fn fn, void *arg)
{
	struct broker_request request = {
	    .operation = BROKER_PERF_OPEN,
	    .pid = pid,
	    .namespace_tid = (pid_t)asked->tid,
	    .breakpoints = asked->breakpoints,
	    .hardware_event = asked->hardware_event,
	    .clock_period_ns = asked->clock_period_ns,
	    .event_period = asked->event_period,
	    .sig_data = asked->sig_data,
	};

	return submit(c, &request, fn, arg);
}

int broker_client_inspect(struct broker_client *c, int pid, uid_t owner, broker_reply_fn fn,
			  void *arg)
{
	struct broker_request request = {.operation = BROKER_INSPECT, .pid = pid, .owner = owner};

	return submit(c, &request, fn, arg);
}

int broker_client_inspect_some(struct broker_client *c, const pid_t *pids, size_t count,
			       broker_reply_fn fn, void *arg)
{
	struct broker_request request = {.operation = BROKER_INSPECT,
					 .pid = INSPECTOR_LIST,
					 .owner = PROC_ANY_UID,
					 .pid_count = (uint32_t)count};

	memcpy(request.pids, pids, count * sizeof(*pids));
	return submit(c, &request, fn, arg);
}

int broker_client_discover(struct broker_client *c, bool on, broker_reply_fn fn, void *arg)
{
	struct broker_request request = {.operation = BROKER_DISCOVER, .switch_on = on};

	return submit(c, &request, fn, arg);
}

int broker_client_follow(struct broker_client *c, const pid_t *pids, size_t count)
{
	struct broker_request request = {.operation = BROKER_FOLLOW, .pid_count = (uint32_t)count};
	int r;

	memcpy(request.pids, pids, count * sizeof(*pids));
	r = submit(c, &request, NULL, NULL);
	return r < 0 ? r : 0;
}

int broker_client_watch(struct broker_client *c, pid_t pid, broker_reply_fn fn, void *arg)
{
	struct broker_request request = {.operation = BROKER_WATCH, .pid = pid};

	return submit(c, &request, fn, arg);
}

int broker_client_pages(struct broker_client *c, pid_t pid, const uint64_t *pages, size_t count,
			broker_reply_fn fn, void *arg)
{
	struct broker_request request = {
	    .operation = BROKER_PAGES, .pid = pid, .page_count = (uint32_t)count};

	memcpy(request.pages, pages, count * sizeof(*pages));
	return submit(c, &request, fn, arg);
}

int broker_client_gate(struct broker_client *c, pid_t pid, const struct gate_limits *limits,
		       broker_reply_fn fn, void *arg)
{
	struct broker_request request = {.operation = BROKER_GATE, .pid = pid};

	if (limits)
		request.gate = *limits;
	return submit(c, &request, fn, arg);
}

void broker_client_forget(struct broker_client *c, int id)
{
	struct pending **at = find_pending(c, (uint32_t)id);

	if (at)
		(*at)->fn = NULL;
}

int broker_client_release(struct broker_client *c, pid_t pid)
{
	struct broker_request request = {.operation = BROKER_RELEASE, .pid = pid};
	int r = submit(c, &request, NULL, NULL);

	return r < 0 ? r : 0;
}
