/*
 * Calling contexts without safepoint bias: HotSpot's AsyncGetCallTrace (JXPerf section 5.5;
 * src/hotspot/share/prims/forte.cpp), interned into the context table.
 *
 * Called from signal handlers only, in the thread whose stack is walked.
 */
#ifndef JXPERF_AGENT_HANDLER_STACK_H
#define JXPERF_AGENT_HANDLER_STACK_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/handler/context.h"

/* Layouts of AsyncGetCallTrace (forte.cpp). */
struct agct_frame {
	jint bci; /* -3: native method */
	jmethodID method;
};
struct agct_trace {
	JNIEnv *env;
	jint count; /* frames, or a negative reason */
	struct agct_frame *frames;
};

struct stack_walker {
	void (*get_trace)(struct agct_trace *trace, jint depth, void *ucontext);
	JavaVM *vm;
};

enum stack_result {
	STACK_OK,
	STACK_TRUNCATED,  /* root frames are missing */
	STACK_UNWALKABLE, /* the JVM gave no frames */
	STACK_TABLE_FULL,
};

/* Interns the calling context of the thread as if it stood at ip (the trapping instruction, not the
 * one after). frames is scratch for max_frames entries. *context is set for OK and TRUNCATED. */
enum stack_result stack_capture(const struct stack_walker *walker, const ucontext_t *uc,
				uint64_t ip, struct agct_frame *frames, unsigned max_frames,
				struct context_table *table, uint32_t *context);

#endif
