#include "attach/agent/jvmti/vm.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "common/clock.h"
#include "proto/helper.h"

/* Global because JVMTI hands callbacks nothing of ours; they may be late. */
static const struct vm_hooks *hooks;
static _Atomic bool ended;

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

static jvmtiEnv *kept; /* as long as the JVM lives */

static void leave(struct vm *vm)
{
	if (vm->jvmti)
		(void)(*vm->jvmti)->DisposeEnvironment(vm->jvmti); /* Ours: cannot fail. */
	(void)(*vm->jvm)->DetachCurrentThread(vm->jvm);            /* Attached by us. */
	*vm = (struct vm){0};
}

/* A JVM lets threads in before it gives out environments, at the very end of its start
 * (JvmtiExport::get_jvmti_interface): that is waited for. */
#define LIVE_TRIES  500u
#define LIVE_TRY_NS (10 * NS_PER_MS)

static jint make_environment(JavaVM *jvm, jvmtiEnv **out)
{
	const struct timespec pause = {.tv_nsec = LIVE_TRY_NS};
	jint r = (*jvm)->GetEnv(jvm, (void **)out, JVMTI_VERSION_11);

	for (unsigned i = 0; r == JNI_EDETACHED && i < LIVE_TRIES && !vm_has_ended(); i++) {
		(void)nanosleep(&pause, NULL); /* Shorter: it is looked at sooner. */
		r = (*jvm)->GetEnv(jvm, (void **)out, JVMTI_VERSION_11);
	}
	return r;
}

static int make_environments(struct vm *vm, struct err *err)
{
	const jvmtiEventCallbacks callbacks = {.VMDeath = on_vm_death,
					       .GarbageCollectionStart = on_gc_start,
					       .GarbageCollectionFinish = on_gc_finish,
					       .SampledObjectAlloc = on_sampled_alloc};
	jvmtiError e;

	if ((!kept && make_environment(vm->jvm, &kept) != JNI_OK) ||
	    make_environment(vm->jvm, &vm->jvmti) != JNI_OK)
		return err_set(err, EOPNOTSUPP,
			       "the JVM has no JVMTI 11: JDK 11 or later is needed");
	e = (*vm->jvmti)->SetEventCallbacks(vm->jvmti, &callbacks, sizeof(callbacks));
	return e == JVMTI_ERROR_NONE ? 0 : vm_refused(err, "SetEventCallbacks", e);
}

int vm_open(struct vm *vm, JavaVM *jvm, struct err *err)
{
	JavaVMAttachArgs attach = {.version = JNI_VERSION_1_6, .name = (char *)AGENT_THREAD_NAME};
	struct vm opened = {.jvm = jvm};
	int r;

	if ((*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&opened.jni, &attach) != JNI_OK)
		return err_set(err, EOPNOTSUPP, "the JVM does not let a thread of the agent in");
	r = make_environments(&opened, err);
	if (r < 0)
		leave(&opened);
	else
		*vm = opened;
	return r;
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

void vm_close(struct vm *vm)
{
	if (!vm->jvmti || vm_has_ended())
		return;
	/* Disabling does not fail for events we name, or those that we have no capability for were
	 * not enabled. */
	(void)set_events(vm, JVMTI_DISABLE, events, EVENT_COUNT, NULL);
	(void)set_events(vm, JVMTI_DISABLE, events_of_collections, COLLECTION_COUNT, NULL);
	leave(vm);
}

void vm_note_end(void)
{
	atomic_store(&ended, true);
}

bool vm_has_ended(void)
{
	return atomic_load(&ended);
}
