#include "attach/agent/code/boundaries.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/codemap.h"
#include "common/code/insn.h"
#include "attach/agent/code/reserved.h"

#define MAPS_MAX   BOUNDARIES_MAPS_MAX
#define MAX_PROBES 16u

#define POOL_WORDS BOUNDARIES_POOL_WORDS
#define WORD_BITS  64u

/* Requests of handlers: one that finds its cell taken asks again at the next trap. */
#define REQUESTS 64u

/* Written by the session thread only. */
struct map {
	_Atomic uint64_t serial; /* 0: free */
	uint32_t first_word;     /* in the pool */
	uint32_t bytes;          /* of code that was decoded */
};

_Static_assert(sizeof(struct map) == BOUNDARIES_MAP_BYTES, "the sum of the agent's tables");

/* Global because handlers get nothing of ours. */
static struct {
	struct map *maps;
	_Atomic uint64_t *pool;
	uint32_t pool_used;
	_Atomic uint64_t requests[REQUESTS]; /* starts of methods */
} all;

int boundaries_init(void)
{
	if (!all.maps)
		all.maps = reserve_memory(MAPS_MAX * sizeof(*all.maps));
	if (!all.pool)
		all.pool = reserve_memory(POOL_WORDS * sizeof(*all.pool));
	if (!all.maps || !all.pool)
		return -ENOMEM;
	boundaries_clear();
	return 0;
}

void boundaries_clear(void)
{
	/* Zero again: every map free, no bit set. */
	empty_memory(all.maps, MAPS_MAX * sizeof(*all.maps));
	empty_memory((void *)all.pool, POOL_WORDS * sizeof(*all.pool));
	all.pool_used = 0;
	for (unsigned i = 0; i < REQUESTS; i++)
		atomic_store(&all.requests[i], 0);
}

/* The map of a serial, or the free place for it; NULL when its neighbourhood is full. */
static struct map *find_map(uint64_t serial)
{
	for (unsigned i = 0; i < MAX_PROBES && all.maps; i++) {
		struct map *m = &all.maps[(serial + i) % MAPS_MAX];
		uint64_t s = atomic_load_explicit(&m->serial, memory_order_acquire);

		if (s == serial || s == 0)
			return m;
	}
	return NULL;
}

static const struct map *map_of(const struct code_blob *blob)
{
	const struct map *m = find_map(blob->serial);

	return m && atomic_load_explicit(&m->serial, memory_order_relaxed) ? m : NULL;
}

bool boundaries_known(const struct code_blob *blob)
{
	return map_of(blob) != NULL;
}

static void ask(uint64_t start)
{
	_Atomic uint64_t *cell = &all.requests[(start >> 6) % REQUESTS];
	uint64_t free_cell = 0;

	(void)atomic_compare_exchange_strong(cell, &free_cell, start);
}

/* ---------------------------------------------------------------- making maps */

/* The instruction behind the one at offset. What cannot be decoded (the JVM overwrites the first
 * bytes of a method it has given up) is passed over up to an instruction that the JVM has named. */
static uint64_t next_offset(const struct code_blob *blob, uint64_t offset)
{
	unsigned length = insn_length((const uint8_t *)(uintptr_t)(blob->start + offset),
				      (size_t)(blob->size - offset));
	uint32_t i;
	uint64_t named;

	if (length)
		return offset + length;
	i = codemap_debug_pc_from(blob, offset + 1);
	named = i < blob->debug_pc_count ? blob->debug_pcs[i] : blob->size;
	/* A handler that outlives its window may find the list cleared under its eyes. */
	return named > offset ? named : blob->size;
}

static void set_bits(const struct code_blob *blob, uint32_t first_word)
{
	for (uint64_t o = 0; o < blob->size; o = next_offset(blob, o)) {
		_Atomic uint64_t *word = &all.pool[first_word + o / WORD_BITS];
		uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

		atomic_store_explicit(word, old | UINT64_C(1) << (o % WORD_BITS),
				      memory_order_relaxed);
	}
}

