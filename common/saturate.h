/* Sums that stay at their largest value: a counter that is shown to others never falls. And
 * differences that stay at 0: of a limit and what is held, nothing is left where that is more. */
#ifndef JXPERF_COMMON_SATURATE_H
#define JXPERF_COMMON_SATURATE_H

#include <stdint.h>

static inline void saturate_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static inline uint64_t saturate_less(uint64_t amount, uint64_t by)
{
	return amount > by ? amount - by : 0;
}

#endif
