/*
 * Layouts of HotSpot's AsyncGetCallTrace (src/hotspot/share/prims/forte.cpp).
 */
#ifndef JXPERF_AGENT_STACK_CALL_TRACE_H
#define JXPERF_AGENT_STACK_CALL_TRACE_H

#include <jni.h>

/* The bci of a native method's frame. */
#define CALL_BCI_NATIVE (-3)

struct agct_frame {
	jint bci;
	jmethodID method;
};
struct agct_trace {
	JNIEnv *env;
	jint count; /* frames, or a negative reason */
	struct agct_frame *frames;
};

#endif
