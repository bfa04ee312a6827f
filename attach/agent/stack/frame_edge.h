/*
 * The edges of a compiled method, where its frame does not stand: from its entry to the end of its
 * prologue, and behind its epilogue. A tick often lands there, since a method's first instruction
 * touches the stack below (stack banging), and the JVM cannot walk from there.
 *
 * What stands is told from the code, exactly: by what the instructions from the entry on have
 * pushed, or by what those up to the return still take off. Other code is no edge.
 *
 * Async-signal-safe: reads code of a blob that is alive.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_EDGE_H
#define JXPERF_AGENT_STACK_FRAME_EDGE_H

#include <stdint.h>

enum frame_edge {
	FRAME_STANDS,
	FRAME_ENTERED, /* in the prologue */
	FRAME_LEFT,    /* the epilogue has taken it off the stack, but for the caller's rbp */
};

/* Where pc is in a method whose instructions are [begin, end), and whose frame stands complete
 * bytes from its begin. *words: what is on the stack above the stack pointer up to and with the
 * return address; if more than the address alone, the caller's rbp lies below it. */
enum frame_edge frame_edge_at(uint64_t begin, uint64_t end, uint32_t complete, uint64_t pc,
			      uint16_t *words);

#endif
