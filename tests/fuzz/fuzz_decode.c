/*
 * Fuzzes the decoder of agents' frames: what it says of any bytes is what protobuf-c says
 * (tests/unit/support/decoded_frame.h), and a difference aborts. libFuzzer entry point.
 */
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/support/decoded_frame.h"

/* More than inputs of libFuzzer's size can need. */
#define ARENA_BYTES ((size_t)32 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;

	arena_init(&arena, ARENA_BYTES);
	(void)decoded_frame_agrees(&arena, data, size);
	arena_release(&arena);
	return 0;
}
