/*
 * Sorts items by a 32-bit key in linear time; equal keys keep their order, so wider keys are sorted
 * by sorting by their low and then by their high half. Digits that are the same in all keys cost
 * only the counting.
 */
#ifndef JXPERF_PROFILE_CONTAINER_RADIX_SORT_H
#define JXPERF_PROFILE_CONTAINER_RADIX_SORT_H

#include <stdint.h>

struct radix_item {
	uint32_t key;
	uint32_t value;
};

/* Both arrays have room for count items; what scratch holds afterwards is undefined. */
void radix_sort(struct radix_item *items, struct radix_item *scratch, uint32_t count);

#endif
