/*
 * The JVMTI side of a window: one environment, its events, and questions to the JVM.
 *
 * Session thread, attached to the JVM. Events arrive in threads of the JVM and go to the hooks.
 * After vm_close no event of ours is enabled.
 */
#ifndef JXPERF_AGENT_JVM_VM_H
#define JXPERF_AGENT_JVM_VM_H

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

/*
 * Makes one environment without capabilities and events that stays for the JVM's life; once per
 * JVM, before the first vm_open. JNI_OK, with whether it was made now in *made, or the error of
 * GetEnv.
 *
 * Events that can be had per thread give every thread a JvmtiThreadState. A thread that exits frees
 * its own only while there is an environment (JavaThread::exit in javaThread.cpp, JDK 11 to 25; its
 * environments_might_exist). Without this one, the states of threads that end between two windows
 * stay in HotSpot's list, and each change of an event in the next window writes to where their
 * JavaThread was (recompute_thread_enabled in jvmtiEventController.cpp): by then memory of someone
 * else.
 */
int vm_stay(JavaVM *jvm, bool *made);

/* Undoes a vm_stay that has made the environment, where no window follows: an agent that fails is
 * unloaded, and would make another one each time. */
void vm_stay_not(void);

/* Makes the environment, without events. jni is that of the calling thread. 0 or -errno. */
int vm_open(struct vm *vm, JavaVM *jvm, JNIEnv *jni, struct err *err);

/* From now on, after vm_start, collections are told of, until vm_close. 0 or -errno. */
int vm_tell_of_collections(struct vm *vm, struct err *err);

/* Has the JVM ended, as far as that was told? For good. */
bool vm_is_dead(void);

/* Enables the events. hooks must outlive the process. */
int vm_start(struct vm *vm, const struct vm_hooks *hooks, struct err *err);

/* For modules that ask JVMTI themselves: says in err what the JVM refused; -EOPNOTSUPP. */
int vm_refused(struct err *err, const char *call, jvmtiError error);

/* Disables all events and disposes of the environment. */
void vm_close(struct vm *vm);

#endif
