/*
 * Room in a heap array that grows by doubling. The array, its count and its capacity belong to the
 * caller, who frees it with free(); limits are the caller's too. And the order of what is in an
 * array, and search by halving in it.
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

/* Orders of two values: below 0, 0 or above 0, as qsort and bsearch want it. Where one value
 *decides before another they are told in that order:
 *
 *	return ORDER(ASCENDING(x->loop, y->loop), DESCENDING(x->ns, y->ns));
 *
 * Each value is read twice. */
#define ASCENDING(x, y)  (((x) > (y)) - ((x) < (y)))
#define DESCENDING(x, y) ASCENDING(y, x)

/* The first of some orders that is not 0; 0 where all are. */
#define ORDER(...) \
	order_first((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static inline int order_first(const int *orders, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (orders[i])
			return orders[i];
	return orders[count - 1];
}

/* The first i below count for which the condition holds, as it does then for all behind it; count
 * where it holds for none. */
#define SEARCH_FIRST(i, count, condition)                     \
	({                                                    \
		size_t low_ = 0, high_ = (count);             \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
			if (condition)                        \
				high_ = i;                    \
			else                                  \
				low_ = i + 1;                 \
		}                                             \
		low_;                                         \
	})

#endif
