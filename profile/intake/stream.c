#include "profile/intake/stream.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "proto/frame.h"

/* One read; how many in a row, and how long their frames may be handled, before the other handles
 * of the loop get their turn. The frame that is being handled when the time is over is the last. */
#define READ_BYTES     (64u << 10)
#define READS_IN_A_ROW 16
#define TURN_NS        (2 * NS_PER_MS)

/* The kernel tells nobody when there is room for descriptors again. */
#define HELD_MS 20

/* Descriptors that belong to the frame which starts at byte `at` of everything ever queued. */
struct attachment {
	uint64_t at;
	size_t count;
	int fds[FD_PASS_MAX];
};

struct stream {
	uv_poll_t poll;
	uv_idle_t next_turn;
	uv_timer_t held_timer;
	int open_handles;
	int fd;
	struct stream_limits limits;
	struct stream_callbacks callbacks;
	struct buffer in;
	struct buffer out;
	uint64_t sent; /* bytes ever handed to the kernel */
	struct attachment attachments[STREAM_ATTACHMENTS_MAX];
	size_t attachment_count;
	bool held; /* what is next has descriptors for which the kernel has no room */
	bool awaits_idle;
	bool pending;   /* frames that have been read wait for the next turn */
	bool finishing; /* input is ignored, flushed is due when out is empty */
	bool closing;   /* stream_free was called: no more callbacks */
	bool ended;
};

static void on_poll(uv_poll_t *poll, int status, int events);
static void on_next_turn(uv_idle_t *idle);

/* Polls for what can be done now. An end of stream is readable; once finishing, where input is
 * ignored, the next send finds it. */
static void watch(struct stream *s)
{
	int events = s->finishing || s->pending ? 0 : UV_READABLE;

	if (s->closing || (s->ended && !s->finishing))
		return;
	/* The socket is writable nearly always, so this is the loop's next turn. */
	if (!s->held && (buffer_length(&s->out) > 0 || s->finishing || s->awaits_idle))
		events |= UV_WRITABLE;
	/* The socket does not tell of frames that have been read, nor is it writable where the peer
	 * does not read. Fails only for a NULL callback. */
	if (s->pending && !s->finishing)
		(void)uv_idle_start(&s->next_turn, on_next_turn);
	/* Fails only for a handle that is closing or a negative descriptor: neither is possible. */
	(void)uv_poll_start(&s->poll, events, on_poll);
}

static void end(struct stream *s, const char *reason)
{
	if (s->closing || s->ended)
		return;
	s->ended = true;
	(void)uv_poll_stop(&s->poll); /* Cannot fail. */
	s->callbacks.end(s->callbacks.arg, reason);
}

static void end_errno(struct stream *s, int error)
{
	char text[128];

	end(s, strerror_r(error, text, sizeof(text)));
}

static void drop_attachment(struct stream *s)
{
	fd_close_all(s->attachments[0].fds, s->attachments[0].count);
	s->attachment_count--;
	memmove(s->attachments, s->attachments + 1,
		s->attachment_count * sizeof(s->attachments[0]));
}

/* One sendmsg: up to the next frame that carries descriptors, or that frame with them. */
static ssize_t send_some(struct stream *s)
{
	size_t size = buffer_length(&s->out);
	const struct attachment *next = s->attachment_count ? &s->attachments[0] : NULL;
	ssize_t n;

	if (next && next->at > s->sent) {
		if (size > next->at - s->sent)
			size = next->at - s->sent;
		next = NULL;
	} else if (s->attachment_count > 1 && size > s->attachments[1].at - s->sent) {
		size = s->attachments[1].at - s->sent;
	}
	n = fd_send(s->fd, buffer_head(&s->out), size, next ? next->fds : NULL,
		    next ? next->count : 0);
	if (n > 0 && next)
		drop_attachment(s);
	return n;
}

static void on_held_over(uv_timer_t *timer)
{
	struct stream *s = timer->data;

	s->held = false;
	watch(s);
}

static void hold(struct stream *s)
{
	s->held = true;
	/* Fails only for a NULL callback or a closing handle. */
	(void)uv_timer_start(&s->held_timer, on_held_over, HELD_MS, 0);
}

