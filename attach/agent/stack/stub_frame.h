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

/* What the call right before pc, in the blob, is of; 0: there is none, or none that tells. */
uint64_t stub_frame_call_target(uint64_t blob, uint64_t pc);

/* From a stub of its own blob, where it has called nothing: by what its code has on the stack,
 * which is to be behind a call of it, too. */
bool stub_frame_leave_small(const struct code_layout *code, uint64_t blob, uint64_t high,
			    struct stub_frame *at);

/* blob: that pc lies in. Of the stack [sp, high) can be read. False when there is no telling. */
bool stub_frame_leave(const struct code_layout *code, uint64_t blob, uint64_t high,
		      struct stub_frame *at);

#endif
