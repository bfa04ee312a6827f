/*
 * From the ids that an agent chose to those of the engine's tables. Any 32-bit id but 0 may be a
 * key; a key is set once and never removed. The caller bounds the number of keys.
 */
#ifndef JXPERF_PROFILE_INTAKE_AGENT_IDS_H
#define JXPERF_PROFILE_INTAKE_AGENT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/hash_index.h"

struct agent_id {
	uint32_t key;
	uint32_t value;
};

/* All zero is an empty map. */
struct agent_ids {
	struct agent_id *entries;
	size_t count;
	size_t capacity;
	struct hash_index index;
};

void agent_ids_release(struct agent_ids *m);

/* What it takes. */
size_t agent_ids_memory_bytes(const struct agent_ids *m);

/* Whether key is known; if so *value is set. */
bool agent_ids_get(const struct agent_ids *m, uint32_t key, uint32_t *value);

/* Adds a key that is not known yet. 0 or -ENOMEM. */
int agent_ids_add(struct agent_ids *m, uint32_t key, uint32_t value);

#endif
