#include "attach/agent/stream/numbering.h"

#include <stdlib.h>

#define FIRST_CAPACITY 1024u

struct id_entry {
	struct id_key key;
	uint32_t id; /* 0: empty */
};

_Static_assert(sizeof(struct id_entry) == ID_MAP_ENTRY_BYTES, "the sum of the agent's tables");

void id_map_init(struct id_map *map)
{
	*map = (struct id_map){0};
}

void id_map_release(struct id_map *map)
{
	free(map->entries);
	id_map_init(map);
}

static struct id_entry *find(struct id_entry *entries, size_t capacity, struct id_key key)
{
	uint64_t hash =
	    (key.a ^ (key.b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);

	for (size_t i = hash >> 32;; i++) {
		struct id_entry *e = &entries[i & (capacity - 1)];

		if (e->id == 0 || (e->key.a == key.a && e->key.b == key.b))
			return e;
	}
}

static bool grow(struct id_map *map)
{
	size_t capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY;
	struct id_entry *entries = calloc(capacity, sizeof(*entries));

	if (!entries)
		return false;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->entries[i].id)
			*find(entries, capacity, map->entries[i].key) = map->entries[i];
	free(map->entries);
	map->entries = entries;
	map->capacity = capacity;
	return true;
}

bool id_map_is_full(const struct id_map *map)
{
	return map->count >= ID_MAP_MAX;
}

uint32_t id_map_intern(struct id_map *map, struct id_key key, bool *added)
{
	struct id_entry *e;

	/* Never more than three quarters full, so find always meets an empty entry. */
	if (4 * ((size_t)map->count + 1) > 3 * map->capacity &&
	    map->capacity < ID_MAP_CAPACITY_MAX && !grow(map))
		return 0;
	e = find(map->entries, map->capacity, key);
	*added = e->id == 0;
	if (*added && id_map_is_full(map))
		return 0;
	if (*added)
		*e = (struct id_entry){key, ++map->count};
	return e->id;
}