static void make_map(uint64_t start)
{
	struct code_blob blob, after;
	struct map *m;
	uint32_t words;

	if (!codemap_find(start, &blob) || blob.start != start)
		return; /* Unloaded meanwhile. */
	m = find_map(blob.serial);
	words = (blob.size + WORD_BITS - 1) / WORD_BITS;
	if (!m || atomic_load(&m->serial) || words > POOL_WORDS - all.pool_used)
		return;
	set_bits(&blob, all.pool_used);
	m->first_word = all.pool_used;
	m->bytes = blob.size;
	all.pool_used += words;
	/* The code may have been replaced while it was decoded: then nobody gets the map. */
	if (codemap_find(start, &after) && after.serial == blob.serial)
		atomic_store_explicit(&m->serial, blob.serial, memory_order_release);
}

void boundaries_make(void)
{
	for (unsigned i = 0; i < REQUESTS; i++) {
		uint64_t start = atomic_exchange(&all.requests[i], 0);

		if (start)
			make_map(start);
	}
}

/* ---------------------------------------------------------------- looking them up */

/* From a map: nearest first. */
static size_t mapped_before(const struct map *m, uint64_t offset, uint64_t *offsets, size_t max)
{
	size_t count = 0;

	if (offset > m->bytes)
		return 0;
	for (uint64_t o = offset; o > 0 && count < max;) {
		uint64_t below = o - 1; /* the highest offset of interest */
		uint64_t word = atomic_load_explicit(&all.pool[m->first_word + below / WORD_BITS],
						     memory_order_relaxed);

		word <<= WORD_BITS - 1 - below % WORD_BITS;
		if (!word) {
			o = below - below % WORD_BITS;
			continue;
		}
		o = below - (unsigned)__builtin_clzll(word);
		offsets[count++] = o;
	}
	return count;
}

/* Where decoding of what lies before offset may begin: the method's start, or an instruction that
 * the JVM has named; the furthest in reach. False when there is none. */
static bool anchor(const struct code_blob *blob, uint64_t offset, uint64_t *from)
{
	uint32_t i;

	*from = 0;
	if (offset <= BOUNDARIES_STEP_BYTES)
		return true;
	i = codemap_debug_pc_from(blob, offset - BOUNDARIES_STEP_BYTES);
	if (i == blob->debug_pc_count)
		return false;
	*from = blob->debug_pcs[i];
	return *from < offset && offset - *from <= BOUNDARIES_STEP_BYTES;
}

/* By decoding: a ring of the latest max offsets, turned round at the end. */
static size_t decoded_before(const struct code_blob *blob, uint64_t offset, uint64_t *offsets,
			     size_t max)
{
	uint64_t ring[BOUNDARIES_BEFORE_MAX];
	uint64_t count = 0, o;
	size_t kept;

	if (!anchor(blob, offset, &o))
		return 0;
	for (; o < offset; o = next_offset(blob, o))
		ring[count++ % BOUNDARIES_BEFORE_MAX] = o;
	if (o != offset)
		return 0;
	kept = count < max ? (size_t)count : max;
	for (size_t i = 0; i < kept; i++)
		offsets[i] = ring[(count - 1 - i) % BOUNDARIES_BEFORE_MAX];
	return kept;
}

size_t boundaries_before(const struct code_blob *blob, uint64_t ip, uint64_t *starts, size_t max)
{
	const struct map *m = map_of(blob);
	uint64_t offset = ip - blob->start;
	size_t count;

	if (ip < blob->start || offset > blob->size || max > BOUNDARIES_BEFORE_MAX)
		return 0;
	if (m) {
		count = mapped_before(m, offset, starts, max);
	} else {
		ask(blob->start);
		count = decoded_before(blob, offset, starts, max);
	}
	for (size_t i = 0; i < count; i++)
		starts[i] += blob->start;
	return count;
}

unsigned boundaries_length(const struct code_blob *blob, uint64_t after)
{
	uint64_t start;

	if (boundaries_before(blob, after, &start, 1) == 0)
		return 0;
	return after - start <= INSN_MAX_BYTES ? (unsigned)(after - start) : 0;
}
