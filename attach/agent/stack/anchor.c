#include "attach/agent/stack/anchor.h"

#include <string.h>

static uint64_t word_at(uint64_t address)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)address, sizeof(value));
	return value;
}

struct anchor anchor_of(const struct anchor_layout *layout, uint64_t thread)
{
	uint64_t at = thread + layout->anchor;
	int32_t state;

	memcpy(&state, (const void *)(uintptr_t)(thread + layout->state), sizeof(state));
	return (struct anchor){.sp = word_at(at + layout->sp),
			       .pc = word_at(at + layout->pc),
			       .fp = word_at(at + layout->fp),
			       .in_java = state == layout->in_java};
}
