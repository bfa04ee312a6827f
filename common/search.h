/*
 * Search by halving in what is in order.
 */
#ifndef JXPERF_COMMON_SEARCH_H
#define JXPERF_COMMON_SEARCH_H

#include <stddef.h>

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
