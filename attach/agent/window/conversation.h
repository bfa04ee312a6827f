/*
 * One attach: the session thread's life from connecting to the daemon until everything is undone.
 *
 * At most one conversation is active in a process; a second Agent_OnAttach is refused with
 * AGENT_BUSY.
 */
#ifndef JXPERF_AGENT_WINDOW_CONVERSATION_H
#define JXPERF_AGENT_WINDOW_CONVERSATION_H

#include <jni.h>

/* Starts the session thread and returns at once. socket_path is copied. Returns an enum
 * agent_on_attach value. */
int conversation_start(JavaVM *jvm, const char *socket_path);

#endif
