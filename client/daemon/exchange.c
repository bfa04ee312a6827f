#include "client/daemon/exchange.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/daemon/private_daemon.h"
#include "common/clock.h"
#include "proto/frame.h"
#include "proto/limits.h"

#define READ_BYTES 65536

void exchange_free_reply(Jxp__ControlReply **reply)
{
	jxp__control_reply__free_unpacked(*reply, NULL); /* Accepts NULL. */
	*reply = NULL;
}

void exchange_end(struct exchange *x)
{
	cleanup_close(&x->fd);
	x->fd = -1;
	buffer_release(&x->in);
}

int exchange_unexpected(struct err *err)
{
	return err_set(err, EPROTO,
		       "the daemon's reply does not answer the request: use the jxperfctl of the "
		       "daemon's version");
}

static int gone(const struct client *c, struct err *err)
{
	char line[ERR_MESSAGE_MAX] = "";

	if (c->own)
		private_daemon_last_words(c->own, line, sizeof(line));
	return err_set(err, ECONNRESET, "the daemon closed the connection without an answer%s%s",
		       line[0] ? "; it said last: " : ": see its log", line);
}

/* The request is far smaller than a socket's buffer, so a blocking write does not wait. */
static int send_all(int fd, const struct buffer *out, struct err *err)
{
	size_t done = 0;

	while (done < buffer_length(out)) {
		ssize_t n =
		    send(fd, buffer_head(out) + done, buffer_length(out) - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* A daemon that lets nobody else in says so before it closes. */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (n < 0)
			return err_set_errno(err, errno, "cannot send to the daemon");
		done += (size_t)n;
	}
	return 0;
}

int exchange_begin(struct exchange *x, const struct client *c, Jxp__ControlRequest__BodyCase asked,
		   void *body, struct err *err)
{
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_(buffer_release) struct buffer out;
	int r;

	request.protocol = PROTOCOL_VERSION;
	request.body_case = asked;
	request.attach = body; /* All bodies are pointers in one union. */

	buffer_init(&out, FRAME_MAX_CONTROL + FRAME_HEADER_BYTES);
	buffer_init(&x->in, FRAME_MAX_REPLY + FRAME_HEADER_BYTES);
	r = frame_append(&out, &request.base, FRAME_MAX_CONTROL);
	if (r == -EMSGSIZE)
		return err_set(err, EINVAL, "the request is longer than %u bytes",
			       FRAME_MAX_CONTROL);
	if (r < 0)
		return err_set_errno(err, -r, "cannot encode the request");
	x->fd = client_connect(c, err);
	if (x->fd < 0)
		return x->fd;
	return send_all(x->fd, &out, err);
}

/* ---------------------------------------------------------------- replies */

/* Turns a payload into a checked reply. */
static int decode(const uint8_t *payload, size_t size, Jxp__ControlReply **out, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = jxp__control_reply__unpack(NULL, size, payload);

	if (!reply)
		return err_set(err, EPROTO, "the daemon's reply is malformed");
	if (reply->protocol != PROTOCOL_VERSION)
		return err_set(err, EPROTO,
			       "the daemon speaks protocol %u and this jxperfctl %u: use the "
			       "jxperfctl of the daemon's version",
			       reply->protocol, PROTOCOL_VERSION);
	if (reply->body_case == JXP__CONTROL_REPLY__BODY_FAILURE) {
		int error = reply->failure->again ? EAGAIN : EREMOTEIO;

		return err_set(err, reply->failure->usage ? EINVAL : error, "%s",
			       reply->failure->message);
	}
	*out = TAKE_PTR(reply);
	return 0;
}

/* 1 with a reply in *reply, 0 when more bytes are needed, or -errno. */
static int take_reply(struct exchange *x, Jxp__ControlReply **reply, struct err *err)
{
	const uint8_t *payload;
	int64_t size = frame_peek(&x->in, FRAME_MAX_REPLY, &payload);
	int r;

	if (size < 0)
		return err_set(err, EPROTO,
			       "the daemon's reply has an invalid length: is this jxperfd's "
			       "control socket?");
	if (size == 0)
		return 0;
	r = decode(payload, (size_t)size, reply, err);
	frame_consume(&x->in, (size_t)size);
	return r < 0 ? r : 1;
}

static int receive(struct exchange *x, const struct client *c, struct err *err)
{
	uint8_t *to = buffer_reserve(&x->in, READ_BYTES);
	size_t room = READ_BYTES;
	ssize_t n;

	/* Near the limit only a frame's rest fits. */
	if (!to && errno == ENOBUFS) {
		room = x->in.limit - buffer_length(&x->in);
		to = buffer_reserve(&x->in, room);
	}
	if (!to)
		return err_set_errno(err, errno, "cannot hold the daemon's reply");
	n = recv(x->fd, to, room, 0);
	if (n < 0 && errno == EINTR)
		return 0;
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return gone(c, err);
	if (n < 0)
		return err_set_errno(err, errno, "cannot read the daemon's reply");
	buffer_commit(&x->in, (size_t)n);
	return 0;
}

/* Until bytes are there. */
static int wait_readable(const struct exchange *x, const struct client *c, uint64_t deadline_ns,
			 struct err *err)
{
	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd fds[] = {{.fd = x->fd, .events = POLLIN},
				       {.fd = c->interrupt.fd, .events = POLLIN}};

		if (now_ns >= deadline_ns)
			return err_set(err, ETIMEDOUT, "the daemon does not answer: see its log");
		if (poll(fds, 2, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
		    errno != EINTR)
			return err_set_errno(err, errno, "cannot wait for the daemon");
		if (fds[1].revents)
			return err_set(err, EINTR, "interrupted");
		if (fds[0].revents)
			return 0;
	}
}

int exchange_next(struct exchange *x, struct client *c, int timeout_ms, Jxp__ControlReply **reply,
		  struct err *err)
{
	uint64_t deadline_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS;

	for (;;) {
		int r = take_reply(x, reply, err);

		if (r != 0)
			return r < 0 ? r : 0;
		if ((r = wait_readable(x, c, deadline_ns, err)) < 0 || (r = receive(x, c, err)) < 0)
			return r;
	}
}

/* Each request that one reply answers, and the kind of that reply. */
static const Jxp__ControlReply__BodyCase answers[] = {
    [JXP__CONTROL_REQUEST__BODY_LIST] = JXP__CONTROL_REPLY__BODY_JVMS,
    [JXP__CONTROL_REQUEST__BODY_CHECK] = JXP__CONTROL_REPLY__BODY_CHECK,
    [JXP__CONTROL_REQUEST__BODY_ATTACH] = JXP__CONTROL_REPLY__BODY_STARTED, /* in background */
    [JXP__CONTROL_REQUEST__BODY_DETACH] = JXP__CONTROL_REPLY__BODY_DONE,
    [JXP__CONTROL_REQUEST__BODY_STATUS] = JXP__CONTROL_REPLY__BODY_STATUS,
    [JXP__CONTROL_REQUEST__BODY_THREADS] = JXP__CONTROL_REPLY__BODY_THREADS,
    [JXP__CONTROL_REQUEST__BODY_WINDOWS] = JXP__CONTROL_REPLY__BODY_WINDOWS,
    [JXP__CONTROL_REQUEST__BODY_REPORT] = JXP__CONTROL_REPLY__BODY_DOCUMENT,
    [JXP__CONTROL_REQUEST__BODY_RELOAD] = JXP__CONTROL_REPLY__BODY_DONE,
    [JXP__CONTROL_REQUEST__BODY_PAUSE] = JXP__CONTROL_REPLY__BODY_DONE,
    [JXP__CONTROL_REQUEST__BODY_RESUME] = JXP__CONTROL_REPLY__BODY_DONE,
};

int exchange_once(struct client *c, Jxp__ControlRequest__BodyCase asked, void *body,
		  Jxp__ControlReply **out, struct err *err)
{
	return exchange_once_within(c, asked, body, EXCHANGE_REPLY_TIMEOUT_MS, out, err);
}

int exchange_once_within(struct client *c, Jxp__ControlRequest__BodyCase asked, void *body,
			 int timeout_ms, Jxp__ControlReply **out, struct err *err)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_begin(&x, c, asked, body, err);

	if (r == 0)
		r = exchange_next(&x, c, timeout_ms, &reply, err);
	if (r < 0)
		return r;
	assert(reply);
	assert((size_t)asked < sizeof(answers) / sizeof(answers[0]) && answers[asked]);
	if (reply->body_case != answers[asked])
		return exchange_unexpected(err);
	*out = TAKE_PTR(reply);
	return 0;
}

int exchange_detach(struct client *c, uint32_t pid, Jxp__ControlReply **out, struct err *err)
{
	Jxp__DetachRequest detach = JXP__DETACH_REQUEST__INIT;

	detach.pid = pid;
	return exchange_once(c, JXP__CONTROL_REQUEST__BODY_DETACH, &detach, out, err);
}
