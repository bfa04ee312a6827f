#include "attach/agent/objects/track_room.h"

/* The chance to be taken is halved so often: one object in 128 is always taken. By then only the
 * last 128th of the room is left. */
#define HALVINGS_MAX 7u

/* The chance by size is at least one in so many; times that by room it still fits 32 bits. */
#define ONE_IN_MAX (1u << 24)

void track_room_limit(struct track_room *r, uint32_t refs_max, uint64_t bytes_max,
		      uint64_t large_bytes)
{
	r->large_bytes = large_bytes;
	r->refs_max = refs_max;
	r->words_max = bytes_max / sizeof(uint64_t);
}

/* How often the part of the whole that is left has to be doubled to be more than half of it. */
static unsigned halvings(uint64_t used, uint64_t whole)
{
	uint64_t left = used < whole ? whole - used : 0;
	unsigned n = 0;

	while (n < HALVINGS_MAX && left << n <= whole / 2)
		n++;
	return n;
}

/* How many times larger than large_bytes, rounded up. A size that no object can have counts as the
 * largest that fits. */
static uint32_t one_in_for(uint64_t size_bytes, uint64_t large_bytes)
{
	uint64_t times = size_bytes / large_bytes + (size_bytes % large_bytes != 0);

	return times < ONE_IN_MAX ? (uint32_t)times : ONE_IN_MAX;
}

bool track_room_draw(const struct track_room *r, struct random *random, uint64_t size_bytes,
		     uint32_t *stands_for)
{
	unsigned by_refs = halvings(atomic_load(&r->refs), r->refs_max);
	unsigned by_words = halvings(atomic_load(&r->words), r->words_max);
	uint32_t one_in = 1u << (by_refs > by_words ? by_refs : by_words);

	if (size_bytes > r->large_bytes)
		one_in *= one_in_for(size_bytes, r->large_bytes);
	if (random_below(random, one_in) != 0)
		return false;
	*stands_for = one_in;
	return true;
}

bool track_room_take_ref(struct track_room *r)
{
	if (atomic_fetch_add(&r->refs, 1) < r->refs_max)
		return true;
	atomic_fetch_sub(&r->refs, 1);
	return false;
}

bool track_room_take_words(struct track_room *r, uint32_t words)
{
	if (atomic_fetch_add(&r->words, words) + words <= r->words_max)
		return true;
	atomic_fetch_sub(&r->words, words);
	return false;
}

void track_room_give(struct track_room *r, uint32_t words)
{
	atomic_fetch_sub(&r->refs, 1);
	atomic_fetch_sub(&r->words, words);
}
