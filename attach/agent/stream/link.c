#include "attach/agent/stream/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/frame.h"
#include "proto/limits.h"

#define RECEIVE_BYTES 4096u

int link_connect(struct link *link, const char *path)
{
	struct timeval timeout = {.tv_sec = LINK_SEND_TIMEOUT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	*link = (struct link){.fd = -1};
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The time is that of connect, too, should many wait to be accepted. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int saved = errno;

		(void)close(fd); /* Nothing was sent. */
		return -saved;
	}
	link->fd = fd;
	buffer_init(&link->in, FRAME_HEADER_BYTES + FRAME_MAX_AGENT);
	buffer_init(&link->out, FRAME_HEADER_BYTES + FRAME_MAX_AGENT);
	return 0;
}

bool link_is_left(const struct link *link)
{
	struct pollfd p = {.fd = link->fd};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

void link_release_buffers(struct link *link)
{
	buffer_release(&link->in);
	buffer_release(&link->out);
}

void link_close(struct link *link)
{
	fd_close_all(link->received_fds, link->received_count);
	link->received_count = 0;
	if (link->fd >= 0)
		(void)close(link->fd); /* All that mattered was acknowledged by send. */
	link->fd = -1;
	link_release_buffers(link);
}

int link_send(struct link *link, const Jxp__AgentFrame *frame)
{
	/* Behind what an earlier call could not send. */
	int r = frame_append(&link->out, &frame->base, FRAME_MAX_AGENT);

	if (r < 0)
		return r;
	while (buffer_length(&link->out) > 0) {
		ssize_t n =
		    fd_send(link->fd, buffer_head(&link->out), buffer_length(&link->out), NULL, 0);

		if (n < 0)
			return n == -EAGAIN ? -ETIMEDOUT : (int)n;
		buffer_consume(&link->out, (size_t)n);
	}
	return 0;
}

/* One recvmsg. The kernel never merges bytes across a message that carries descriptors, and the
 * engine has at most one such message outstanding. */
static int receive_some(struct link *link, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = link->fd, .events = POLLIN};
	size_t fd_count = FD_PASS_MAX;
	int fds[FD_PASS_MAX];
	uint8_t *to;
	ssize_t n;
	int r = poll(&poll_fd, 1, timeout_ms);

	if (r <= 0)
		return r < 0 && errno != EINTR ? -errno : 0;
	to = buffer_reserve(&link->in, RECEIVE_BYTES);
	if (!to)
		return -errno;
	n = fd_recv_permitted(link->fd, to, RECEIVE_BYTES, fds, &fd_count);
	if (n <= 0)
		return n == 0 ? -EPIPE : (int)n;
	buffer_commit(&link->in, (size_t)n);
	if (fd_count > 0) {
		fd_close_all(link->received_fds, link->received_count);
		memcpy(link->received_fds, fds, fd_count * sizeof(int));
		link->received_count = fd_count;
	}
	return 1;
}

int link_receive(struct link *link, int timeout_ms, Jxp__EngineFrame **frame)
{
	for (;;) {
		const uint8_t *payload;
		int64_t size = frame_peek(&link->in, FRAME_MAX_AGENT, &payload);
		int r;

		if (size < 0)
			return (int)size;
		if (size > 0) {
			*frame = jxp__engine_frame__unpack(NULL, (size_t)size, payload);
			frame_consume(&link->in, (size_t)size);
			return *frame ? 1 : -EPROTO;
		}
		r = receive_some(link, timeout_ms);
		if (r <= 0)
			return r;
	}
}

size_t link_take_fds(struct link *link, int *fds, size_t count)
{
	size_t n = link->received_count < count ? link->received_count : count;

	memcpy(fds, link->received_fds, n * sizeof(int));
	fd_close_all(link->received_fds + n, link->received_count - n);
	link->received_count = 0;
	return n;
}
