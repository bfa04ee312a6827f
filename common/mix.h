/* splitmix64's finaliser: every input bit reaches every output bit. For hash tables whose keys
 * nobody chooses against them. */
#ifndef JXPERF_COMMON_MIX_H
#define JXPERF_COMMON_MIX_H

#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#endif
