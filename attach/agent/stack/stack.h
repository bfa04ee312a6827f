/*
 * Calling contexts without safepoint bias: HotSpot's AsyncGetCallTrace (JXPerf section 5.5;
 * src/hotspot/share/prims/forte.cpp), interned into the context table.
 *
 * It is asked only where a stack has a frame that was not met before: what it says of each frame is
 * remembered (attach/agent/stack/), and a stack of known frames is put together from that. Now and
 * then one that was put together is asked for as well; should the two ever differ, the JVM is asked
 * for all of them from then on.
 *
 * Called from signal handlers only, in the thread whose stack is walked.
 */
#ifndef JXPERF_AGENT_STACK_STACK_H
#define JXPERF_AGENT_STACK_STACK_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/stack/context.h"
#include "attach/agent/stack/call_trace.h"
#include "attach/agent/stack/frame_layout.h"
#include "attach/agent/stack/frame_table.h"
#include "attach/agent/stack/frame_walk.h"

struct stack_walker {
	void (*get_trace)(struct agct_trace *trace, jint depth, void *ucontext);
	JavaVM *vm;
	struct frame_layout layout;
	struct frame_table *known; /* NULL: the JVM is asked for every stack */
};

enum stack_result {
	STACK_OK,
	STACK_TRUNCATED,  /* root frames are missing */
	STACK_UNWALKABLE, /* the JVM gave no frames */
	STACK_NO_JAVA,    /* it says there are none: the thread runs no Java code now */
	STACK_TABLE_FULL,
};

/* Whose context is asked for, and with what. */
struct stack_place {
	const ucontext_t *uc;
	uint64_t ip;               /* the thread as if it stood there: at the trapping
				    * instruction, not the one after */
	uint64_t stack_low;        /* of the thread; 0: not known */
	uint64_t stack_high;       /* and its end */
	uint32_t epoch;            /* of the handlers */
	unsigned max_frames;       /* of a context; the innermost ones */
	struct agct_frame *frames; /* scratch, */
	unsigned frames_room;      /* for so many, at least max_frames */
	bool check;                /* asks the JVM even where the stack is recognised */
};

struct stack_outcome {
	uint32_t context; /* when STACK_OK or STACK_TRUNCATED */
	bool recognised;  /* without the JVM, or with it the same */
	bool differs;     /* it was taken for another; the JVM's answer counts */
	/* Why the JVM had to be asked. */
	enum walk_cut cut;
	bool unknown; /* the walk was not cut, but frames are not known */
};

/* Interns the calling context. */
enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out);

#endif
