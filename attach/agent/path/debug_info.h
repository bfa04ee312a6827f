/*
 * Which of a compiled method's debug information describes an instruction.
 *
 * HotSpot records the inlined frames of a method only at safepoints (calls, loop polls), unless
 * somebody listens to compilations or -XX:+DebugNonSafepoints is set; code compiled before the
 * attach has no more than that. For an instruction in between, AsyncGetCallTrace takes the next
 * record by address (nmethod::pc_desc_near), which is often of another loop or an outlined path.
 * Here the next record in execution order is looked up: the safepoint that control reaches from the
 * instruction, loops (loops.h) preferred to their exits, is in the same loop and so in the same
 * inlined method or an ancestor of it.
 *
 * Where somebody did listen, records are dense: each is that of the last instruction of a run of
 * instructions that belong to one bytecode, and the next record by address is the right one. Which
 * of the two a method is shows in where its records are; it is found out once, when the method is
 * added to the code map.
 *
 * Async-signal-safe, but for debug_info_is_dense.
 */
#ifndef JXPERF_AGENT_PATH_DEBUG_INFO_H
#define JXPERF_AGENT_PATH_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

/* Of remembered answers, 8,192 of them. */
#define DEBUG_INFO_BYTES (8192u * sizeof(uint64_t))

/* The instruction pointer at which AsyncGetCallTrace finds the frames for the instruction at ip.
 * That is ip itself where nothing better is known. The frame is the same: no instruction between
 * the two moves the stack pointer. */
uint64_t debug_info_ip(uint64_t ip);

/* Does a compiled method have records everywhere rather than at safepoints only? debug_pcs are the
 * offsets of its records. Reads all of the code around them: for the callback that the JVM names
 * the method in, not for handlers. */
bool debug_info_is_dense(const uint8_t *code, uint32_t size, const uint32_t *debug_pcs,
			 uint32_t debug_pc_count);

/* Forgets remembered answers: code may have changed. */
void debug_info_clear(void);

#endif
