/*
 * Whether decode_agent_frame says of some bytes what protobuf-c does: both refuse them, or both
 * decode them to messages that encode to the same bytes. Aborts where they differ. For the unit
 * test and the fuzzer.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_DECODED_FRAME_H
#define JXPERF_TESTS_UNIT_SUPPORT_DECODED_FRAME_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/intake/decode.h"

static inline uint8_t *packed_frame(const Jxp__AgentFrame *frame, size_t *size)
{
	uint8_t *bytes;

	*size = jxp__agent_frame__get_packed_size(frame);
	bytes = malloc(*size + 1);
	if (!bytes || jxp__agent_frame__pack(frame, bytes) != *size)
		abort();
	return bytes;
}

/* Whether the bytes are a frame. The arena must be large enough for anything they hold. */
static inline bool decoded_frame_agrees(struct arena *arena, const uint8_t *bytes, size_t size)
{
	const Jxp__AgentFrame *frame = decode_agent_frame(arena, bytes, size);
	Jxp__AgentFrame *wanted = jxp__agent_frame__unpack(NULL, size, bytes);
	bool ok = wanted != NULL;
	uint8_t *a, *b;
	size_t a_size, b_size;

	if (!frame != !wanted) {
		(void)fputs(wanted ? "refused what is well formed\n" : "took what is malformed\n",
			    stderr);
		abort();
	}
	if (frame) {
		a = packed_frame(frame, &a_size);
		b = packed_frame(wanted, &b_size);
		if (a_size != b_size || memcmp(a, b, a_size) != 0) {
			(void)fputs("decoded something else\n", stderr);
			abort();
		}
		free(a);
		free(b);
		jxp__agent_frame__free_unpacked(wanted, NULL);
	}
	arena_reset(arena);
	return ok;
}

#endif
