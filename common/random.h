/* A small generator for one thread's sampling decisions (xorshift64*, Vigna 2016). Not for secrets.
 */
#ifndef JXPERF_COMMON_RANDOM_H
#define JXPERF_COMMON_RANDOM_H

#include <stdint.h>

#include "common/mix.h"

struct random {
	uint64_t state; /* never 0 */
};

static inline void random_seed(struct random *r, uint64_t seed)
{
	r->state = mix_upper(seed) | 1;
}

static inline uint32_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (uint32_t)((r->state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

/* Uniform in 0..bound-1, bound above 0; the bias of the multiplication is below 2^-24 for bounds
 * that fit a byte (Lemire 2019). */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
	return (uint32_t)(((uint64_t)random_next(r) * bound) >> 32);
}

/* The number of one of the set's bits, which is not empty, each as likely. */
static inline uint32_t random_bit(struct random *r, uint64_t set)
{
	for (uint32_t n = random_below(r, (uint32_t)__builtin_popcountll(set)); n > 0; n--)
		set &= set - 1;
	return (uint32_t)__builtin_ctzll(set);
}

#endif
