/* JVMTI as far as the sampling of allocations needs it. */
#ifndef TESTS_UNIT_AGENT_FAKE_JVMTI_H
#define TESTS_UNIT_AGENT_FAKE_JVMTI_H

#include <jvmti.h>
#include <stdbool.h>

static bool fake_jvmti_taken;    /* another agent has the capability */
static bool fake_jvmti_sampling; /* allocations are sampled for us, */
static jint fake_jvmti_interval; /* so many bytes apart */
static bool fake_jvmti_capable;  /* the capability is ours */

static jvmtiError JNICALL fake_jvmti_add(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env;
	if (fake_jvmti_taken)
		return JVMTI_ERROR_NOT_AVAILABLE;
	fake_jvmti_capable |= wanted->can_generate_sampled_object_alloc_events;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_jvmti_relinquish(jvmtiEnv *env, const jvmtiCapabilities *given)
{
	(void)env;
	fake_jvmti_capable &= !given->can_generate_sampled_object_alloc_events;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_jvmti_set_interval(jvmtiEnv *env, jint interval)
{
	(void)env;
	if (!fake_jvmti_capable || interval < 0)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	fake_jvmti_interval = interval;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_jvmti_notify(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
					    jthread thread, ...)
{
	(void)env, (void)thread;
	if (event == JVMTI_EVENT_SAMPLED_OBJECT_ALLOC)
		fake_jvmti_sampling = mode == JVMTI_ENABLE;
	return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 fake_jvmti_functions = {
    .AddCapabilities = fake_jvmti_add,
    .RelinquishCapabilities = fake_jvmti_relinquish,
    .SetHeapSamplingInterval = fake_jvmti_set_interval,
    .SetEventNotificationMode = fake_jvmti_notify,
};
static jvmtiEnv fake_jvmti = &fake_jvmti_functions;

#endif
