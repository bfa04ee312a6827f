/*
 * Where a virtual thread's frames end on the stack of the thread that carries it: its outermost one
 * was called by jdk.internal.vm.Continuation.enterSpecial, whose frame is the carrier's. When only
 * some of its frames were brought back from the heap, the last of those returns to a stub instead
 * (code_heap_is_thaw), above which there is that frame.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_STACK_CONTINUATION_H
#define JXPERF_AGENT_STACK_CONTINUATION_H

#include <stdbool.h>
#include <stdint.h>

struct continuation_layout {
	/* The JVM's own variable with the address that a virtual thread's first method returns to,
	 * from JDK 22 on; NULL: there is none. */
	const uint64_t *return_pc;
	uint64_t enter_special; /* its nmethod, as far as there was one when the window began */
};

/* Is it where a virtual thread's first method returns to, in the nmethod at blob? */
static inline bool continuation_ends_at(const struct continuation_layout *layout, uint64_t blob,
					uint64_t pc)
{
	if (layout->return_pc)
		return __atomic_load_n(layout->return_pc, __ATOMIC_RELAXED) == pc;
	return layout->enter_special && layout->enter_special == blob;
}

#endif
