/*
 * One attach from beginning to end: a place for socket and bundle, the attach protocol, the agent's
 * connection, and nothing left behind.
 */
#ifndef JXPERF_ATTACH_ATTACH_H
#define JXPERF_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "proto/helper.h"

/* Attaches to pid, if it is owner's (as jvm_inspect), which name says how to call (as in `list`);
 * unless force, only when there is room for the agent (attach/process/headroom.h: -ENOMEM).
 * timeout_ms 0: the default, which an overloaded machine makes longer (proto/helper.h). Changes
 * this process's ids to the target's for good, blocks SIGTERM, SIGINT and SIGHUP and gives up when
 * one of them comes. Every file made in the target's file system is removed before it returns. The
 * agent's connected, blocking socket, owned by the caller, or -errno. */
int attach_to(pid_t pid, uid_t owner, const struct agent_files *agent, unsigned timeout_ms,
	      bool force, char name[ATTACH_NAME_BYTES], struct err *err);

/* Tries whether the JVM could be asked (protocol_probe), and says where socket and agent would go,
 * without making anything there. Changes ids and signals as attach_to does. 0 with one sentence in
 * text, or -errno, with whether it is the JVM that cannot be asked. */
int attach_probe(pid_t pid, uid_t owner, const struct agent_files *agent, unsigned timeout_ms,
		 char text[ERR_MESSAGE_MAX], bool *unasked, struct err *err);

#endif
