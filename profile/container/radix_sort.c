#include "profile/container/radix_sort.h"

#include <string.h>

#define DIGIT_BITS 8
#define BUCKETS    (1u << DIGIT_BITS)
#define DIGITS     (32 / DIGIT_BITS)

static uint32_t digit_of(uint32_t key, unsigned int digit)
{
	return key >> (digit * DIGIT_BITS) & (BUCKETS - 1);
}

/* From the number of items in each bucket to the place of its first one. */
static void counts_to_places(uint32_t *buckets)
{
	uint32_t place = 0;

	for (unsigned int i = 0; i < BUCKETS; i++) {
		uint32_t count = buckets[i];

		buckets[i] = place;
		place += count;
	}
}

void radix_sort(struct radix_item *items, struct radix_item *scratch, uint32_t count)
{
	uint32_t buckets[DIGITS][BUCKETS] = {0};
	struct radix_item *from = items, *to = scratch, *sorted;

	for (uint32_t i = 0; i < count; i++)
		for (unsigned int d = 0; d < DIGITS; d++)
			buckets[d][digit_of(items[i].key, d)]++;
	for (unsigned int d = 0; d < DIGITS; d++) {
		if (count == 0 || buckets[d][digit_of(items[0].key, d)] == count)
			continue;
		counts_to_places(buckets[d]);
		for (uint32_t i = 0; i < count; i++)
			to[buckets[d][digit_of(from[i].key, d)]++] = from[i];
		sorted = to;
		to = from;
		from = sorted;
	}
	if (from != items && count > 0)
		memcpy(items, from, count * sizeof(*items));
}
