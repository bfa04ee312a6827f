/*
 * From code of the JVM's that has no frame of a fixed size (stub routines, vtable and itable stubs)
 * to its caller. Such a stub has a frame pointer, or nothing on the stack but the return address;
 * which of both is the case, and that it is one, is told by the call: right before the address that
 * is returned to there has to be a direct call of this very code.
 *
 * Async-signal-safe: reads the stack that is given, and code heaps.
 */
#ifndef JXPERF_AGENT_STACK_STUB_FRAME_H
#define JXPERF_AGENT_STACK_STUB_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/code_heap.h"

/* Where a stub is, and then where its caller is. */
struct stub_frame {
	uint64_t pc, sp, fp;
};

/* blob: that pc lies in. Of the stack [sp, high) can be read. False when there is no telling. */
bool stub_frame_leave(const struct code_layout *code, uint64_t blob, uint64_t high,
		      struct stub_frame *at);

#endif
