/*
 * How much a small stub of the JVM's has on the stack at one of its instructions: what those from
 * its begin on have pushed and taken off. Behind a jump or a return it is as it was where that
 * place was last branched over.
 *
 * Async-signal-safe: reads the code that is given.
 */
#ifndef JXPERF_AGENT_STACK_STUB_DEPTH_H
#define JXPERF_AGENT_STACK_STUB_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes from the stack pointer up to the return address, and to the caller's rbp, if that is there
 * and not in the register. */
struct stub_depth {
	uint32_t to_return;
	uint32_t to_fp;
	bool fp_saved;
};

/* pc in code [begin, end), which has one entry, its begin. False when it does what is not
 * understood. */
bool stub_depth_at(uint64_t begin, uint64_t end, uint64_t pc, struct stub_depth *out);

#endif
