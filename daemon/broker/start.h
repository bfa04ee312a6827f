/*
 * How the engine starts its broker, before anything exists that the broker must not inherit:
 * descriptors without close-on-exec would be.
 */
#ifndef JXPERF_DAEMON_BROKER_START_H
#define JXPERF_DAEMON_BROKER_START_H

#include <sys/types.h>

#include "common/err.h"
#include "daemon/broker/proto.h"
#include "daemon/inspector/startup.h"

/* Opens jxperf-child of this installation, which workers, inspectors and watchers are, for
 * startup.children_fd. Once, when the first of jxperfd's processes starts: brokers get the
 * descriptor and run what it leads to, so that after an upgrade on disk none of them runs a program
 * of another version, and it is still there when its file is not. The descriptor, the caller's,
 * above those that processes are started with; or -errno with one line. */
int broker_open_children(struct err *err);

/* Execs daemon_path as broker on its end of the connection, which stays the caller's. 0 with its
 * pid, or -errno. */
int broker_spawn(pid_t *process, const char *daemon_path, const struct startup *startup,
		 int socket);

/* Is what was received, n bytes with reply, a hello of a broker that we can talk with? 0, or -errno
 * with its reason, or ours. */
int broker_check_hello(struct broker_reply *reply, ssize_t n, struct err *err);

/* Execs daemon_path as broker and waits until it says that it serves, with no more privileges than
 * it is to have. 0 with its pid, a pidfd and the engine's end of
 * the socket, which does not block: all the caller's; or -errno with the reason, and no process. */
int broker_start(pid_t *process, int *process_fd, int *socket, const char *daemon_path,
		 const struct startup *startup, struct err *err);

#endif
