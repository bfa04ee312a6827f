/*
 * How this JVM's frames lie on a stack, as far as one is walked from outside. Filled in once a
 * window from HotSpot's own tables (attach/agent/jvm/code_facts.h), constant while handlers run.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_LAYOUT_H
#define JXPERF_AGENT_STACK_FRAME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/code_heap.h"
#include "attach/agent/stack/scopes.h"

struct frame_layout {
	struct code_layout code; /* heap_count 0: nothing of all this is known */
	struct scope_layout scopes;
	uint64_t interpreter_low;
	uint64_t interpreter_high;
	/* Where Java code that native code called returns to, */
	uint64_t call_stub_return;
	uint32_t wrapper_anchor; /* offset, in the JavaCallWrapper of that call, of the anchor: */
	uint32_t anchor_sp;      /* offsets in it of the last Java frame before the call */
	uint32_t anchor_pc;
	uint32_t anchor_fp;
	bool ids_are_pointers; /* a jmethodID is the address of a word with the Method's, which
				* stays readable for the life of the process */
};

#endif
