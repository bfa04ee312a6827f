/* Hashes of numbers, for tables whose keys nobody chooses against them. */
#ifndef JXPERF_COMMON_MIX_H
#define JXPERF_COMMON_MIX_H

#include <stdint.h>

/* 2^64 by the golden ratio: odd, and without a pattern in its bits. */
#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15)

/* Multiplicative hashing (Knuth, volume 3, section 6.4): the upper bits depend on all of x, the
 * lower ones do not. For a table that takes the upper ones, and for what is mixed afterwards. */
static inline uint64_t mix_upper(uint64_t x)
{
	return x * GOLDEN_RATIO;
}

/* splitmix64's finaliser (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#endif
