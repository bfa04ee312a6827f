#include "attach/agent/objects/alloc_floor.h"

void alloc_floor_init(struct alloc_floor *f, uint64_t bytes, bool adapts)
{
	*f = (struct alloc_floor){.bytes = bytes, .adapts = adapts};
}

uint64_t alloc_floor_next(struct alloc_floor *f, uint64_t sampled, uint64_t small, bool room)
{
	uint64_t all = sampled - f->last_sampled, below = small - f->last_small;

	if (!f->adapts || all < ALLOC_FLOOR_SAMPLES)
		return f->bytes;
	f->last_sampled = sampled;
	f->last_small = small;
	if (2 * below > all && room)
		f->bytes = f->bytes / 4 >= ALLOC_FLOOR_LEAST ? f->bytes / 4 : 0;
	return f->bytes;
}

uint64_t alloc_floor_accessed(struct alloc_floor *f, uint64_t accessed_bytes, bool room)
{
	if (f->adapts && room && accessed_bytes > 0 && accessed_bytes < f->bytes)
		f->bytes = accessed_bytes >= ALLOC_FLOOR_LEAST ? accessed_bytes : 0;
	return f->bytes;
}
