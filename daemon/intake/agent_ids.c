#include "daemon/intake/agent_ids.h"

#include <stdlib.h>

#include "daemon/container/array.h"
#include "daemon/container/hash.h"

void id_map_release(struct id_map *m)
{
	free(m->entries);
	hash_index_release(&m->index);
	*m = (struct id_map){0};
}

static bool key_matches(const void *table, uint32_t position, const void *key)
{
	const struct id_map *m = table;

	return m->entries[position].key == *(const uint32_t *)key;
}

bool id_map_get(const struct id_map *m, uint32_t key, uint32_t *value)
{
	uint32_t position;

	if (!hash_index_find(&m->index, hash_bytes(&key, sizeof(key)), key_matches, m, &key,
			     &position))
		return false;
	*value = m->entries[position].value;
	return true;
}

int id_map_add(struct id_map *m, uint32_t key, uint32_t value)
{
	int r = array_reserve(&m->entries, &m->capacity, m->count + 1, sizeof(*m->entries));

	if (r < 0)
		return r;
	r = hash_index_insert(&m->index, hash_bytes(&key, sizeof(key)), (uint32_t)m->count);
	if (r < 0)
		return r;
	m->entries[m->count++] = (struct id_entry){.key = key, .value = value};
	return 0;
}
