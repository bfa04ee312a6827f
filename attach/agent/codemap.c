#include "attach/agent/codemap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SEGMENT_SHIFT 6u

/* The largest ReservedCodeCacheSize HotSpot accepts is 2 GiB. */
#define CODE_CACHE_MAX (UINT64_C(2) << 30)

/* Blobs alive at a time: a 240 MiB code cache holds some 40,000 nmethods. */
#define BLOBS_MAX (1u << 17)

/* Offsets with debug information, of all methods of a window: 2^21 x 4 bytes = 8 MiB when full.
 * Code that is unloaded does not give its part back before the window ends. */
#define DEBUG_PCS_MAX (1u << 21)

/* Written under the mutex; read by handlers field by field. */
struct slot {
	_Atomic uint64_t start; /* 0: free */
	_Atomic uint64_t method;
	_Atomic uint64_t serial;
	_Atomic uint64_t size_and_type;
	_Atomic uint64_t debug_pcs; /* index of the first << 32 | count */
	uint32_t next_free;         /* index + 1 */
};

static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t low;
	_Atomic uint64_t high;
	_Atomic uint32_t *index; /* of segments, values are slot number + 1 */
	size_t index_bytes;
	struct slot *slots;
	uint32_t *debug_pcs;
	uint32_t debug_pcs_used;
	uint64_t serials;
	uint32_t used;
	uint32_t free_list;
	_Atomic uint64_t dropped;
} map = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reserved once per process and kept: late readers and writers must find memory there. */
static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int reserve_tables(uint64_t cache_bytes)
{
	if (!map.slots)
		map.slots = reserve(BLOBS_MAX * sizeof(struct slot));
	if (!map.debug_pcs)
		map.debug_pcs = reserve(DEBUG_PCS_MAX * sizeof(uint32_t));
	if (!map.index) {
		map.index_bytes = (size_t)(cache_bytes >> SEGMENT_SHIFT) * sizeof(uint32_t);
		map.index = reserve(map.index_bytes);
	}
	return map.slots && map.index && map.debug_pcs ? 0 : -ENOMEM;
}

int codemap_init(uint64_t low, uint64_t high)
{
	int r;

	if (low >= high || high - low > CODE_CACHE_MAX)
		return -ERANGE;
	codemap_clear();
	(void)pthread_mutex_lock(&map.lock);
	r = reserve_tables(high - low);
	if (r == 0) {
		atomic_store(&map.low, low);
		atomic_store(&map.high, high);
		atomic_store(&map.dropped, 0);
	}
	(void)pthread_mutex_unlock(&map.lock);
	return r;
}

void codemap_clear(void)
{
	(void)pthread_mutex_lock(&map.lock);
	atomic_store(&map.high, 0);
	atomic_store(&map.low, 0);
	/* MADV_DONTNEED makes the pages zero again: every slot free, every segment unknown. It
	 * cannot fail for a private anonymous mapping. */
	if (map.slots)
		(void)madvise(map.slots, BLOBS_MAX * sizeof(struct slot), MADV_DONTNEED);
	if (map.index)
		(void)madvise(map.index, map.index_bytes, MADV_DONTNEED);
	if (map.debug_pcs)
		(void)madvise(map.debug_pcs, DEBUG_PCS_MAX * sizeof(uint32_t), MADV_DONTNEED);
	map.used = 0;
	map.free_list = 0;
	map.debug_pcs_used = 0;
	(void)pthread_mutex_unlock(&map.lock);
}

bool codemap_covers(uint64_t address)
{
	return address >= atomic_load_explicit(&map.low, memory_order_relaxed) &&
	       address < atomic_load_explicit(&map.high, memory_order_relaxed);
}

static _Atomic uint32_t *segment(uint64_t address)
{
	return &map.index[(address - atomic_load_explicit(&map.low, memory_order_relaxed)) >>
			  SEGMENT_SHIFT];
}

/* For handlers, which hold no lock: a handler that was stopped for long may find the map cleared,
 * and low changed, since it looked. The mapping itself stays and its size does not change. */
static _Atomic uint32_t *find_segment(uint64_t address)
{
	uint64_t low = atomic_load_explicit(&map.low, memory_order_relaxed);
	uint64_t i = (address - low) >> SEGMENT_SHIFT;

	return i < map.index_bytes / sizeof(uint32_t) ? &map.index[i] : NULL;
}

static uint32_t slot_take(void)
{
	uint32_t number = map.free_list;

	if (number) {
		map.free_list = map.slots[number - 1].next_free;
		return number;
	}
	return map.used < BLOBS_MAX ? ++map.used : 0;
}

static void slot_release(uint32_t number)
{
	atomic_store_explicit(&map.slots[number - 1].start, 0, memory_order_release);
	map.slots[number - 1].next_free = map.free_list;
	map.free_list = number;
}

static void index_fill(uint64_t start, uint64_t size, uint32_t number, bool keep_others)
{
	uint64_t high = atomic_load(&map.high);
	uint64_t end = start + size < high ? start + size : high;

	for (uint64_t a = start & ~((UINT64_C(1) << SEGMENT_SHIFT) - 1); a < end;
	     a += UINT64_C(1) << SEGMENT_SHIFT) {
		if (keep_others && atomic_load_explicit(segment(a), memory_order_relaxed))
			continue;
		atomic_store_explicit(segment(a), number, memory_order_release);
	}
}

