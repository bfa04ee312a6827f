#include "profile/container/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define FIRST_BLOCK_BYTES ((size_t)64 << 10)
#define KEPT_BYTES        ((size_t)4 << 20)

struct arena_block {
	struct arena_block *next;
	size_t size; /* of the memory that follows */
	alignas(max_align_t) unsigned char memory[];
};

/* Blocks double, so that there are few. */
static struct arena_block *add_block(struct arena *a, size_t wanted)
{
	size_t size = a->blocks ? 2 * a->blocks->size : FIRST_BLOCK_BYTES;
	struct arena_block *block;

	if (wanted > a->limit - a->total)
		return NULL;
	if (size > a->limit - a->total)
		size = a->limit - a->total;
	if (size < wanted)
		size = wanted;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	*block = (struct arena_block){.next = a->blocks, .size = size};
	a->blocks = block;
	a->used = 0;
	a->total += size;
	return block;
}

static void *allocate(void *context, size_t size)
{
	struct arena *a = context;
	struct arena_block *block = a->blocks;
	size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

	if (rounded < size)
		return NULL;
	if (!block || rounded > block->size - a->used)
		block = add_block(a, rounded);
	if (!block)
		return NULL;
	a->used += rounded;
	return block->memory + a->used - rounded;
}

static void leave(void *context, void *memory)
{
	(void)context;
	(void)memory;
}

void arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena){.limit = limit};
	a->allocator = (ProtobufCAllocator){.alloc = allocate, .free = leave, .allocator_data = a};
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena_release(struct arena *a)
{
	free_blocks(a->blocks);
	arena_init(a, a->limit);
}

void arena_reset(struct arena *a)
{
	if (!a->blocks)
		return;
	if (a->blocks->size > KEPT_BYTES) {
		arena_release(a);
		return;
	}
	free_blocks(a->blocks->next);
	a->blocks->next = NULL;
	a->total = a->blocks->size;
	a->used = 0;
}
