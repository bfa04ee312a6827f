/* JVMTI as far as the sampling of allocations needs it. */
#ifndef TESTS_UNIT_AGENT_FAKE_JVMTI_H
#define TESTS_UNIT_AGENT_FAKE_JVMTI_H

#include <jvmti.h>
#include <stdbool.h>

static bool fake_jvmti_taken;    /* another agent has the capability */
static bool fake_jvmti_sampling; /* allocations are sampled for us */

static jvmtiError JNICALL fake_jvmti_property(jvmtiEnv *env, const char *name, char **value)
{
	(void)env, (void)name, (void)value;
	return JVMTI_ERROR_NOT_AVAILABLE;
}

static jvmtiError JNICALL fake_jvmti_add(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env, (void)wanted;
	return fake_jvmti_taken ? JVMTI_ERROR_NOT_AVAILABLE : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_jvmti_relinquish(jvmtiEnv *env, const jvmtiCapabilities *given)
{
	(void)env, (void)given;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_jvmti_interval(jvmtiEnv *env, jint interval)
{
	(void)env, (void)interval;
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
    .GetSystemProperty = fake_jvmti_property,
    .AddCapabilities = fake_jvmti_add,
    .RelinquishCapabilities = fake_jvmti_relinquish,
    .SetHeapSamplingInterval = fake_jvmti_interval,
    .SetEventNotificationMode = fake_jvmti_notify,
};
static jvmtiEnv fake_jvmti = &fake_jvmti_functions;

#endif