/* 0 when all is sent, the kernel takes no more or the turn is over, else -errno. */
static int flush(struct stream *s)
{
	uint64_t turn_end_ns = clock_monotonic_ns() + TURN_NS;

	while (buffer_length(&s->out) > 0 && !s->held) {
		ssize_t n = send_some(s);

		if (n == -EAGAIN)
			return 0;
		if (n == -ETOOMANYREFS) {
			hold(s);
			return 0;
		}
		if (n < 0)
			return (int)n;
		s->sent += (uint64_t)n;
		buffer_consume(&s->out, (size_t)n);
		if (clock_monotonic_ns() >= turn_end_ns)
			return 0; /* A fast reader of a large report leaves others their turn. */
	}
	return 0;
}

/* Hands whole frames on. False when the stream ended or was freed meanwhile, or its turn is over.
 */
static bool deliver(struct stream *s, uint64_t turn_end_ns)
{
	const uint8_t *payload;
	int64_t size;

	while ((size = frame_peek(&s->in, s->limits.in_frame, &payload)) > 0) {
		s->callbacks.frame(s->callbacks.arg, payload, (size_t)size);
		if (s->closing || s->ended || s->finishing)
			return false;
		frame_consume(&s->in, (size_t)size);
		if (clock_monotonic_ns() >= turn_end_ns) {
			s->pending = true;
			return false;
		}
	}
	if (size < 0) {
		end(s, "a frame's length is outside the limits: this is not the jxperf protocol");
		return false;
	}
	return true;
}

/* False when there is nothing more to read for now, or ever. */
static bool read_some(struct stream *s, uint64_t turn_end_ns)
{
	size_t room = s->in.limit - buffer_length(&s->in);
	size_t wanted = room < READ_BYTES ? room : READ_BYTES;
	uint8_t *to = buffer_reserve(&s->in, wanted);
	size_t fds = 0; /* No descriptor is expected from any peer. */
	ssize_t n;

	if (!to) {
		end_errno(s, errno);
		return false;
	}
	n = fd_recv(s->fd, to, wanted, NULL, &fds);
	if (n == -EAGAIN)
		return false;
	/* A peer that goes leaves what it has not read, and the kernel says so once all that it
	 * sent has been read (unix_release_sock). */
	if (n == -ECONNRESET)
		n = 0;
	if (n < 0) {
		end_errno(s, (int)-n);
		return false;
	}
	if (n == 0) {
		end(s,
		    buffer_length(&s->in) > 0 ? "the connection was closed inside a frame" : NULL);
		return false;
	}
	buffer_commit(&s->in, (size_t)n);
	return deliver(s, turn_end_ns);
}

/* What waits comes before what is read, and an end of stream last. */
static void take_turn(struct stream *s)
{
	uint64_t turn_end_ns = clock_monotonic_ns() + TURN_NS;

	s->pending = false;
	if (!deliver(s, turn_end_ns))
		return;
	for (int i = 0; i < READS_IN_A_ROW; i++)
		if (!read_some(s, turn_end_ns))
			return;
}

bool stream_is_idle(const struct stream *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};

	return buffer_length(&s->out) == 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

void stream_await_idle(struct stream *s)
{
	s->awaits_idle = true;
	watch(s);
}

/* Last in a turn: the callback may free the stream. */
static void tell_if_idle(struct stream *s)
{
	if (!s->awaits_idle || !stream_is_idle(s))
		return;
	s->awaits_idle = false;
	watch(s);
	s->callbacks.idle(s->callbacks.arg);
}

