/*
 * How this JVM's frames lie on a stack, as far as one is walked from outside. Filled in once a
 * window from HotSpot's own tables (attach/agent/jvm/code_facts.h), constant while handlers run.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_LAYOUT_H
#define JXPERF_AGENT_STACK_FRAME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/code_heap.h"
#include "attach/agent/method/method_layout.h"
#include "attach/agent/stack/anchor.h"
#include "attach/agent/stack/continuation.h"
#include "attach/agent/stack/interpreter.h"
#include "attach/agent/stack/scopes.h"

struct frame_layout {
	struct code_layout code; /* heap_count 0: nothing of all this is known */
	struct scope_layout scopes;
	struct method_layout method;
	struct interpreter interpreter;
	struct anchor_layout anchor; /* of threads */
	struct continuation_layout continuation;
	/* Where Java code that native code called returns to, */
	uint64_t call_stub_return;
	/* Offset, in the JavaCallWrapper of that call, of the anchor with the last Java frame
	 * before the call. */
	uint32_t wrapper_anchor;
};

#endif
