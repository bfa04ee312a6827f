#include "attach/agent/stack/anchor.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

struct anchor anchor_of(const struct anchor_layout *layout, uint64_t thread)
{
	uint64_t at = thread + layout->anchor;
	int32_t state;

	memcpy(&state, (const void *)(uintptr_t)(thread + layout->state), sizeof(state));
	return (struct anchor){.sp = memory_word(at + layout->sp),
			       .pc = memory_word(at + layout->pc),
			       .fp = memory_word(at + layout->fp),
			       .in_java = state == layout->in_java};
}
