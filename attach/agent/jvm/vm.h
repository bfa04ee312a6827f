/*
 * The JVMTI side of a window: one environment, its events, and questions to the JVM.
 *
 * Session thread, attached to the JVM. Events arrive in threads of the JVM; they feed the code map,
 * the GC epoch and, through the hooks, the session. After vm_close no event of ours is enabled.
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
	void (*thread_started)(pid_t tid); /* in the new thread */
	void (*thread_ended)(pid_t tid);   /* in the ending thread */
	void (*gc_finished)(void);         /* the JVM is paused: must not wait for anything */
	void (*vm_died)(void);
};

struct vm {
	JavaVM *jvm;
	JNIEnv *jni;
	jvmtiEnv *jvmti;
};

/*
 * Makes one environment without capabilities and events that stays for the JVM's life; once per
 * JVM, before the first vm_open. JNI_OK or the error of GetEnv.
 *
 * Events that can be had per thread give every thread a JvmtiThreadState. A thread that exits frees
 * its own only while there is an environment (JavaThread::exit in javaThread.cpp, JDK 11 to 25; its
 * environments_might_exist). Without this one, the states of threads that end between two windows
 * stay in HotSpot's list, and each change of an event in the next window writes to where their
 * JavaThread was (recompute_thread_enabled in jvmtiEventController.cpp): by then memory of someone
 * else.
 */
int vm_stay(JavaVM *jvm);

/* Makes the environment, without events. jni is that of the calling thread. 0 or -errno. */
int vm_open(struct vm *vm, JavaVM *jvm, JNIEnv *jni, struct err *err);

/* CPU time that the JVM took since vm_start for threads that started and ended, because somebody
 * listens to that. */
uint64_t vm_thread_events_ns(void);

/* Enables the events, has the JVM replay the code it has compiled so far into the code map, and
 * makes it allocate the method ids that AsyncGetCallTrace hands out. hooks must outlive the
 * process. */
int vm_start(struct vm *vm, const struct vm_hooks *hooks, struct err *err);

/* Has the JVM tell alloc_event_callback of an allocation every interval bytes on average, after
 * vm_start. Only one agent of a JVM can have that at a time. */
int vm_sample_allocations(struct vm *vm, uint32_t interval, struct err *err);

/* The interval holds for the whole JVM, and counts from the next sample of each thread. */
void vm_set_allocation_interval(struct vm *vm, uint32_t interval);

/* Gives the event, the capability and the interval back. */
void vm_stop_allocations(struct vm *vm);

/* Disables all events and disposes of the environment. */
void vm_close(struct vm *vm);

/* A system property as a string to be freed, or NULL. */
char *vm_property(struct vm *vm, const char *name);

/* Calls each with the kernel tid of every live platform thread, the calling one excepted. */
int vm_each_thread(struct vm *vm, void (*each)(void *arg, pid_t tid), void *arg, struct err *err);

/* "[Ljava/util/Map;" becomes "java.util.Map[]"; to be freed, or NULL when memory is short. */
char *vm_java_name(const char *signature);

/* Names of a method, to be freed with vm_method_release; false when its class is gone. lines may be
 * NULL with line_count 0. */
struct vm_method {
	char *class_name; /* Java name with dots */
	char *name;       /* JVMTI memory, as are the following */
	char *file;       /* NULL when unknown */
	jvmtiLineNumberEntry *lines;
	jint line_count;
};
bool vm_method_resolve(struct vm *vm, jmethodID method, struct vm_method *out);
void vm_method_release(struct vm *vm, struct vm_method *m);

#endif
