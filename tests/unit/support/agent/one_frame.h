/* A JVM whose every stack is one frame of one method, for tests of what walks stacks. */
#ifndef TESTS_UNIT_AGENT_ONE_FRAME_H
#define TESTS_UNIT_AGENT_ONE_FRAME_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/handler/handlers.h"

static bool one_frame_walkable = true; /* or no walk succeeds */

static jint one_frame_env(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	(void)version;
	*env = NULL;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ one_frame_functions = {.GetEnv = one_frame_env};
static JavaVM one_frame_vm = &one_frame_functions;

static void one_frame_trace(struct agct_trace *trace, jint depth, void *context)
{
	(void)depth;
	(void)context;
	trace->frames[0] = (struct agct_frame){.bci = 1, .method = (jmethodID)(uintptr_t)0x100};
	trace->count = one_frame_walkable ? 1 : -1;
}

static struct stack_walker one_frame_walker(void)
{
	return (struct stack_walker){.get_trace = one_frame_trace, .vm = &one_frame_vm};
}

#endif
