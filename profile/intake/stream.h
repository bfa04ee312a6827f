/*
 * Frames over a non-blocking stream socket, on the event loop.
 *
 * Reading: each whole frame is handed to the frame callback; a length outside the limit,
 * descriptors nobody asked for, or an end of stream inside a frame end the stream with a reason.
 * A peer that floods us has two milliseconds and one frame in each turn of the loop; what it sends
 * beyond waits, in the end in the peer.
 * Writing: frames are queued up to out_limit bytes; a peer that does not read is cut off there by
 * the caller, who sees -ENOBUFS. Descriptors travel on the first byte of their frame (SCM_RIGHTS).
 * The kernel bounds how many of a user's are on their way (sent and not received): where others
 * have used that up, a frame waits until there is room.
 *
 * Loop thread only. The end callback runs at most once, not after stream_finish, and never from
 * inside a call made here; no callback runs after stream_free, which callbacks may call. The stream
 * owns its socket.
 */
#ifndef JXPERF_PROFILE_INTAKE_STREAM_H
#define JXPERF_PROFILE_INTAKE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* Frames with descriptors that may wait for a slow peer. */
#define STREAM_ATTACHMENTS_MAX 4

struct buffer;
struct stream;

struct stream_callbacks {
	void *arg;
	void (*frame)(void *arg, const uint8_t *payload, size_t size);
	/* Nothing more will arrive. The owner frees the stream, or sends a last word and calls
	 * stream_finish. reason NULL: the peer closed between frames. */
	void (*end)(void *arg, const char *reason);
	/* After stream_finish: everything queued has been handed to the kernel, or never will be.
	 * May be NULL for an owner that never calls stream_finish. */
	void (*flushed)(void *arg);
	/* After stream_await_idle. May be NULL for an owner that never calls it. */
	void (*idle)(void *arg);
};

struct stream_limits {
	size_t in_frame; /* largest payload accepted */
	size_t out_frame;
	size_t out_queue; /* bytes that may wait to be sent */
};

/* Takes the socket on success and leaves it alone on failure. 0 or -errno. */
int stream_new(struct stream **out, uv_loop_t *loop, int fd, const struct stream_limits *limits,
	       const struct stream_callbacks *callbacks, struct err *err);

/* Closes the socket at once; what is queued is lost. The memory goes when the loop has closed the
 * handle. free(NULL) is safe. */
void stream_free(struct stream *s);

/* Queues message as one frame with up to FD_PASS_MAX descriptors, which the stream closes once they
 * are sent; on failure they stay the caller's. 0, -EMSGSIZE, -ENOBUFS when the peer does not keep
 * up, or -ENOMEM. */
int stream_send(struct stream *s, const ProtobufCMessage *message, const int *fds, size_t fd_count);

/* Queues a frame that is packed already (frame_append). Takes its memory and leaves the buffer
 * empty; on failure, as stream_send's, it is as it was. */
int stream_send_packed(struct stream *s, struct buffer *frame);

/* Is nothing queued, and would poll(2) call the socket writable? A Unix socket is so while what the
 * peer has not read takes a quarter of its send buffer (SO_SNDBUF) at most. */
bool stream_is_idle(const struct stream *s);

/* The idle callback runs, once and from the loop, when the stream is idle. */
void stream_await_idle(struct stream *s);

/* No more frames will be sent or delivered: the flushed callback runs when the queue is empty. */
void stream_finish(struct stream *s);

#endif
