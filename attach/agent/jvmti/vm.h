/*
 * Asks the JVM for what it is asked for, in windows that cannot do without: those with objects, and
 * all where the JVM counts no pauses (-XX:-UsePerfData). One JVMTI environment, its events, and the
 * session thread as a thread of Java's. Other windows ask for nothing: from JDK 21 on an
 * environment slows virtual threads for as long as the JVM lives.
 *
 * Session thread. Events arrive in threads of the JVM and go to the hooks. After vm_close no event
 * of ours is enabled.
 */
#ifndef JXPERF_AGENT_JVMTI_VM_H
#define JXPERF_AGENT_JVMTI_VM_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* Called in the JVM's threads. They must be quick and must not call back into this module. */
struct vm_hooks {
	/* After vm_tell_of_collections: a pause of the collector begins and ends, in the one thread
	 * that makes it. The application is stopped during both, so neither may wait for anything.
	 */
	void (*gc_started)(void);
	void (*gc_finished)(void);
	/* In the allocating thread, for what alloc_sampling.h has the JVM sample. */
	jvmtiEventSampledObjectAlloc allocated;
	void (*vm_died)(void);
};

struct vm {
	JavaVM *jvm;
	JNIEnv *jni;
	jvmtiEnv *jvmti;
};

/* Attaches the calling thread to the JVM, and makes the environment, without events. 0 or -errno,
 * with nothing left but one more environment, without capabilities and events, that the first call
 * of all makes for the JVM's life.
 *
 * Events that can be had per thread give every thread a JvmtiThreadState. A thread that exits frees
 * its own only while there is an environment (JavaThread::exit in javaThread.cpp, JDK 11 to 25; its
 * environments_might_exist). Without that other one, the states of threads that end between two
 * windows stay in HotSpot's list, and each change of an event in the next window writes to where
 * their JavaThread was (recompute_thread_enabled in jvmtiEventController.cpp): by then memory of
 * someone else. */
int vm_open(struct vm *vm, JavaVM *jvm, struct err *err);

/* From now on, after vm_start, collections are told of, until vm_close. 0 or -errno. */
int vm_tell_of_collections(struct vm *vm, struct err *err);

/* Enables the events. hooks must outlive the process. */
int vm_start(struct vm *vm, const struct vm_hooks *hooks, struct err *err);

/* For modules that ask JVMTI themselves: says in err what the JVM refused; -EOPNOTSUPP. */
int vm_refused(struct err *err, const char *call, jvmtiError error);

/* Disables all events, disposes of the environment and detaches the thread. Of one that is not open
 * nothing; and where the JVM has ended, nobody is asked. */
void vm_close(struct vm *vm);

/* The JVM ends, or its process: for good. Any thread. */
void vm_note_end(void);
bool vm_has_ended(void);

#endif
