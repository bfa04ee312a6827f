/*
 * The JVM's own list of its threads, and what is the same in all of them, read from its tables
 * (vmstructs.h). The calling thread need not be one of Java's.
 *
 * Session thread only, but for java_threads_note.
 */
#ifndef JXPERF_AGENT_JVM_JAVA_THREADS_H
#define JXPERF_AGENT_JVM_JAVA_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/agent/code/own_thread.h"

/* Handlers tell a thread of Java's by these, and its stack. */
struct java_threads {
	uint64_t functions;  /* the virtual functions of threads that run Java code */
	struct own_word own; /* where a thread has its JavaThread, in which */
	uint32_t stack_base; /* are, so far, its stack's high end, */
	uint32_t stack_size; /* and bytes */
};

/* In a thread that the JVM calls the agent in and that outlives windows, before the session thread
 * begins: by this one it is found where the others have what is their own. */
void java_threads_note(void);

/* False where it is not known. */
bool java_threads_facts(struct java_threads *out);

/* Calls each for every thread that may run Java code: those that the JVM lists, without its own (of
 * compilers and services, of JVMTI agents) and those that end. Reads the JVM's list while it may
 * change: some tids may be of threads that have ended. False, with nobody called, where the list is
 * not known, or kept changing. */
bool java_threads_each(void (*each)(void *arg, pid_t tid), void *arg);

#endif
