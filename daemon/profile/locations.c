#include "daemon/profile/locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "daemon/container/hash.h"
#include "proto/limits.h"

void locations_release(struct locations *l)
{
	free(l->list);
	hash_index_release(&l->index);
	*l = (struct locations){0};
}

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct locations *l = table;

	return memcmp(&l->list[position], key, sizeof(struct location)) == 0;
}

int locations_add(struct locations *l, const struct location *location, uint32_t *id)
{
	uint32_t hash = hash_bytes(location, sizeof(*location));
	uint32_t position;
	int r;

	if (hash_index_find(&l->index, hash, matches, l, location, &position)) {
		*id = position + 1;
		return 0;
	}
	if (l->count >= LIMIT_LOCATIONS)
		return -ENOSPC;
	r = array_reserve(&l->list, &l->capacity, l->count + 1, sizeof(*l->list));
	if (r < 0)
		return r;
	r = hash_index_insert(&l->index, hash, (uint32_t)l->count);
	if (r < 0)
		return r;
	l->list[l->count++] = *location;
	*id = (uint32_t)l->count;
	return 0;
}

struct location locations_get(const struct locations *l, uint32_t id)
{
	return id ? l->list[id - 1] : (struct location){0};
}

static struct location place_in_source(const struct locations *l, uint32_t id)
{
	struct location place = locations_get(l, id);

	if (place.kind == JXP__LOCATION__KIND__FIELD && place.declared_in)
		place.class_name = place.declared_in;
	return place;
}

static bool place_matches(const void *table, uint32_t position, const void *key)
{
	struct location own = place_in_source(table, position + 1);

	return memcmp(&own, key, sizeof(own)) == 0;
}

int locations_fields(const struct locations *l, uint32_t **fields)
{
	_cleanup_(hash_index_release) struct hash_index index = {0};
	_cleanup_free_ uint32_t *found = calloc(l->count + 1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	for (uint32_t id = 1; id <= l->count; id++) {
		struct location place = place_in_source(l, id);
		uint32_t hash = hash_bytes(&place, sizeof(place));
		uint32_t position;

		found[id] = id;
		if (hash_index_find(&index, hash, place_matches, l, &place, &position))
			found[id] = position + 1;
		else if (hash_index_insert(&index, hash, id - 1) < 0)
			return -ENOMEM;
	}
	*fields = TAKE_PTR(found);
	return 0;
}

size_t locations_memory_bytes(const struct locations *l)
{
	return l->capacity * sizeof(*l->list) + l->index.capacity * sizeof(*l->index.slots);
}
