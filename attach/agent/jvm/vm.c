#include "attach/agent/jvm/vm.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/jvm/vmstructs.h"

/* Global because JVMTI hands callbacks nothing of ours; they may be late. */
static const struct vm_hooks *hooks;
static _Atomic bool dead;

/* ---------------------------------------------------------------- events */

static void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	(void)jvmti;
	hooks->gc_started();
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	(void)jvmti;
	hooks->gc_finished();
}

static void JNICALL on_sampled_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
				     jclass class, jlong size)
{
	hooks->allocated(jvmti, jni, thread, object, class, size);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	atomic_store(&dead, true);
	hooks->vm_died();
}

static const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH};
static const jvmtiEvent events_of_collections[] = {
    JVMTI_EVENT_GARBAGE_COLLECTION_START,
    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
};
#define EVENT_COUNT      (sizeof(events) / sizeof(events[0]))
#define COLLECTION_COUNT (sizeof(events_of_collections) / sizeof(events_of_collections[0]))

/* ---------------------------------------------------------------- life cycle */

int vm_refused(struct err *err, const char *call, jvmtiError error)
{
	return err_set(err, EOPNOTSUPP, "the JVM refused %s (JVMTI error %d)", call, error);
}

static jvmtiEnv *kept; /* Attach Listener threads only, and a JVM has one. */

int vm_stay(JavaVM *jvm, bool *made)
{
	*made = !kept;
	return kept ? JNI_OK : (*jvm)->GetEnv(jvm, (void **)&kept, JVMTI_VERSION_11);
}

void vm_stay_not(void)
{
	(void)(*kept)->DisposeEnvironment(kept); /* A valid one: cannot fail. */
	kept = NULL;
}

int vm_open(struct vm *vm, JavaVM *jvm, JNIEnv *jni, struct err *err)
{
	const jvmtiEventCallbacks callbacks = {.VMDeath = on_vm_death,
					       .GarbageCollectionStart = on_gc_start,
					       .GarbageCollectionFinish = on_gc_finish,
					       .SampledObjectAlloc = on_sampled_alloc};
	struct vm opened = {.jvm = jvm, .jni = jni};
	jvmtiError e;

	if ((*jvm)->GetEnv(jvm, (void **)&opened.jvmti, JVMTI_VERSION_11) != JNI_OK)
		return err_set(err, EOPNOTSUPP,
			       "the JVM has no JVMTI 11: JDK 11 or later is needed");
	e = (*opened.jvmti)->SetEventCallbacks(opened.jvmti, &callbacks, sizeof(callbacks));
	if (e != JVMTI_ERROR_NONE) {
		vm_close(&opened);
		return vm_refused(err, "SetEventCallbacks", e);
	}
	*vm = opened;
	return 0;
}

static int set_events(struct vm *vm, jvmtiEventMode mode, const jvmtiEvent *which, size_t count,
		      struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		jvmtiError e =
		    (*vm->jvmti)->SetEventNotificationMode(vm->jvmti, mode, which[i], NULL);

		if (e != JVMTI_ERROR_NONE && mode == JVMTI_ENABLE)
			return vm_refused(err, "an event jxperf needs", e);
	}
	return 0;
}

int vm_start(struct vm *vm, const struct vm_hooks *session_hooks, struct err *err)
{
	hooks = session_hooks;
	return set_events(vm, JVMTI_ENABLE, events, EVENT_COUNT, err);
}

int vm_tell_of_collections(struct vm *vm, struct err *err)
{
	const jvmtiCapabilities wanted = {.can_generate_garbage_collection_events = 1};
	jvmtiError e = (*vm->jvmti)->AddCapabilities(vm->jvmti, &wanted);

	if (e != JVMTI_ERROR_NONE)
		return vm_refused(err, "to tell of collections", e);
	return set_events(vm, JVMTI_ENABLE, events_of_collections, COLLECTION_COUNT, err);
}

bool vm_is_dead(void)
{
	return atomic_load(&dead);
}

void vm_close(struct vm *vm)
{
	if (!vm->jvmti)
		return;
	/* Disabling does not fail for events we name, or those that we have no capability for were
	 * not enabled. */
	(void)set_events(vm, JVMTI_DISABLE, events, EVENT_COUNT, NULL);
	(void)set_events(vm, JVMTI_DISABLE, events_of_collections, COLLECTION_COUNT, NULL);
	(void)(*vm->jvmti)->DisposeEnvironment(vm->jvmti);
	vm->jvmti = NULL;
}
