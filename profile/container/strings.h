/*
 * Interned strings of one profile: each text once, named by a small integer that fits into the
 * nodes and pairs that use it. 0 is the empty string. Everything stored is fit to
 * show (utf8_name, which keeps names apart) and cut at LIMIT_STRING_BYTES; the sum of all texts is
 * bounded by STRINGS_MAX_BYTES.
 */
#ifndef JXPERF_PROFILE_CONTAINER_STRINGS_H
#define JXPERF_PROFILE_CONTAINER_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/hash_index.h"

/* A profile names at most some ten thousand methods of a hundred bytes; this is far above. */
#define STRINGS_MAX_BYTES (32u << 20)

/* All zero is an empty table. */
struct strings {
	char *bytes; /* texts one after another, each with its NUL */
	size_t used;
	size_t capacity;
	struct hash_index index;
};

void strings_release(struct strings *s);

/* The texts of from: none can be added to them. 0 or -ENOMEM; to can be released even then. */
int strings_copy(struct strings *to, const struct strings *from);

/* Heap bytes held. */
size_t strings_memory_bytes(const struct strings *s);

/* 0 with *id set, -ENOSPC when the table is full, or -ENOMEM. */
int strings_intern(struct strings *s, const char *text, uint32_t *id);

/* Valid until the next strings_intern. id must come from strings_intern, or be 0. */
const char *strings_get(const struct strings *s, uint32_t id);

/* Is that the id of a text there, from wherever? */
bool strings_has(const struct strings *s, uint32_t id);

#endif
