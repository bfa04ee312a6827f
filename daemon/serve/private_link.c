#include "daemon/serve/private_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/fd.h"

struct private_link {
	uv_poll_t poll;
	int fd;
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
	l->callbacks = *callbacks;
	/* Fails only for a handle that is closing. */
	(void)uv_poll_start(&l->poll, UV_READABLE, on_poll);
	*out = TAKE_PTR(l);
	return 0;
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
}
