#include "common/fd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

void fd_close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]); /* Nothing was buffered that could fail to arrive. */
		fds[i] = -1;
	}
}

int fd_set_nonblocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

void fd_refuse_descriptors(int socket)
{
	int off = 0;

	(void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t fd_count)
{
	union {
		char bytes[CMSG_SPACE(FD_PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;
	ssize_t n;

	assert(fd_count <= FD_PASS_MAX);
	if (fd_count > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, fd_count * sizeof(int));
	}
	do {
		n = sendmsg(socket, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Collects the descriptors of every SCM_RIGHTS header; returns how many, up to FD_PASS_MAX. */
static size_t received_fds(struct msghdr *msg, int *all)
{
	size_t count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		assert(count + n <= FD_PASS_MAX); /* The control buffer holds no more. */
		memcpy(all + count, CMSG_DATA(c), n * sizeof(int));
		count += n;
	}
	return count;
}

static ssize_t receive(int socket, void *bytes, size_t size, int *fds, size_t *fd_count,
		       bool may_miss)
{
	union {
		char bytes[CMSG_SPACE(FD_PASS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = bytes, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	size_t wanted = *fd_count;
	int all[FD_PASS_MAX];
	size_t received;
	ssize_t n;

	*fd_count = 0;
	if (wanted > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
	}
	do {
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	received = received_fds(&msg, all);
	if (received > wanted || (msg.msg_flags & MSG_CTRUNC)) {
		fd_close_all(all, received);
		if (!may_miss || received > wanted)
			return -EMSGSIZE;
		received = 0;
	}
	if (received > 0) /* fds may be NULL when none were asked for. */
		memcpy(fds, all, received * sizeof(int));
	*fd_count = received;
	return n;
}

ssize_t fd_recv(int socket, void *bytes, size_t size, int *fds, size_t *fd_count)
{
	return receive(socket, bytes, size, fds, fd_count, false);
}

ssize_t fd_recv_permitted(int socket, void *bytes, size_t size, int *fds, size_t *fd_count)
{
	return receive(socket, bytes, size, fds, fd_count, true);
}

bool fd_process_has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

int fd_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void fd_drop_connection(int listener, int *spare)
{
	fd_close_all(spare, 1);
	*spare = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	fd_close_all(spare, 1);
	*spare = fd_spare();
}

void fd_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* Then it stays as it was. */
}

/* at: where from; negative: from where the descriptor stands. */
static ssize_t read_whole(int fd, void *bytes, size_t size, off_t at)
{
	size_t used = 0;

	while (used < size) {
		void *to = (char *)bytes + used;
		ssize_t n = at < 0 ? read(fd, to, size - used)
				   : pread(fd, to, size - used, at + (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

ssize_t fd_read_at(int fd, void *bytes, size_t size, uint64_t at)
{
	return at > INT64_MAX - size ? -EINVAL : read_whole(fd, bytes, size, (off_t)at);
}

ssize_t fd_read_text(int fd, char *text, size_t size)
{
	ssize_t n = read_whole(fd, text, size - 1, -1);

	if (n >= 0)
		text[n] = '\0';
	return n;
}

int fd_write_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size > 0) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}
