#include "daemon/container/hash.h"

#include <stdbool.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/siphash.h"

static uint64_t hash_key[2];
static bool hash_keyed;

/* Without getrandom (it cannot fail after boot, for 16 bytes) the clock is better than a constant.
 */
static void draw_key(void)
{
	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) != (ssize_t)sizeof(hash_key))
		hash_key[0] ^= clock_monotonic_ns();
	hash_keyed = true;
}

uint32_t hash_bytes(const void *bytes, size_t size)
{
	uint64_t digest;

	if (!hash_keyed)
		draw_key();
	digest = siphash(hash_key, bytes, size);
	return (uint32_t)(digest ^ digest >> 32);
}
