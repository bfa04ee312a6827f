#include "attach/agent/jvmti/alloc_sampling.h"

#include <errno.h>

#include "attach/agent/jvmti/jdk_bugs.h"
#include "attach/agent/jvm/vm_version.h"

static const jvmtiCapabilities capability = {.can_generate_sampled_object_alloc_events = 1};

int alloc_sampling_start(struct vm *vm, uint32_t interval, struct err *err)
{
	char version[VM_TEXT_BYTES];
	const char *bug = vm_version(version) ? jdk_bug_of_allocation_events(version) : NULL;
	jvmtiError e;

	if (bug)
		return err_set(err, EOPNOTSUPP, "%s, or leave out the objects", bug);
	e = (*vm->jvmti)->AddCapabilities(vm->jvmti, &capability);
	if (e == JVMTI_ERROR_NOT_AVAILABLE)
		return err_set(
		    err, EBUSY,
		    "another agent samples this JVM's allocations, and the JVM lets only "
		    "one: end it, or leave out the objects");
	if (e != JVMTI_ERROR_NONE)
		return vm_refused(err, "sampling of allocations", e);
	e = (*vm->jvmti)->SetHeapSamplingInterval(vm->jvmti, (jint)interval);
	if (e == JVMTI_ERROR_NONE)
		e = (*vm->jvmti)
			->SetEventNotificationMode(vm->jvmti, JVMTI_ENABLE,
						   JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	if (e == JVMTI_ERROR_NONE)
		return 0;
	alloc_sampling_stop(vm);
	return vm_refused(err, "sampling of allocations", e);
}

void alloc_sampling_set_interval(struct vm *vm, uint32_t interval)
{
	/* Fails for a negative interval, or without the capability. */
	(void)(*vm->jvmti)->SetHeapSamplingInterval(vm->jvmti, (jint)interval);
}

void alloc_sampling_stop(struct vm *vm)
{
	jvmtiEnv *jvmti = vm->jvmti;

	/* None of these fails while we have the capability. */
	(void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE,
						 JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	alloc_sampling_set_interval(vm, ALLOC_SAMPLING_DEFAULT);
	(void)(*jvmti)->RelinquishCapabilities(jvmti, &capability);
}
