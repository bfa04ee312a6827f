#include "common/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_FIRST_ITEMS 16

int array_reserve(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
	return array_reserve_within(items, capacity, wanted, SIZE_MAX, item_size);
}

int array_reserve_within(void *items, size_t *capacity, size_t wanted, size_t limit,
			 size_t item_size)
{
	size_t grown = *capacity ? *capacity : ARRAY_FIRST_ITEMS;
	void *old, *moved;

	if (wanted <= *capacity)
		return 0;
	if (wanted > limit)
		return -ENOSPC;
	while (grown < wanted)
		grown *= 2;
	if (grown > limit)
		grown = limit;
	memcpy(&old, items, sizeof(old));
	moved = reallocarray(old, grown, item_size);
	if (!moved)
		return -ENOMEM;
	memcpy(items, &moved, sizeof(moved));
	*capacity = grown;
	return 0;
}

int array_copy(void *to, const void *from, size_t count, size_t item_size)
{
	void *copy = NULL;

	if (count > 0) {
		copy = reallocarray(NULL, count, item_size);
		if (copy)
			memcpy(copy, from, count * item_size);
	}
	memcpy(to, &copy, sizeof(copy));
	return copy || count == 0 ? 0 : -ENOMEM;
}
