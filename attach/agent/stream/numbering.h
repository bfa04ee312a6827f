/*
 * Numbers things in the order they are first seen: a map from 128-bit keys to 1, 2, 3, ...
 * Grows to NUMBERING_MAX; one thread.
 */
#ifndef JXPERF_AGENT_STREAM_NUMBERING_H
#define JXPERF_AGENT_STREAM_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The methods, or the instructions, that one window's samples have: thousands. */
#define NUMBERING_CAPACITY_MAX (1u << 15)
#define NUMBERING_MAX          (NUMBERING_CAPACITY_MAX / 4 * 3)
#define NUMBERING_ENTRY_BYTES  24u
#define NUMBERING_BYTES        (NUMBERING_CAPACITY_MAX * NUMBERING_ENTRY_BYTES)

struct numbering_key {
	uint64_t a, b; /* not both 0 */
};

struct numbering {
	struct numbering_entry *entries;
	size_t capacity;
	uint32_t count;
};

void numbering_init(struct numbering *n);
void numbering_release(struct numbering *n);

/* The key's number, with *added telling whether it is new; 0 when memory is short, or the key is
 * new and all numbers are given out. */
uint32_t numbering_intern(struct numbering *n, struct numbering_key key, bool *added);

/* Has it given out all its numbers? */
bool numbering_is_full(const struct numbering *n);

#endif
