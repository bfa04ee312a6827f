/* The daemon's listening Unix socket: one that nobody answers on makes way for ours. */
#ifndef JXPERF_DAEMON_SERVE_CONTROL_SOCKET_H
#define JXPERF_DAEMON_SERVE_CONTROL_SOCKET_H

#include <stdbool.h>

#include "common/err.h"

/* Binds and listens on path, with mode 0660 if the group may connect, else 0600. A descriptor that
 * the caller owns, or -errno: -EADDRINUSE when somebody answers on path, -EEXIST when path is
 * something other than a socket. */
int control_socket_listen(const char *path, bool group_may_connect, struct err *err);

#endif
