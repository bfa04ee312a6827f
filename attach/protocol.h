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

#include <stdbool.h>

#include "attach/target.h"
#include "attach/watch.h"
#include "common/err.h"

/* Could the JVM make its attach socket? It does that in its /tmp and nowhere else
 * (AttachListener::pd_init), and says nothing when it cannot. 0 or -errno. */
int protocol_check_tmp(const struct target *t, struct err *err);

/* Connects to the target's attach socket, asking for it when it is not there. The trigger file is
 * gone again when this returns. A non-blocking descriptor that the caller owns, with whether others
 * were connected before it, or -errno. */
int protocol_connect(const struct target *t, struct watch *w, bool *others, struct err *err);

/* Could it be asked? Connects to the socket, whose peer has to be the JVM, and which no other tool
 * may hold for long; or makes the trigger file where there is no socket, and sends no signal. All
 * is as it was when this returns. 0 or -errno. */
int protocol_probe(const struct target *t, struct watch *w, struct err *err);

/* Asks for `load library options`, waits for the whole answer and returns what reply_parse says of
 * it; -EBUSY where others hold the JVM's thread for requests until the deadline. One request a
 * connection. */
int protocol_load(int socket, const struct target *t, struct watch *w, bool others,
		  const char *library, const char *options, struct err *err);

#endif
