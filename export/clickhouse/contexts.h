/*
 * Calling contexts by what they are: a hash of all frames from the root (class, method, file,
 * bytecode, line, tier), the same on every host. It is SHA-256 cut to 128 bits, chained from parent
 * to child, so that no JVM can make up a context that passes for another one's.
 *
 * And which of them a destination has had today: each is sent once a host and day, as far as the
 * memory goes. What is sent again does no harm.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_CONTEXTS_H
#define JXPERF_EXPORT_CLICKHOUSE_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/clickhouse/types.h"
#include "profile/profile.h"

struct house_hash {
	uint8_t bytes[HOUSE_HASH_BYTES];
};

/* Of a window: by node, that of 0 being zeros; and which were written into a row. */
struct house_hashes {
	struct house_hash *of;
	bool *used;
};

/* 0 or -ENOMEM. */
int house_hashes_init(struct house_hashes *h, const struct profile *p);
void house_hashes_release(struct house_hashes *h);

/* A context of a day since 1970. */
struct house_known {
	struct house_hash context;
	uint16_t day;
};

/* Remembers this many at most, in 36 bytes each; when there are more it
 * forgets all. */
#define HOUSE_MEMORY_MAX (1u << 16)

struct house_memory;

struct house_memory *house_memory_new(void);
void house_memory_free(struct house_memory *m);
bool house_memory_has(const struct house_memory *m, const struct house_known *known);
void house_memory_add(struct house_memory *m, const struct house_known *known);

#endif