/* Clears the index where it names number. */
static void index_erase(uint64_t start, uint64_t size, uint32_t number)
{
	uint64_t high = atomic_load(&map.high);
	uint64_t end = start + size < high ? start + size : high;

	for (uint64_t a = start & ~((UINT64_C(1) << SEGMENT_SHIFT) - 1); a < end;
	     a += UINT64_C(1) << SEGMENT_SHIFT)
		if (atomic_load_explicit(segment(a), memory_order_relaxed) == number)
			atomic_store_explicit(segment(a), 0, memory_order_release);
}

static void remove_locked(uint64_t start)
{
	uint32_t number = codemap_covers(start) ? atomic_load(segment(start)) : 0;
	struct slot *slot;

	if (!number)
		return;
	slot = &map.slots[number - 1];
	if (atomic_load(&slot->start) != start)
		return;
	index_erase(start, atomic_load(&slot->size_and_type) >> 8, number);
	slot_release(number);
}

static int compare_offsets(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Stores a sorted copy; returns what a slot keeps of it. */
static uint64_t keep_debug_pcs(const uint32_t *pcs, uint32_t count)
{
	uint32_t first = map.debug_pcs_used;

	if (count == 0)
		return 0;
	if (count > DEBUG_PCS_MAX - first) {
		atomic_fetch_add(&map.dropped, 1);
		return 0;
	}
	memcpy(map.debug_pcs + first, pcs, count * sizeof(*pcs));
	qsort(map.debug_pcs + first, count, sizeof(*pcs), compare_offsets);
	map.debug_pcs_used += count;
	return (uint64_t)first << 32 | count;
}

static void add(uint64_t start, uint32_t size, enum code_type type, uint64_t method,
		const uint32_t *debug_pcs, uint32_t debug_pc_count)
{
	struct slot *slot;
	uint32_t number;

	(void)pthread_mutex_lock(&map.lock);
	if (codemap_covers(start)) {
		/* The JVM reuses space of dead code without telling us of stubs that went away. */
		remove_locked(start);
		number = slot_take();
		if (number) {
			slot = &map.slots[number - 1];
			atomic_store_explicit(&slot->method, method, memory_order_relaxed);
			atomic_store_explicit(&slot->serial, ++map.serials, memory_order_relaxed);
			atomic_store_explicit(&slot->size_and_type,
					      ((uint64_t)size << 8) | (uint64_t)type,
					      memory_order_relaxed);
			atomic_store_explicit(&slot->debug_pcs,
					      keep_debug_pcs(debug_pcs, debug_pc_count),
					      memory_order_relaxed);
			atomic_store_explicit(&slot->start, start, memory_order_release);
			/* Events for an enclosing buffer come after those for the stubs in it. */
			index_fill(start, size, number, type != CODE_COMPILED);
		} else {
			atomic_fetch_add(&map.dropped, 1);
		}
	}
	(void)pthread_mutex_unlock(&map.lock);
}

void codemap_add_stub(uint64_t start, uint32_t size, enum code_type type)
{
	add(start, size, type, 0, NULL, 0);
}

void codemap_add_compiled(uint64_t start, uint32_t size, uint64_t method, const uint32_t *debug_pcs,
			  uint32_t debug_pc_count)
{
	add(start, size, CODE_COMPILED, method, debug_pcs, debug_pc_count);
}

void codemap_remove(uint64_t start)
{
	(void)pthread_mutex_lock(&map.lock);
	remove_locked(start);
	(void)pthread_mutex_unlock(&map.lock);
}

bool codemap_find(uint64_t address, struct code_blob *out)
{
	uint32_t number;
	uint64_t start, size_and_type, debug_pcs;
	_Atomic uint32_t *entry;
	struct slot *slot;

	if (!codemap_covers(address) || !(entry = find_segment(address)))
		return false;
	number = atomic_load_explicit(entry, memory_order_acquire);
	if (!number)
		return false;
	slot = &map.slots[number - 1];
	start = atomic_load_explicit(&slot->start, memory_order_acquire);
	size_and_type = atomic_load_explicit(&slot->size_and_type, memory_order_relaxed);
	out->start = start;
	out->size = (uint32_t)(size_and_type >> 8);
	out->type = (enum code_type)(size_and_type & 0xff);
	out->method = atomic_load_explicit(&slot->method, memory_order_relaxed);
	out->serial = atomic_load_explicit(&slot->serial, memory_order_relaxed);
	debug_pcs = atomic_load_explicit(&slot->debug_pcs, memory_order_relaxed);
	out->debug_pcs = map.debug_pcs + (debug_pcs >> 32);
	out->debug_pc_count = (uint32_t)debug_pcs;
	/* Replaced under our eyes: the slot was released, or its segment renamed. */
	if (start == 0 || atomic_load_explicit(entry, memory_order_acquire) != number ||
	    atomic_load_explicit(&slot->start, memory_order_acquire) != start)
		return false;
	return address >= start && address - start < out->size;
}

uint64_t codemap_dropped(void)
{
	return atomic_load(&map.dropped);
}
