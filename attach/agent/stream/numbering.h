/*
 * Numbers things in the order they are first seen: a map from 128-bit keys to 1, 2, 3, ...
 * Grows to ID_MAP_MAX; one thread.
 */
#ifndef JXPERF_AGENT_STREAM_NUMBERING_H
#define JXPERF_AGENT_STREAM_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The methods, or the instructions, that one window's samples have: thousands. */
#define ID_MAP_CAPACITY_MAX (1u << 15)
#define ID_MAP_MAX          (ID_MAP_CAPACITY_MAX / 4 * 3)
#define ID_MAP_ENTRY_BYTES  24u
#define ID_MAP_BYTES        (ID_MAP_CAPACITY_MAX * ID_MAP_ENTRY_BYTES)

struct id_key {
	uint64_t a, b; /* not both 0 */
};

struct id_map {
	struct id_entry *entries;
	size_t capacity;
	uint32_t count;
};

void id_map_init(struct id_map *map);
void id_map_release(struct id_map *map);

/* The key's number, with *added telling whether it is new; 0 when memory is short, or the key is
 * new and the map is full. */
uint32_t id_map_intern(struct id_map *map, struct id_key key, bool *added);

/* Has it given out all its numbers? */
bool id_map_is_full(const struct id_map *map);

#endif
