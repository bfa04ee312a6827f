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

/* What handlers tell a thread of Java's by, and its stack. */
struct java_threads {
	uint64_t functions; /* the virtual functions of threads that run Java code */
	/* Where a thread notes its own JavaThread: in what libjvm.so has for each thread. stride 0:
	 * not known. */
	struct {
		uint32_t stride; /* of the C library's table of such memory, */
		uint32_t module; /* which row is libjvm's, */
		uint32_t offset; /* and where in there it is */
	} local;
	uint32_t from_env;   /* a JavaThread is so far before its JNIEnv, */
	uint32_t stack_base; /* and so far in it are its stack's high end, */
	uint32_t stack_size; /* and bytes */
};

/* In a thread that the JVM calls the agent in and that outlives windows: its JNIEnv, by which
 * those of others are found. */
void java_threads_note(const void *env);

/* False where it is not known. */
bool java_threads_facts(struct java_threads *out);

/* Async-signal-safe, any thread: its JavaThread, if it runs Java code; else 0. The JVM is not asked
 * (GetEnv), nor the C library: in a thread that has just begun that may allocate. */
uint64_t java_threads_own(const struct java_threads *facts);

/* Calls each for every thread that may run Java code: those that the JVM lists, without its own (of
 * compilers and services, of JVMTI agents) and those that end. Reads the JVM's list while it may
 * change: some tids may be of threads that have ended. False, with nobody called, where the list is
 * not known, or kept changing. */
bool java_threads_each(void (*each)(void *arg, pid_t tid), void *arg);

#endif
