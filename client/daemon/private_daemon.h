/*
 * A jxperfd of our own, for one command, when none runs.
 *
 * It lives in a session of its own (so ^C in our terminal does not reach it), gets its connections
 * over a socket pair (daemon/serve/private_link.h), and logs to memory, from where the reason of a
 * failure is quoted. Nothing of it has a name in a file system. Should we be killed, it sees its
 * client go and ends by itself.
 *
 * Single thread.
 */
#ifndef JXPERF_CLIENT_DAEMON_PRIVATE_DAEMON_H
#define JXPERF_CLIENT_DAEMON_PRIVATE_DAEMON_H

#include "client/daemon/interrupt.h"
#include "common/err.h"

struct private_daemon;

/* Starts jxperfd, the one beside our own executable or else on PATH, and waits until it is ready.
 * 0; -EINTR when a signal came first; -errno with the reason. On failure nothing is left behind. */
int private_daemon_start(struct private_daemon **out, struct interrupt *in, struct err *err);

/* A socket connected to its control socket's counterpart, which the caller owns, or -ECHILD when
 * the daemon has ended. */
int private_daemon_connect(const struct private_daemon *d, struct err *err);

/* The last line it logged, into line; "" when it logged nothing. */
void private_daemon_last_words(const struct private_daemon *d, char *line, size_t size);

/* Ends it, in order if it can. A signal on in (may be NULL) or a
 * deadline ends the patience. free(NULL) is safe. */
void private_daemon_stop(struct private_daemon *d, struct interrupt *in);

#endif
