/*
 * Which of a compiled method's debug information describes an instruction.
 *
 * HotSpot records the inlined frames of a method only at safepoints (calls, loop polls), unless
 * somebody listens to compilations or -XX:+DebugNonSafepoints is set. For an instruction in between
 * the next record by address is taken (nmethod::pc_desc_near), which names another method more
 * often than not; who it is the engine tells from the code (profile/attribution). Following
 * execution to the next record is right no more often: measured of ticks.
 *
 * Where somebody did listen, records are dense: each is that of the last instruction of a run of
 * instructions that belong to one bytecode, and the next record by address is the right one, but
 * for that instruction and for the end of a block. Which of the two a method is shows in where its
 * records are; it is found out once, when the method is added to the code map.
 *
 * Async-signal-safe, but for debug_info_is_dense.
 */
#ifndef JXPERF_AGENT_PATH_DEBUG_INFO_H
#define JXPERF_AGENT_PATH_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

/* For 8,192 remembered answers. */
#define DEBUG_INFO_BYTES (8192u * sizeof(uint64_t))

/* The instruction pointer at which pc_desc_near finds the frames for the instruction at ip, the
 * same for all that it finds one record for; ip itself where nothing is known. Where the frame
 * begins and ends, which the stack walk tells by ip, the two may have different ones. */
uint64_t debug_info_ip(uint64_t ip);

/* Does a compiled method have records everywhere rather than at safepoints only? debug_pcs are the
 * offsets of its records. Reads all of the code around them: for the callback that the JVM names
 * the method in, not for handlers. */
bool debug_info_is_dense(const uint8_t *code, uint32_t size, const uint32_t *debug_pcs,
			 uint32_t debug_pc_count);

/* Forgets remembered answers: code may have changed. */
void debug_info_clear(void);

#endif
