#include "profile/container/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/siphash.h"

static uint64_t hash_key[2];

/* Before main, and so before threads of the pool read windows side by side. Without getrandom (it
 * cannot fail after boot, for 16 bytes) the clock is better than a constant. */
__attribute__((constructor)) static void draw_key(void)
{
	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) != (ssize_t)sizeof(hash_key))
		hash_key[0] ^= clock_monotonic_ns();
}

uint32_t hash_bytes(const void *bytes, size_t size)
{
	uint64_t digest = siphash(hash_key, bytes, size);

	return (uint32_t)(digest ^ digest >> 32);
}

struct hash_id_tables hash_id_tables; /* 24 KiB */
atomic_bool hash_id_tables_drawn;

/* SipHash of counters, with the process's key, gives as many random numbers as are needed. */
static void draw_id_tables(void)
{
	uint32_t *entry = &hash_id_tables.of_byte[0][0][0];

	for (uint32_t i = 0; i < sizeof(hash_id_tables) / sizeof(*entry); i++)
		entry[i] = hash_bytes(&i, sizeof(i));
	atomic_store_explicit(&hash_id_tables_drawn, true, memory_order_release);
}

void hash_draw_id_tables(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, draw_id_tables); /* Cannot fail. */
}
