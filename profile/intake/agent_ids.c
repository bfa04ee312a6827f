#include "profile/intake/agent_ids.h"

#include <stdlib.h>

#include "common/array.h"
#include "profile/container/hash.h"

void agent_ids_release(struct agent_ids *m)
{
	free(m->entries);
	hash_index_release(&m->index);
	*m = (struct agent_ids){0};
}

static bool key_matches(const void *table, uint32_t position, const void *key)
{
	const struct agent_ids *m = table;

	return m->entries[position].key == *(const uint32_t *)key;
}

size_t agent_ids_memory_bytes(const struct agent_ids *m)
{
	return m->capacity * sizeof(*m->entries) + m->index.capacity * sizeof(*m->index.slots);
}

bool agent_ids_get(const struct agent_ids *m, uint32_t key, uint32_t *value)
{
	uint32_t position;

	if (!hash_index_find(&m->index, hash_ids(&key, 1), key_matches, m, &key, &position))
		return false;
	*value = m->entries[position].value;
	return true;
}

int agent_ids_add(struct agent_ids *m, uint32_t key, uint32_t value)
{
	int r = array_reserve(&m->entries, &m->capacity, m->count + 1, sizeof(*m->entries));

	if (r < 0)
		return r;
	r = hash_index_insert(&m->index, hash_ids(&key, 1), (uint32_t)m->count);
	if (r < 0)
		return r;
	m->entries[m->count++] = (struct agent_id){.key = key, .value = value};
	return 0;
}
