/*
 * The agent's end of the session socket: frames out, frames in, descriptors in.
 *
 * Session thread only. Sending blocks for at most LINK_SEND_TIMEOUT_S: rings absorb a slow engine
 * for that long, and a stuck one ends the session. Nothing here outlives link_close.
 */
#ifndef JXPERF_AGENT_STREAM_LINK_H
#define JXPERF_AGENT_STREAM_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "proto/jxperf.pb-c.h"

#define LINK_SEND_TIMEOUT_S 5

struct link {
	int fd;
	struct buffer in;
	struct buffer out;
	int received_fds[FD_PASS_MAX]; /* of the frame that is being read */
	size_t received_count;
};

/* Connects to the helper's listening socket. 0 or -errno. */
int link_connect(struct link *link, const char *path);

/* Has the other side closed its end? Then nothing that is sent arrives. Any thread may ask while
 * the link is open. */
bool link_is_left(const struct link *link);

/* Closes the socket and descriptors that nobody took. Safe on a zeroed or failed link. */
void link_close(struct link *link);

/* Frees what frames are put together in; the link stays connected, for link_close alone. */
void link_release_buffers(struct link *link);

/* 0 or -errno. After -ETIMEDOUT a part of the frame may be sent; the rest goes out before the next
 * frame, so that the engine never takes the middle of one for the beginning of another. */
int link_send(struct link *link, const Jxp__AgentFrame *frame);

/* Takes the next frame. Waits up to timeout_ms for bytes (0: not at all). Returns 1 with *frame, to
 * be freed with jxp__engine_frame__free_unpacked; 0 when there is none yet; -EPIPE at end of
 * stream, or another -errno, after which the link is unusable. */
int link_receive(struct link *link, int timeout_ms, Jxp__EngineFrame **frame);

/* Takes the descriptors that came with the frame just received, at most count. Returns how many:
 * none when this process was not permitted to have them all (SELinux, RLIMIT_NOFILE). */
size_t link_take_fds(struct link *link, int *fds, size_t count);

#endif
