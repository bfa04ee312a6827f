/*
 * The HotSpot attach protocol, from the attaching side
 * (src/hotspot/os/posix/attachListener_posix.cpp, src/jdk.attach/linux VirtualMachineImpl).
 *
 * A JVM listens at /tmp/.java_pidN, N being the pid it has for itself, once it was asked to: a file
 * .attach_pidN in its working directory or in /tmp, owned by its user, then SIGQUIT. Without that
 * file SIGQUIT means a thread dump on the application's output, so it is verified to be there and
 * is sent only once. The helper has become the JVM's user before it calls any of this.
 */
#ifndef JXPERF_ATTACH_PROTOCOL_H
#define JXPERF_ATTACH_PROTOCOL_H

#include "attach/target.h"
#include "attach/watch.h"
#include "common/err.h"

/* Could the JVM make its attach socket? It does that in its /tmp and nowhere else
 * (AttachListener::pd_init), and says nothing when it cannot. 0 or -errno. */
int protocol_check_tmp(const struct target *t, struct err *err);

/* Connects to the target's attach socket, asking for it when it is not there. The trigger file is
 * gone again when this returns. A non-blocking descriptor that the caller owns, or -errno. */
int protocol_connect(const struct target *t, const struct watch *w, struct err *err);

/* Asks for `load library options`, waits for the whole answer and returns what reply_parse says of
 * it. One request a connection. */
int protocol_load(int socket, const struct target *t, const struct watch *w, const char *library,
		  const char *options, struct err *err);

#endif
