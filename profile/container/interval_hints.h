/*
 * A small memory of look-ups: which node of an interval tree answered for an address like this one
 * the last time. One slot of 4 bytes for a place, which is an aligned block of the address space
 * about as large as a typical interval; places that share a slot overwrite each other.
 *
 * What it says is a hint: the node may have been removed or moved since, or be another object's.
 * Whoever asks compares the node itself with the address, so nothing has to be invalidated, ever.
 *
 * One thread.
 */
#ifndef JXPERF_PROFILE_CONTAINER_INTERVAL_HINTS_H
#define JXPERF_PROFILE_CONTAINER_INTERVAL_HINTS_H

#include <stddef.h>
#include <stdint.h>

/* All zero is one without slots. */
struct interval_hints {
	uint32_t *slots; /* mask + 1 of them, a power of 2; NULL: none */
	uint32_t mask;
	uint32_t bits;  /* of mask */
	uint32_t shift; /* log2 of a place's bytes */
};

void interval_hints_release(struct interval_hints *h);

/* Between two and four slots for each of nodes: intervals are not aligned, so most have two places,
 * and the gaps behind them have some.
 * If that is another number than before, all is forgotten. Without memory there are none. */
void interval_hints_resize(struct interval_hints *h, uint32_t nodes);

size_t interval_hints_memory_bytes(const struct interval_hints *h);

/* Where the node is noted that answers for the address. There must be slots. Neighbouring places
 * have neighbouring slots, so that a walk through memory is one through the slots; what is above
 * them is folded in, for heaps are made of equal regions. */
static inline uint32_t *interval_hints_slot(const struct interval_hints *h, uint64_t address)
{
	uint64_t place = address >> h->shift;

	return &h->slots[(place ^ place >> h->bits) & h->mask];
}

#endif
