/*
 * One profiling window inside the JVM, from the first event opened to the last one closed.
 *
 * Runs in the session thread; window_run returns when the window is over and the JVM is as before:
 * events closed, handlers gone, JVMTI events off. Reasons to end: WindowStop, the deadline, the
 * socket closing, the JVM's death, or a failure.
 */
#ifndef JXPERF_AGENT_WINDOW_WINDOW_H
#define JXPERF_AGENT_WINDOW_WINDOW_H

#include <jni.h>
#include "attach/agent/stream/link.h"
#include "attach/agent/window/settings.h"
#include "common/err.h"

/* 0 when the window ran to its end; -EPIPE when the engine went away; another -errno, with the
 * reason in err, when it could not run. */
int window_run(JavaVM *jvm, struct link *link, const struct settings *settings, struct err *err);

#endif
