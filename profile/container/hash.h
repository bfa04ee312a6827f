/*
 * Keyed hashing for tables whose keys come from a JVM.
 *
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF") with a key drawn once per
 * process: a target cannot choose names or ids that all fall into one bucket and so stall the
 * engine. Values differ between processes and must never be stored.
 */
#ifndef JXPERF_PROFILE_CONTAINER_HASH_H
#define JXPERF_PROFILE_CONTAINER_HASH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

uint32_t hash_bytes(const void *bytes, size_t size);

/*
 * The same for up to HASH_IDS_MAX ids of 32 bits in a row, at a sixth of the instructions: several
 * are hashed for every event that an agent sends. Simple tabulation: each byte has a table of
 * random numbers, drawn once per process, and the hash is the exclusive or of those its bytes
 * choose. With it a look-up in a table with linear probing takes O(1) expected for any ids that
 * were chosen without knowledge of the tables (Patrascu, Thorup, "The power of simple tabulation
 * hashing", J. ACM 59(3), 2012), of which an agent sees nothing. Not for strings: their tables
 * would be large. Agrees with hash_bytes in nothing.
 */
#define HASH_IDS_MAX 6

/* Private to hash_ids. */
struct hash_id_tables {
	uint32_t of_byte[HASH_IDS_MAX][sizeof(uint32_t)][256];
};
extern struct hash_id_tables hash_id_tables;
extern atomic_bool hash_id_tables_drawn;
void hash_draw_id_tables(void);

static inline uint32_t hash_ids(const void *ids, size_t count)
{
	const uint8_t *at = ids;
	uint32_t hash = 0, id;

	if (!atomic_load_explicit(&hash_id_tables_drawn, memory_order_acquire))
		hash_draw_id_tables();
	for (size_t i = 0; i < count; i++) {
		const uint32_t(*tables)[256] = hash_id_tables.of_byte[i];

		memcpy(&id, at + i * sizeof(id), sizeof(id));
		hash ^= tables[0][id & 0xff] ^ tables[1][id >> 8 & 0xff] ^
			tables[2][id >> 16 & 0xff] ^ tables[3][id >> 24];
	}
	return hash;
}

#endif
