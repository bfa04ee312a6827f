/*
 * A table from numbers that a file chose to numbers of ours: open addressing, a seed that the file
 * cannot know, and a limit.
 */
#ifndef JXPERF_SUBSUME_IMPORT_IDS_H
#define JXPERF_SUBSUME_IMPORT_IDS_H

#include <stddef.h>
#include <stdint.h>

/* Entries of one table: 64 MiB. */
#define IDS_MAX (UINT32_C(1) << 21)

struct ids_slot {
	uint64_t key;
	uint64_t value; /* 0: the slot is empty */
};

/* All zero is an empty table. */
struct ids {
	struct ids_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

/* Keeps value, which is not 0, for key. 0, -EEXIST when there is one already, which stays, -ENOSPC
 * beyond IDS_MAX, -ENOMEM. */
int ids_put(struct ids *ids, uint64_t key, uint64_t value);

/* 0 when there is none. */
uint64_t ids_get(const struct ids *ids, uint64_t key);

/* Empties it. It keeps its memory while that is not much for what was in it. */
void ids_clear(struct ids *ids);
void ids_release(struct ids *ids);

#endif
