#include "attach/agent/code/codemap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/reserved.h"

/* The largest ReservedCodeCacheSize HotSpot accepts is 2 GiB. */
#define CODE_CACHE_MAX (UINT64_C(2) << 30)

/* A part of the cache that has a list of its own: 4 KiB, larger in a cache of more than 512 MiB. */
#define PART_SHIFT_MIN 12u
#define PARTS_MAX      CODEMAP_PARTS_MAX

/* Blobs alive at a time, with numbers of 16 bits: a 240 MiB code cache holds some 40,000 nmethods.
 */
#define BLOBS_MAX CODEMAP_BLOBS_MAX

/* Blobs that start in one part: adapters and vtable stubs lie 64 bytes apart at the closest. */
#define LIST_MAX 256u

/* Offsets with debug information, of all methods of a window. Code that is unloaded does not give
 * its part back before the window ends. */
#define DEBUG_PCS_MAX CODEMAP_DEBUG_PCS_MAX

/* Of a slot's size_and_type, whose low byte it shares with the type. */
#define DENSE 0x80u

/* Written under the mutex; read by handlers field by field. */
struct slot {
	_Atomic uint64_t start; /* 0: free */
	_Atomic uint64_t method;
	_Atomic uint64_t serial;
	_Atomic uint64_t size_and_type;
	_Atomic uint32_t debug_first;
	_Atomic uint16_t debug_count;
	_Atomic uint16_t next; /* number of the next in the part's list, or of the free ones */
};

_Static_assert(sizeof(struct slot) == CODEMAP_BLOB_BYTES, "the sum of the agent's tables");

struct part {
	_Atomic uint16_t first;  /* number of a blob that starts in it: its list */
	_Atomic uint16_t covers; /* the blob that began earlier and reaches into it */
};

_Static_assert(sizeof(struct part) == CODEMAP_PART_BYTES, "the sum of the agent's tables");

/* Global because handlers and JVMTI's callbacks get nothing of ours. */
static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t low;
	_Atomic uint64_t high;
	_Atomic unsigned shift;
	struct part *parts;
	struct slot *slots; /* number 1 is the first */
	uint16_t *debug_pcs;
	uint32_t debug_pcs_used;
	uint64_t serials;
	uint32_t used;
	uint16_t free_list;
	_Atomic uint64_t dropped;
} map = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int reserve_tables(void)
{
	if (!map.slots)
		map.slots = reserve_memory(BLOBS_MAX * sizeof(*map.slots));
	if (!map.debug_pcs)
		map.debug_pcs = reserve_memory(DEBUG_PCS_MAX * sizeof(*map.debug_pcs));
	if (!map.parts)
		map.parts = reserve_memory(PARTS_MAX * sizeof(*map.parts));
	return map.slots && map.parts && map.debug_pcs ? 0 : -ENOMEM;
}

static unsigned part_shift(uint64_t cache_bytes)
{
	unsigned shift = PART_SHIFT_MIN;

	while ((cache_bytes - 1) >> shift >= PARTS_MAX)
		shift++;
	return shift;
}

