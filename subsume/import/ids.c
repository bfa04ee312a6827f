/* Numbers to numbers. */
#include "subsume/import/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/mix.h"

#define CAPACITY_FIRST 256u

/* A table with fewer entries than one in so many slots is large for what is in it. */
#define SPARSE 16u

static struct ids_slot *find(const struct ids *ids, uint64_t key)
{
	size_t i = mix(key ^ ids->seed) & (ids->capacity - 1);

	while (ids->slots[i].value != 0 && ids->slots[i].key != key)
		i = (i + 1) & (ids->capacity - 1);
	return &ids->slots[i];
}

/* At most half of the slots are in use. */
static int grow(struct ids *ids)
{
	struct ids bigger = *ids;

	if (ids->count >= IDS_MAX)
		return -ENOSPC;
	if (2 * (ids->count + 1) <= ids->capacity)
		return 0;
	bigger.capacity = ids->capacity ? 2 * ids->capacity : CAPACITY_FIRST;
	/* Without random bytes the seed is 0, and a hostile file may make it slow. */
	if (ids->capacity == 0)
		(void)!getrandom(&bigger.seed, sizeof(bigger.seed), GRND_NONBLOCK);
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < ids->capacity; i++)
		if (ids->slots[i].value != 0)
			*find(&bigger, ids->slots[i].key) = ids->slots[i];
	free(ids->slots);
	*ids = bigger;
	return 0;
}

int ids_put(struct ids *ids, uint64_t key, uint64_t value)
{
	struct ids_slot *slot;
	int r;

	if (ids_get(ids, key) != 0)
		return -EEXIST;
	r = grow(ids);
	if (r < 0)
		return r;
	slot = find(ids, key);
	slot->key = key;
	slot->value = value;
	ids->count++;
	return 0;
}

uint64_t ids_get(const struct ids *ids, uint64_t key)
{
	return ids->capacity ? find(ids, key)->value : 0;
}

void ids_clear(struct ids *ids)
{
	/* What is emptied often must not cost more than it takes to fill it. */
	if (ids->count < ids->capacity / SPARSE)
		ids_release(ids);
	else if (ids->count > 0)
		memset(ids->slots, 0, ids->capacity * sizeof(*ids->slots));
	ids->count = 0;
}

void ids_release(struct ids *ids)
{
	free(ids->slots);
	*ids = (struct ids){0};
}
