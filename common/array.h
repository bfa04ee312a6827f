/*
 * Room in a heap array that grows by doubling. The array, its count and its capacity belong to the
 * caller, who frees it with free(); limits are the caller's too.
 */
#ifndef JXPERF_COMMON_ARRAY_H
#define JXPERF_COMMON_ARRAY_H

#include <stddef.h>

/* items is the address of the array pointer. Makes *capacity at least wanted. 0 or -ENOMEM, with
 * the array unchanged. */
int array_reserve(void *items, size_t *capacity, size_t wanted, size_t item_size);

/* The same with room for at most limit items, however many are wanted: -ENOSPC for more. */
int array_reserve_within(void *items, size_t *capacity, size_t wanted, size_t limit,
			 size_t item_size);

/* to is the address of an array pointer, which becomes a copy of count items of from, or NULL when
 * there are none. 0 or -ENOMEM, with the pointer NULL. */
int array_copy(void *to, const void *from, size_t count, size_t item_size);

#endif
