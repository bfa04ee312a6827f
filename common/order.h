/*
 * Orders of two values: below 0, 0 or above 0, as qsort and bsearch want it. Where one value
 *decides before another they are told in that order:
 *
 *	return ORDER(ASCENDING(x->loop, y->loop), DESCENDING(x->ns, y->ns));
 */
#ifndef JXPERF_COMMON_ORDER_H
#define JXPERF_COMMON_ORDER_H

#include <stddef.h>

/* Each value is read twice. */
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

#endif
