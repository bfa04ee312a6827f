/*
 * An open-addressing index from keys to the positions of entries that live elsewhere.
 *
 * It stores only (hash, position); whether an entry matches is asked of the caller, so that keys
 * are kept once, in the entry itself. Nothing is ever removed. Positions are below 2^32 - 1. The
 * caller bounds the number of entries.
 */
#ifndef JXPERF_PROFILE_CONTAINER_HASH_INDEX_H
#define JXPERF_PROFILE_CONTAINER_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t position_plus_one; /* 0: free */
};

/* All zero is an empty index. */
struct hash_index {
	struct hash_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t used;
};

/* Whether the entry at position has the key. */
typedef bool hash_index_match(const void *table, uint32_t position, const void *key);

void hash_index_release(struct hash_index *index);

/* 0 or -ENOMEM, with an empty index in to. */
int hash_index_copy(struct hash_index *to, const struct hash_index *from);

/* Whether there is such an entry; if so *position is set. */
bool hash_index_find(const struct hash_index *index, uint32_t hash, hash_index_match *match,
		     const void *table, const void *key, uint32_t *position);

/* Adds an entry that hash_index_find does not find. 0 or -ENOMEM. */
int hash_index_insert(struct hash_index *index, uint32_t hash, uint32_t position);

#endif
