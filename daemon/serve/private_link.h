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

#include <stdint.h>
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

/* The number of this daemon's first window: by the time, so that reports of two private daemons can
 * be told apart. Numbers of those that live at the same time differ also where they begin at once:
 * each has PRIVATE_LINK_NUMBERS, which are its own as long as the link is there. They come again
 * after 46 days. Called once. */
#define PRIVATE_LINK_NUMBERS 16
unsigned private_link_first_number(struct private_link *l, uint64_t unix_ns);

/* Tells the client that connections are served from now on. 0 or -errno. */
int private_link_ready(struct private_link *l);

/* free(NULL) is safe. */
void private_link_free(struct private_link *l);

#endif
