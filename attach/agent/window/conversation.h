/*
 * One attach: from connecting to the daemon, then the session thread's life until everything is
 * undone.
 *
 * At most one conversation is active in a process; a second Agent_OnAttach is refused with
 * AGENT_BUSY, or AGENT_LEAVING where the first one's client is gone. One whose client is gone
 * before it begins leaves nothing behind.
 */
#ifndef JXPERF_AGENT_WINDOW_CONVERSATION_H
#define JXPERF_AGENT_WINDOW_CONVERSATION_H

#include <jni.h>

/* Connects, starts the session thread and returns at once. Returns an enum agent_on_attach value.
 */
int conversation_start(JavaVM *jvm, const char *socket_path);

#endif
