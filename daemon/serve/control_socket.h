/* The daemon's listening Unix socket: one that nobody answers on makes way for ours. */
#ifndef JXPERF_DAEMON_SERVE_CONTROL_SOCKET_H
#define JXPERF_DAEMON_SERVE_CONTROL_SOCKET_H

#include "common/err.h"

/* Binds and listens on path, with mode 0660 for root and 0600 for others. A descriptor that the
 * caller owns, or -errno: -EADDRINUSE when somebody answers on path, -EEXIST when path is something
 * other than a socket. */
int control_socket_listen(const char *path, struct err *err);

#endif
