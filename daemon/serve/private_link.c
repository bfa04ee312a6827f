#include "daemon/serve/private_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"

struct private_link {
	uv_poll_t poll;
	int fd;
	int numbers; /* the socket whose name keeps them ours, or -1 */
	struct private_link_callbacks callbacks;
};

static void end(struct private_link *l)
{
	(void)uv_poll_stop(&l->poll); /* Cannot fail. */
	l->callbacks.gone(l->callbacks.arg);
}

/* A descriptor that RLIMIT_NOFILE keeps from us is missing: its client sees its connection close.
 */
static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct private_link *l = poll->data;
	size_t count = 1;
	char byte;
	int fd = -1;
	ssize_t n;

	(void)status; /* The socket itself tells its error. */
	(void)events; /* Only UV_READABLE was asked for. */
	n = fd_recv_permitted(l->fd, &byte, sizeof(byte), &fd, &count);
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		end(l);
	else if (count == 1)
		l->callbacks.connected(l->callbacks.arg, fd);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

int private_link_new(struct private_link **out, uv_loop_t *loop, int fd,
		     const struct private_link_callbacks *callbacks, struct err *err)
{
	_cleanup_close_ int link = fd;
	_cleanup_free_ struct private_link *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_set(err, ENOMEM, "out of memory");
	r = fd_set_nonblocking(link, true);
	if (r == 0)
		r = uv_poll_init(loop, &l->poll, link);
	if (r < 0)
		return err_set_errno(err, -r, "cannot watch the client's descriptor %d", link);
	l->poll.data = l;
	l->fd = TAKE_FD(link);
	l->numbers = -1;
	l->callbacks = *callbacks;
	/* Fails only for a handle that is closing. */
	(void)uv_poll_start(&l->poll, UV_READABLE, on_poll);
	*out = TAKE_PTR(l);
	return 0;
}

/* As many blocks as 32 bits have milliseconds for: a window's number has no more. */
#define BLOCKS (UINT64_C(4000000000) / PRIVATE_LINK_NUMBERS)
/* Others may have taken names to be in the way. */
#define BLOCKS_TRIED 64

/* A name that no file has (unix(7), abstract), which goes with the process. False: it is another's.
 */
static bool take_block(int fd, uint64_t block)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "jxperf-windows-%u", (unsigned)block); /* Fits. */

	return bind(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ==
		   0 ||
	       errno != EADDRINUSE;
}

unsigned private_link_first_number(struct private_link *l, uint64_t unix_ns)
{
	uint64_t block = unix_ns / NS_PER_MS / PRIVATE_LINK_NUMBERS % BLOCKS;

	/* Without a socket it is by the time alone. */
	l->numbers = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (int i = 0; i < BLOCKS_TRIED && l->numbers >= 0 && !take_block(l->numbers, block); i++)
		block = (block + 1) % BLOCKS;
	return (unsigned)(block * PRIVATE_LINK_NUMBERS) + 1;
}

int private_link_ready(struct private_link *l)
{
	ssize_t n = fd_send(l->fd, "r", 1, NULL, 0);

	return n < 0 ? (int)n : 0;
}

void private_link_free(struct private_link *l)
{
	if (!l)
		return;
	uv_close((uv_handle_t *)&l->poll, on_closed);
	fd_close_all(&l->fd, 1);
	fd_close_all(&l->numbers, 1);
}
