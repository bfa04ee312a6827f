/*
 * How the engine starts its broker, before anything exists that the broker must not inherit:
 * descriptors without close-on-exec would be.
 */
#ifndef JXPERF_DAEMON_BROKER_START_H
#define JXPERF_DAEMON_BROKER_START_H

#include <sys/types.h>

#include "common/err.h"
#include "daemon/inspector/startup.h"

/* Execs daemon_path as broker and waits until it says that it serves, with no more privileges than
 * it is to have. 0 with its pid, a pidfd and the engine's end of
 * the socket, which does not block: all the caller's; or -errno with the reason, and no process. */
int broker_start(pid_t *process, int *process_fd, int *socket, const char *daemon_path,
		 const struct startup *startup, struct err *err);

#endif
