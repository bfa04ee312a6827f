/* Sums that stay at their largest value: a counter that is shown to others never falls. */
#ifndef JXPERF_DAEMON_CONTAINER_SATURATE_H
#define JXPERF_DAEMON_CONTAINER_SATURATE_H

#include <stdint.h>

static inline void saturate_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

#endif