static void drop_unsent(struct stream *s)
{
	s->sent += buffer_length(&s->out);
	buffer_consume(&s->out, buffer_length(&s->out));
	while (s->attachment_count > 0)
		drop_attachment(s);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct stream *s = poll->data;
	int r;

	/* On POLLERR libuv reports EBADF and stops polling. What had arrived can still be read;
	 * then the socket itself tells its error, or watch() starts again. */
	if ((status < 0 || (events & UV_READABLE)) && !s->finishing)
		take_turn(s);
	if (s->closing || (s->ended && !s->finishing))
		return;
	r = flush(s);
	/* The peer takes nothing any more. What it said before is still read, to its end. */
	if (r == -EPIPE && !s->finishing) {
		drop_unsent(s);
		r = 0;
	}
	if (s->finishing && (r < 0 || buffer_length(&s->out) == 0)) {
		(void)uv_poll_stop(&s->poll); /* Cannot fail. */
		s->callbacks.flushed(s->callbacks.arg);
	} else if (r < 0) {
		end_errno(s, -r);
	} else {
		watch(s);
		tell_if_idle(s);
	}
}

static void on_next_turn(uv_idle_t *idle)
{
	struct stream *s = idle->data;

	(void)uv_idle_stop(idle); /* Cannot fail. */
	on_poll(&s->poll, 0, UV_READABLE);
}

int stream_new(struct stream **out, uv_loop_t *loop, int fd, const struct stream_limits *limits,
	       const struct stream_callbacks *callbacks, struct err *err)
{
	_cleanup_free_ struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	r = fd_set_nonblocking(fd, true);
	if (r < 0)
		return err_set_errno(err, -r, "cannot make a socket non-blocking");
	fd_refuse_descriptors(fd);
	r = uv_poll_init(loop, &s->poll, fd);
	if (r < 0)
		return err_set_errno(err, -r, "cannot watch a socket");
	/* Cannot fail. */
	(void)uv_idle_init(loop, &s->next_turn);
	(void)uv_timer_init(loop, &s->held_timer);
	s->poll.data = s->next_turn.data = s->held_timer.data = s;
	s->open_handles = 3;
	s->fd = fd;
	s->limits = *limits;
	s->callbacks = *callbacks;
	buffer_init(&s->in, FRAME_HEADER_BYTES + limits->in_frame);
	buffer_init(&s->out, limits->out_queue);
	watch(s);
	*out = TAKE_PTR(s);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct stream *s = handle->data;

	if (--s->open_handles > 0)
		return;
	buffer_release(&s->in);
	buffer_release(&s->out);
	free(s);
}

void stream_free(struct stream *s)
{
	if (!s || s->closing)
		return;
	s->closing = true;
	drop_unsent(s);
	uv_close((uv_handle_t *)&s->poll, on_closed);
	uv_close((uv_handle_t *)&s->next_turn, on_closed);
	uv_close((uv_handle_t *)&s->held_timer, on_closed);
	/* After uv_close the poll handle no longer uses the descriptor (libuv, uv_poll_init). */
	fd_close_all(&s->fd, 1);
}

int stream_send(struct stream *s, const ProtobufCMessage *message, const int *fds, size_t fd_count)
{
	uint64_t at = s->sent + buffer_length(&s->out);
	int r;

	assert(fd_count <= FD_PASS_MAX);
	if (fd_count > 0 && s->attachment_count == STREAM_ATTACHMENTS_MAX)
		return -ENOBUFS;
	r = frame_append(&s->out, message, s->limits.out_frame);
	if (r < 0)
		return r;
	if (fd_count > 0) {
		struct attachment *a = &s->attachments[s->attachment_count++];

		a->at = at;
		a->count = fd_count;
		memcpy(a->fds, fds, fd_count * sizeof(*fds));
	}
	watch(s);
	return 0;
}

int stream_send_packed(struct stream *s, struct buffer *frame)
{
	size_t limit = s->out.limit;
	int r;

	if (buffer_length(frame) > limit - buffer_length(&s->out))
		return -ENOBUFS;
	if (buffer_length(&s->out) == 0) {
		buffer_release(&s->out);
		s->out = *frame;
		s->out.limit = limit;
		*frame = (struct buffer){0};
	} else {
		r = buffer_append(&s->out, buffer_head(frame), buffer_length(frame));
		if (r < 0)
			return r;
		buffer_release(frame);
	}
	watch(s);
	return 0;
}

void stream_finish(struct stream *s)
{
	s->finishing = true;
	watch(s);
}
