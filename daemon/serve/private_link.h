/*
 * What a private daemon has instead of a control socket: one end of a socket pair, whose other end
 * the client that started it keeps. The client makes a connection by sending one end of another
 * pair (SCM_RIGHTS), so nothing of either has a name in a file system that others could reach or
 * that somebody would have to remove. End of file means that the client is gone, however it went.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_PRIVATE_LINK_H
#define JXPERF_DAEMON_SERVE_PRIVATE_LINK_H

#include <uv.h>

#include "common/err.h"

struct private_link;

struct private_link_callbacks {
	void *arg;
	void (*connected)(void *arg, int fd); /* takes the descriptor */
	void (*gone)(void *arg);              /* once, and the last */
};

/* Takes fd, also on failure. 0 or -errno. */
int private_link_new(struct private_link **out, uv_loop_t *loop, int fd,
		     const struct private_link_callbacks *callbacks, struct err *err);

/* Tells the client that connections are served from now on. 0 or -errno. */
int private_link_ready(struct private_link *l);

/* free(NULL) is safe. */
void private_link_free(struct private_link *l);

#endif
