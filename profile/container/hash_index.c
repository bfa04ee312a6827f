#include "profile/container/hash_index.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"

#define HASH_INDEX_FIRST_SLOTS 64

void hash_index_release(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){0};
}

int hash_index_copy(struct hash_index *to, const struct hash_index *from)
{
	int r;

	*to = (struct hash_index){0};
	r = array_copy(&to->slots, from->slots, from->capacity, sizeof(*from->slots));
	if (r < 0)
		return r;
	to->capacity = from->capacity;
	to->used = from->used;
	return 0;
}

/* The free slot where the probe for hash ends. */
static struct hash_slot *free_slot(struct hash_slot *slots, size_t capacity, uint32_t hash)
{
	size_t at = hash & (capacity - 1);

	while (slots[at].position_plus_one)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

bool hash_index_find(const struct hash_index *index, uint32_t hash, hash_index_match *match,
		     const void *table, const void *key, uint32_t *position)
{
	size_t mask = index->capacity - 1;

	if (index->capacity == 0)
		return false;
	for (size_t at = hash & mask; index->slots[at].position_plus_one; at = (at + 1) & mask) {
		const struct hash_slot *slot = &index->slots[at];

		if (slot->hash != hash || !match(table, slot->position_plus_one - 1, key))
			continue;
		*position = slot->position_plus_one - 1;
		return true;
	}
	return false;
}

/* Keeps the load at or below one half, where probes stay short. */
static int grow(struct hash_index *index)
{
	size_t capacity = index->capacity ? index->capacity * 2 : HASH_INDEX_FIRST_SLOTS;
	struct hash_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->capacity; i++)
		if (index->slots[i].position_plus_one)
			*free_slot(slots, capacity, index->slots[i].hash) = index->slots[i];
	free(index->slots);
	index->slots = slots;
	index->capacity = capacity;
	return 0;
}

int hash_index_insert(struct hash_index *index, uint32_t hash, uint32_t position)
{
	if ((index->used + 1) * 2 > index->capacity) {
		int r = grow(index);

		if (r < 0)
			return r;
	}
	*free_slot(index->slots, index->capacity, hash) =
	    (struct hash_slot){.hash = hash, .position_plus_one = position + 1};
	index->used++;
	return 0;
}
