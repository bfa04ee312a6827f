/*
 * Which of a compiled method's debug information describes an instruction.
 *
 * HotSpot records the inlined frames of a method only at safepoints (calls, loop polls), unless
 * somebody listens to compilations or -XX:+DebugNonSafepoints is set; code compiled before the
 * attach has no more than that. For an instruction in between, AsyncGetCallTrace takes the next
 * record by address (nmethod::pc_desc_near), which is often of another loop or an outlined path.
 * Here the next record in execution order is looked up: the safepoint that control reaches from the
 * instruction, loops preferred to their exits, is in the same loop and so in the same inlined
 * method or an ancestor of it.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_DEBUG_INFO_H
#define JXPERF_AGENT_CODE_DEBUG_INFO_H

#include <stdint.h>

/* Of remembered answers, 8,192 of them. */
#define DEBUG_INFO_BYTES (8192u * sizeof(uint64_t))

/* The instruction pointer at which AsyncGetCallTrace finds the frames for the instruction at ip.
 * That is ip itself where nothing better is known. The frame is the same: no instruction between
 * the two moves the stack pointer. */
uint64_t debug_info_ip(uint64_t ip);

/* Forgets remembered answers: code may have changed. */
void debug_info_clear(void);

#endif
