/*
 * From the ids that an agent chose to those of the engine's tables. Any 32-bit id but 0 may be a
 * key; a key is set once and never removed. The caller bounds the number of keys.
 */
#ifndef JXPERF_DAEMON_INTAKE_AGENT_IDS_H
#define JXPERF_DAEMON_INTAKE_AGENT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/container/hash_index.h"

struct id_entry {
	uint32_t key;
	uint32_t value;
};

/* All zero is an empty map. */
struct id_map {
	struct id_entry *entries;
	size_t count;
	size_t capacity;
	struct hash_index index;
};

void id_map_release(struct id_map *m);

/* Whether key is known; if so *value is set. */
bool id_map_get(const struct id_map *m, uint32_t key, uint32_t *value);

/* Adds a key that is not known yet. 0 or -ENOMEM. */
int id_map_add(struct id_map *m, uint32_t key, uint32_t value);

#endif
