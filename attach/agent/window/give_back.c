#include "attach/agent/window/give_back.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below the least size for which glibc maps memory instead (128 KiB), so it comes from the arena.
 * Then smaller ones, for what lies between what is in use: HotSpot keeps chunks of 32 KiB for some
 * seconds, and they cut the rest into pieces that no large block fits into. */
#define BLOCK_BYTES     ((size_t)120 << 10)
#define BLOCK_BYTES_MIN ((size_t)15 << 10)
#define BLOCK_SIZES     4u /* each half of the one before */
/* So many blocks of each size. */
#define BLOCKS_MAX 128u

/* So many blocks of a size in which nothing was resident: what follows is memory that was never
 * used. */
#define EMPTY_MAX 4u

/* Pages of 4 KiB or more. */
#define PAGES_MAX (BLOCK_BYTES / 4096)

struct span {
	uintptr_t start;
	size_t bytes;
};

/* The whole pages inside a block, but for the first one: malloc's own words are before the block.
 */
static struct span inner_pages(const void *block, size_t bytes, size_t page)
{
	uintptr_t start = ((uintptr_t)block + page - 1) & ~(uintptr_t)(page - 1);
	uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(page - 1);

	return (struct span){start, end > start ? end - start : 0};
}

/* Empties the block's pages. Was any of them resident? */
static bool empty(void *block, size_t bytes, size_t page)
{
	struct span s = inner_pages(block, bytes, page);
	unsigned char resident[PAGES_MAX];
	bool any = false;

	if (s.bytes == 0 || mincore((void *)s.start, s.bytes, resident) < 0)
		return false;
	for (size_t i = 0; i < s.bytes / page; i++)
		any |= resident[i] & 1;
	/* Fails for locked memory, which then stays. */
	if (any)
		(void)madvise((void *)s.start, s.bytes, MADV_DONTNEED);
	return any;
}

/* Takes what blocks of a size there are, and empties them; returns how many. */
static unsigned take_blocks(size_t bytes, size_t page, void *blocks[BLOCKS_MAX])
{
	unsigned count = 0, empties = 0;

	while (count < BLOCKS_MAX && empties < EMPTY_MAX) {
		void *block = malloc(bytes);

		if (!block)
			break;
		blocks[count++] = block;
		empties += !empty(block, bytes, page);
	}
	return count;
}

void give_back_freed(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE); /* Cannot fail. */
	void *blocks[BLOCK_SIZES * BLOCKS_MAX];
	unsigned count = 0;

	/* All are held until the last one is taken, or the same one would come again. */
	for (size_t bytes = BLOCK_BYTES; bytes >= BLOCK_BYTES_MIN; bytes /= 2)
		count += take_blocks(bytes, page, blocks + count);
	while (count > 0)
		free(blocks[--count]);
}
