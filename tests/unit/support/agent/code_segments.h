/* Code heaps of a JVM that are made up: memory in segments, each of whose bytes says how far the
 * block that it is in began before it. Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_CODE_SEGMENTS_H
#define TESTS_UNIT_AGENT_CODE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attach/agent/code/code_heap.h"

#define SEGMENT_SHIFT 7u
#define BLOCK_BYTES   16u /* a block's header */
#define BLOCK_USED    8u  /* in it */
#define MOST_SEGMENTS 512u

static uint8_t segments[MOST_SEGMENTS];
static uint64_t segments_end, committed_end;

/* A heap of this memory, which begins at a segment's boundary. No segment is anybody's. */
static inline struct code_heap code_segments_init(const void *memory, size_t bytes)
{
	memset(segments, 0xff, sizeof(segments));
	segments_end = (uintptr_t)(segments + (bytes >> SEGMENT_SHIFT));
	committed_end = (uintptr_t)memory + bytes;
	return (struct code_heap){.low = (uintptr_t)memory,
				  .high = committed_end,
				  .segments = (uintptr_t)segments,
				  .segments_end = &segments_end,
				  .committed_end = &committed_end,
				  .segment_shift = SEGMENT_SHIFT};
}

/* Gives so many segments to one block. */
static inline void code_segments_take(unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		segments[first + i] = (uint8_t)i;
}

#endif