int codemap_init(uint64_t low, uint64_t high)
{
	int r;

	if (low >= high || high - low > CODE_CACHE_MAX)
		return -ERANGE;
	codemap_clear();
	(void)pthread_mutex_lock(&map.lock);
	r = reserve_tables();
	if (r == 0) {
		atomic_store(&map.shift, part_shift(high - low));
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
	/* Zero again: every slot free, every list empty. */
	empty_memory(map.slots, BLOBS_MAX * sizeof(*map.slots));
	empty_memory(map.parts, PARTS_MAX * sizeof(*map.parts));
	empty_memory(map.debug_pcs, DEBUG_PCS_MAX * sizeof(*map.debug_pcs));
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

/* Handlers hold no lock: one that was stopped for long may find the map cleared, and low changed,
 * since it looked. The mapping itself stays and its size does not change. */
static struct part *find_part(uint64_t address)
{
	uint64_t low = atomic_load_explicit(&map.low, memory_order_relaxed);
	uint64_t i = (address - low) >> atomic_load_explicit(&map.shift, memory_order_relaxed);

	return i < PARTS_MAX ? &map.parts[i] : NULL;
}

static struct slot *slot_of(uint16_t number)
{
	return &map.slots[number - 1];
}

static uint16_t next_of(uint16_t number)
{
	return atomic_load_explicit(&slot_of(number)->next, memory_order_acquire);
}

static uint16_t slot_take(void)
{
	uint16_t number = map.free_list;

	if (number) {
		map.free_list = next_of(number);
		return number;
	}
	return map.used < BLOBS_MAX ? (uint16_t)++map.used : 0;
}

static void slot_release(uint16_t number)
{
	atomic_store_explicit(&slot_of(number)->start, 0, memory_order_release);
	atomic_store_explicit(&slot_of(number)->next, map.free_list, memory_order_release);
	map.free_list = number;
}

/* Says of the parts behind the first that number reaches into them, or not any more. */
static void set_covers(uint64_t start, uint64_t size, uint16_t number, bool keep_others)
{
	uint64_t end = start + size < map.high ? start + size : map.high;

	for (struct part *p = find_part(start) + 1; p <= find_part(end - 1); p++)
		if (!keep_others || !atomic_load_explicit(&p->covers, memory_order_relaxed))
			atomic_store_explicit(&p->covers, number, memory_order_release);
}

static void clear_covers(uint64_t start, uint64_t size, uint16_t number)
{
	uint64_t end = start + size < map.high ? start + size : map.high;

	for (struct part *p = find_part(start) + 1; p <= find_part(end - 1); p++)
		if (atomic_load_explicit(&p->covers, memory_order_relaxed) == number)
			atomic_store_explicit(&p->covers, 0, memory_order_release);
}

static uint64_t size_of(const struct slot *slot)
{
	return atomic_load_explicit(&slot->size_and_type, memory_order_acquire) >> 8;
}

/* Removes the blobs of a part that start in [from, to). */
static void remove_from_part(struct part *part, uint64_t from, uint64_t to)
{
	_Atomic uint16_t *link = &part->first;
	uint16_t number;

	while ((number = atomic_load_explicit(link, memory_order_relaxed))) {
		struct slot *slot = slot_of(number);
		uint64_t start = atomic_load_explicit(&slot->start, memory_order_relaxed);

		if (start < from || start >= to) {
			link = &slot->next;
			continue;
		}
		atomic_store_explicit(link, next_of(number), memory_order_release);
		clear_covers(start, size_of(slot), number);
		slot_release(number);
	}
}

static void remove_range(uint64_t from, uint64_t to)
{
	uint64_t end = to < map.high ? to : map.high;

	for (struct part *p = find_part(from); p <= find_part(end - 1); p++)
		remove_from_part(p, from, end);
}

static bool is_compiled(const struct slot *slot)
{
	unsigned type = (unsigned)atomic_load_explicit(&slot->size_and_type, memory_order_relaxed) &
			(DENSE - 1);

	return type == CODE_COMPILED;
}

/* Does a compiled method begin in [from, to)? */
static bool has_compiled(uint64_t from, uint64_t to)
{
	uint64_t end = to < map.high ? to : map.high;

	for (const struct part *p = find_part(from); p <= find_part(end - 1); p++) {
		for (uint16_t n = atomic_load(&p->first); n; n = next_of(n)) {
			uint64_t start =
			    atomic_load_explicit(&slot_of(n)->start, memory_order_relaxed);

			if (start >= from && start < end && is_compiled(slot_of(n)))
				return true;
		}
	}
	return false;
}

static bool ascends(const uint16_t *offsets, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (offsets[i - 1] > offsets[i])
			return false;
	return true;
}

static int compare_offsets(const void *a, const void *b)
{
	uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return (x > y) - (x < y);
}

/* Keeps a sorted copy for the slot. */
static void keep_debug_pcs(struct slot *slot, const uint32_t *pcs, uint32_t count)
{
	uint16_t *to = map.debug_pcs + map.debug_pcs_used;
	uint32_t kept = 0;

	if (count > DEBUG_PCS_MAX - map.debug_pcs_used)
		count = 0, atomic_fetch_add(&map.dropped, 1);
	for (uint32_t i = 0; i < count && kept < UINT16_MAX; i++)
		if (pcs[i] <= UINT16_MAX)
			to[kept++] = (uint16_t)pcs[i];
	if (kept < count) /* Code beyond the first 64 KiB of a method. */
		atomic_fetch_add(&map.dropped, 1);
	if (!ascends(to, kept))
		qsort(to, kept, sizeof(*to), compare_offsets);
	atomic_store_explicit(&slot->debug_first, map.debug_pcs_used, memory_order_release);
	atomic_store_explicit(&slot->debug_count, (uint16_t)kept, memory_order_release);
	map.debug_pcs_used += kept;
}

/* A slot for a blob that starts in the part; 0 when there is no room. */
static uint16_t take_for(const struct part *part)
{
	unsigned length = 0;

	for (uint16_t n = atomic_load(&part->first); n; n = next_of(n))
		length++;
	return length < LIST_MAX ? slot_take() : 0;
}

static void add_locked(uint64_t start, uint32_t size, unsigned type_and_dense, uint64_t method,
		       const uint32_t *debug_pcs, uint32_t debug_pc_count)
{
	enum code_type type = (enum code_type)(type_and_dense & ~DENSE);
	struct part *part = find_part(start);
	uint16_t number;
	struct slot *slot;

	/* The JVM reuses space of dead code without telling us of stubs that went away. Of a
	 * buffer we hear after the stubs in it. */
	remove_range(start, type == CODE_COMPILED ? start + size : start + 1);
	number = take_for(part);
	if (!number) {
		atomic_fetch_add(&map.dropped, 1);
		return;
	}
	slot = slot_of(number);
	/* Readers take the serial first and compare it last (codemap_find), so it is the first to
	 * change. */
	atomic_store_explicit(&slot->serial, ++map.serials, memory_order_release);
	atomic_store_explicit(&slot->method, method, memory_order_release);
	atomic_store_explicit(&slot->size_and_type, ((uint64_t)size << 8) | type_and_dense,
			      memory_order_release);
	keep_debug_pcs(slot, debug_pcs, debug_pc_count);
	atomic_store_explicit(&slot->next, atomic_load(&part->first), memory_order_release);
	atomic_store_explicit(&slot->start, start, memory_order_release);
	atomic_store_explicit(&part->first, number, memory_order_release);
	set_covers(start, size, number, type != CODE_COMPILED);
}

/* found: not told of, so that other code which is known by now stays. */
static void add(uint64_t start, uint32_t size, unsigned type_and_dense, uint64_t method,
		const uint32_t *debug_pcs, uint32_t debug_pc_count, bool found)
{
	(void)pthread_mutex_lock(&map.lock);
	if (size > 0 && codemap_covers(start) && !(found && has_compiled(start, start + size)))
		add_locked(start, size, type_and_dense, method, debug_pcs, debug_pc_count);
	(void)pthread_mutex_unlock(&map.lock);
}

void codemap_add_stub(uint64_t start, uint32_t size, enum code_type type)
{
	add(start, size, type, 0, NULL, 0, false);
}

void codemap_add_compiled(uint64_t start, uint32_t size, uint64_t method, const uint32_t *debug_pcs,
			  uint32_t debug_pc_count)
{
	add(start, size, CODE_COMPILED, method, debug_pcs, debug_pc_count, false);
}

void codemap_add_dense(uint64_t start, uint32_t size, uint64_t method, const uint32_t *debug_pcs,
		       uint32_t debug_pc_count)
{
	add(start, size, CODE_COMPILED | DENSE, method, debug_pcs, debug_pc_count, false);
}

void codemap_add_found(uint64_t start, uint32_t size, uint64_t method, bool dense,
		       const uint32_t *debug_pcs, uint32_t debug_pc_count)
{
	add(start, size, dense ? CODE_COMPILED | DENSE : CODE_COMPILED, method, debug_pcs,
	    debug_pc_count, true);
}

void codemap_remove(uint64_t start)
{
	(void)pthread_mutex_lock(&map.lock);
	if (codemap_covers(start))
		remove_range(start, start + 1);
	(void)pthread_mutex_unlock(&map.lock);
}

/* The number of the innermost blob that address lies in, or of one that has just been replaced. */
static uint16_t find_number(const struct part *part, uint64_t address)
{
	uint16_t number = atomic_load_explicit(&part->first, memory_order_acquire), found = 0;
	uint64_t nearest = 0;

	/* A slot that is released as we pass leads into another list: so the end is counted. */
	for (unsigned i = 0; number && i < LIST_MAX; i++, number = next_of(number)) {
		const struct slot *slot = slot_of(number);
		uint64_t start = atomic_load_explicit(&slot->start, memory_order_acquire);

		if (start > nearest && start <= address && address - start < size_of(slot)) {
			nearest = start;
			found = number;
		}
	}
	return found ? found : atomic_load_explicit(&part->covers, memory_order_acquire);
}

bool codemap_find(uint64_t address, struct code_blob *out)
{
	uint64_t start, size_and_type;
	uint32_t debug_first;
	const struct part *part;
	const struct slot *slot;
	uint16_t number;

	if (!codemap_covers(address) || !(part = find_part(address)) ||
	    !(number = find_number(part, address)))
		return false;
	slot = slot_of(number);
	/* The serial before everything else: the writer stores a new one when start is 0, and start
	 * when all is there. So who finds the serial unchanged behind the rest has read nothing
	 * newer, and who finds a new one with a start nothing older. */
	out->serial = atomic_load_explicit(&slot->serial, memory_order_acquire);
	start = atomic_load_explicit(&slot->start, memory_order_acquire);
	size_and_type = atomic_load_explicit(&slot->size_and_type, memory_order_acquire);
	out->start = start;
	out->size = (uint32_t)(size_and_type >> 8);
	out->type = (enum code_type)(size_and_type & (DENSE - 1));
	out->dense = size_and_type & DENSE;
	out->method = atomic_load_explicit(&slot->method, memory_order_acquire);
	debug_first = atomic_load_explicit(&slot->debug_first, memory_order_acquire);
	out->debug_pcs = map.debug_pcs + debug_first;
	out->debug_pc_count = atomic_load_explicit(&slot->debug_count, memory_order_acquire);
	/* Replaced under our eyes. */
	if (start == 0 || atomic_load_explicit(&slot->serial, memory_order_acquire) != out->serial)
		return false;
	return address >= start && address - start < out->size;
}

bool codemap_find_serial(uint64_t serial, struct code_blob *out)
{
	uint64_t start = 0;

	(void)pthread_mutex_lock(&map.lock);
	for (uint32_t i = 0; i < map.used && !start; i++)
		if (atomic_load_explicit(&map.slots[i].serial, memory_order_relaxed) == serial)
			start = atomic_load_explicit(&map.slots[i].start, memory_order_relaxed);
	(void)pthread_mutex_unlock(&map.lock);
	return start && codemap_find(start, out) && out->serial == serial;
}

bool codemap_find_method(uint64_t method, struct code_blob *out)
{
	uint64_t highest = 0;

	(void)pthread_mutex_lock(&map.lock);
	for (uint32_t i = 0; i < map.used; i++) {
		const struct slot *s = &map.slots[i];
		uint64_t begin = atomic_load_explicit(&s->start, memory_order_relaxed);

		if (begin > highest &&
		    atomic_load_explicit(&s->method, memory_order_relaxed) == method)
			highest = begin;
	}
	(void)pthread_mutex_unlock(&map.lock);
	return highest && codemap_find(highest, out) && out->start == highest &&
	       out->type == CODE_COMPILED;
}

uint32_t codemap_debug_pc_from(const struct code_blob *blob, uint64_t offset)
{
	uint32_t low = 0, high = blob->debug_pc_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (blob->debug_pcs[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t codemap_dropped(void)
{
	return atomic_load(&map.dropped);
}
