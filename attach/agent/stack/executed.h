/*
 * Where a thread stands that is asked for by another instruction than its next one: by one that it
 * has executed, since a watched address was accessed by it, or by one that it comes to. What is on
 * the stack is not as that instruction's own place says.
 *
 * Async-signal-safe: reads code of a blob that is alive.
 */
#ifndef JXPERF_AGENT_STACK_EXECUTED_H
#define JXPERF_AGENT_STACK_EXECUTED_H

#include <stdint.h>

#include "attach/agent/code/code_heap.h"

struct executed {
	uint64_t ip; /* where the frame is as the stack pointer says */
	uint64_t sp;
};

/* ip: the instruction's; rip and sp: what the registers say. Of a call or a return that has
 * been made it is the place before it, of others the one behind it, in the same code; of code that
 * is not the JVM's own the one behind it. */
struct executed executed_at(const struct code_layout *code, uint64_t ip, uint64_t rip, uint64_t sp);

#endif
