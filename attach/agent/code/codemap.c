#include "attach/agent/code/codemap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/reserved.h"
#include "common/array.h"
#include "common/mix.h"

/* The largest ReservedCodeCacheSize HotSpot accepts is 2 GiB. */
#define CODE_CACHE_MAX (UINT64_C(2) << 30)

/* A part of the cache that has a list of its own: 4 KiB, larger in a cache of more than 512 MiB. */
#define PART_SHIFT_MIN 12u
#define PARTS_MAX      CODEMAP_PARTS_MAX

/* Blobs at a time, with numbers of 16 bits: a 240 MiB code cache holds some 40,000 nmethods. */
#define BLOBS_MAX CODEMAP_BLOBS_MAX

/* Blobs that start in one part: 64 bytes apart at the closest. */
#define LIST_MAX 256u

/* Offsets with debug information, of all methods of a window. Code that is unloaded does not give
 * its part back before the window ends. */
#define DEBUG_PCS_MAX CODEMAP_DEBUG_PCS_MAX

/* Bits of a slot's size_and_type, whose low byte they share with the type. */
#define DENSE   0x80u
#define NMETHOD 0x40u
#define TYPE    0x3fu

/* A blob that was met is noted in one of so many places. */
#define MET_PROBES 8u

/* Read by handlers field by field. */
struct codemap_slot {
	_Atomic uint64_t start; /* 0: free */
	_Atomic uint64_t method;
	_Atomic uint64_t serial;
	_Atomic uint64_t tie;
	_Atomic uint64_t size_and_type;
	_Atomic uint32_t debug_first;
	_Atomic uint16_t debug_count;
	_Atomic uint16_t next; /* number of the next in the part's list, or of the free ones */
};

_Static_assert(sizeof(struct codemap_slot) == CODEMAP_BLOB_BYTES, "the sum of the agent's tables");

struct codemap_part {
	_Atomic uint16_t first;  /* number of a blob that starts in it: its list */
	_Atomic uint16_t covers; /* the blob that began earlier and reaches into it */
};

_Static_assert(sizeof(struct codemap_part) == CODEMAP_PART_BYTES, "the sum of the agent's tables");

/* Global because handlers get nothing of ours. */
static struct {
	_Atomic(const struct code_layout *) heap;
	_Atomic uint64_t low;
	_Atomic uint64_t high;
	_Atomic unsigned shift;
	struct codemap_part *parts;
	struct codemap_slot *slots; /* number 1 is the first */
	uint16_t *debug_pcs;
	uint32_t debug_pcs_used;
	uint64_t serials;
	uint32_t used;
	uint16_t free_list;
	_Atomic uint64_t dropped;
	_Atomic uint64_t met[CODEMAP_MET_MAX]; /* blobs; 0: free */
	_Atomic bool news;                     /* one was noted */
} map;

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

int codemap_init(uint64_t low, uint64_t high, const struct code_layout *heap)
{
	int r;

	if (low >= high || high - low > CODE_CACHE_MAX)
		return -ERANGE;
	codemap_clear();
	r = reserve_tables();
	if (r < 0)
		return r;
	atomic_store(&map.heap, heap);
	atomic_store(&map.shift, part_shift(high - low));
	atomic_store(&map.low, low);
	atomic_store(&map.high, high);
	atomic_store(&map.dropped, 0);
	return 0;
}

void codemap_clear(void)
{
	atomic_store(&map.high, 0);
	atomic_store(&map.low, 0);
	/* Zero again: every slot free, every list empty. */
	empty_memory(map.slots, BLOBS_MAX * sizeof(*map.slots));
	empty_memory(map.parts, PARTS_MAX * sizeof(*map.parts));
	empty_memory(map.debug_pcs, DEBUG_PCS_MAX * sizeof(*map.debug_pcs));
	for (unsigned i = 0; i < CODEMAP_MET_MAX; i++)
		atomic_store_explicit(&map.met[i], 0, memory_order_relaxed);
	map.used = 0;
	map.free_list = 0;
	map.debug_pcs_used = 0;
}

bool codemap_covers(uint64_t address)
{
	return address >= atomic_load_explicit(&map.low, memory_order_relaxed) &&
	       address < atomic_load_explicit(&map.high, memory_order_relaxed);
}

_Static_assert(CODE_CACHE_MAX <= CODEMAP_CALLED, "offsets leave the bit free");

static uint32_t offset_of(uint64_t address)
{
	return codemap_covers(address) ? (uint32_t)(address - map.low) : 0;
}

uint32_t codemap_place(uint64_t ip, uint64_t called_behind)
{
	uint32_t call = called_behind ? offset_of(called_behind - 1) : 0;

	return call ? call | CODEMAP_CALLED : offset_of(ip);
}

uint64_t codemap_address(uint32_t offset)
{
	return map.low + offset;
}

/* Handlers hold no lock: one that was stopped for long may find the map cleared, and low changed,
 * since it looked. The mapping itself stays and its size does not change. */
static struct codemap_part *find_part(uint64_t address)
{
	uint64_t low = atomic_load_explicit(&map.low, memory_order_relaxed);
	uint64_t i = (address - low) >> atomic_load_explicit(&map.shift, memory_order_relaxed);

	return i < PARTS_MAX ? &map.parts[i] : NULL;
}

static struct codemap_slot *slot_of(uint16_t number)
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
static void set_covers(uint64_t start, uint64_t size, uint16_t number)
{
	uint64_t end = start + size < map.high ? start + size : map.high;

	for (struct codemap_part *p = find_part(start) + 1; p <= find_part(end - 1); p++)
		atomic_store_explicit(&p->covers, number, memory_order_release);
}

static void clear_covers(uint64_t start, uint64_t size, uint16_t number)
{
	uint64_t end = start + size < map.high ? start + size : map.high;

	for (struct codemap_part *p = find_part(start) + 1; p <= find_part(end - 1); p++)
		if (atomic_load_explicit(&p->covers, memory_order_relaxed) == number)
			atomic_store_explicit(&p->covers, 0, memory_order_release);
}

static uint64_t size_of(const struct codemap_slot *slot)
{
	return atomic_load_explicit(&slot->size_and_type, memory_order_acquire) >> 8;
}

/* Removes the blobs of a part that start in [from, to). */
static void remove_from_part(struct codemap_part *part, uint64_t from, uint64_t to)
{
	_Atomic uint16_t *link = &part->first;
	uint16_t number;

	while ((number = atomic_load_explicit(link, memory_order_relaxed))) {
		struct codemap_slot *slot = slot_of(number);
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

void codemap_remove(uint64_t from, uint64_t to)
{
	uint64_t end = to < map.high ? to : map.high;

	if (!codemap_covers(from))
		return;
	for (struct codemap_part *p = find_part(from); p <= find_part(end - 1); p++)
		remove_from_part(p, from, end);
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
static void keep_debug_pcs(struct codemap_slot *slot, const uint32_t *pcs, uint32_t count)
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
static uint16_t take_for(const struct codemap_part *part)
{
	unsigned length = 0;

	for (uint16_t n = atomic_load(&part->first); n; n = next_of(n))
		length++;
	return length < LIST_MAX ? slot_take() : 0;
}

/* The number of the blob that address lies in, or of one that has just been replaced. */
static uint16_t find_number(const struct codemap_part *part, uint64_t address)
{
	uint16_t number = atomic_load_explicit(&part->first, memory_order_acquire);

	/* A slot that is released as we pass leads into another list: so the end is counted. */
	for (unsigned i = 0; number && i < LIST_MAX; i++, number = next_of(number)) {
		const struct codemap_slot *slot = slot_of(number);
		uint64_t start = atomic_load_explicit(&slot->start, memory_order_acquire);

		if (start && start <= address && address - start < size_of(slot))
			return number;
	}
	return atomic_load_explicit(&part->covers, memory_order_acquire);
}

/* Whether the heap still has what the slot is of. */
static bool is_there(const struct codemap_slot *slot, uint64_t address)
{
	const struct code_layout *heap = atomic_load_explicit(&map.heap, memory_order_relaxed);
	bool nmethod = atomic_load_explicit(&slot->size_and_type, memory_order_relaxed) & NMETHOD;
	struct code_heap_blob found;

	return !heap || (code_heap_find(heap, address, &found) &&
			 code_heap_tie(heap, found.start, nmethod) ==
			     atomic_load_explicit(&slot->tie, memory_order_relaxed));
}

/* Nobody tells of code that went: its slots are taken back when none is left. */
static void remove_gone(void)
{
	for (uint32_t i = 0; i < map.used; i++) {
		uint64_t start = atomic_load_explicit(&map.slots[i].start, memory_order_relaxed);

		if (start && !is_there(&map.slots[i], start))
			codemap_remove(start, start + 1);
	}
}

static uint16_t take_slot_in(const struct codemap_part *part)
{
	uint16_t number = take_for(part);

	if (number)
		return number;
	remove_gone();
	return take_for(part);
}

/* One that reaches into [start, ...) from before begins in another part, or in the same. */
static void remove_before(uint64_t start)
{
	uint16_t number = find_number(find_part(start), start);
	uint64_t begin = number ? atomic_load(&slot_of(number)->start) : 0;

	if (begin && begin < start && start - begin < size_of(slot_of(number)))
		codemap_remove(begin, begin + 1);
}

void codemap_add(const struct code_blob *blob, uint64_t tie, const uint32_t *debug_pcs,
		 uint32_t debug_pc_count)
{
	unsigned type = blob->type | (blob->dense ? DENSE : 0) | (blob->nmethod ? NMETHOD : 0);
	struct codemap_part *part;
	uint16_t number;
	struct codemap_slot *slot;

	if (blob->size == 0 || !codemap_covers(blob->start))
		return;
	part = find_part(blob->start);
	remove_before(blob->start);
	codemap_remove(blob->start, blob->start + blob->size);
	number = take_slot_in(part);
	if (!number) {
		atomic_fetch_add(&map.dropped, 1);
		return;
	}
	slot = slot_of(number);
	/* Readers take the serial first and compare it last (codemap_find), so it is the first to
	 * change. */
	atomic_store_explicit(&slot->serial, ++map.serials, memory_order_release);
	atomic_store_explicit(&slot->method, blob->method, memory_order_release);
	atomic_store_explicit(&slot->tie, tie, memory_order_release);
	atomic_store_explicit(&slot->size_and_type, ((uint64_t)blob->size << 8) | type,
			      memory_order_release);
	keep_debug_pcs(slot, debug_pcs, debug_pc_count);
	atomic_store_explicit(&slot->next, atomic_load(&part->first), memory_order_release);
	atomic_store_explicit(&slot->start, blob->start, memory_order_release);
	atomic_store_explicit(&part->first, number, memory_order_release);
	set_covers(blob->start, blob->size, number);
}

/* Asks the heap, once, for a blob that lies in the cache and is not known. */
static void note_met(uint64_t address)
{
	const struct code_layout *heap = atomic_load_explicit(&map.heap, memory_order_relaxed);
	struct code_heap_blob found;
	uint64_t at;

	if (!heap || !code_heap_find(heap, address, &found))
		return;
	at = mix(found.start);
	for (unsigned i = 0; i < MET_PROBES; i++) {
		_Atomic uint64_t *place = &map.met[(at + i) % CODEMAP_MET_MAX];
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(place, &there, found.start)) {
			atomic_store(&map.news, true);
			return;
		}
		if (there == found.start)
			return;
	}
	atomic_fetch_add(&map.dropped, 1);
}

bool codemap_has_news(void)
{
	return atomic_load_explicit(&map.news, memory_order_relaxed) &&
	       atomic_exchange(&map.news, false);
}

unsigned codemap_take_met(uint64_t blobs[CODEMAP_MET_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < CODEMAP_MET_MAX; i++) {
		uint64_t blob = atomic_load_explicit(&map.met[i], memory_order_relaxed)
				    ? atomic_exchange(&map.met[i], 0)
				    : 0;

		if (blob)
			blobs[count++] = blob;
	}
	return count;
}

static bool look_up(uint64_t address, struct code_blob *out)
{
	uint64_t start, size_and_type;
	uint32_t debug_first;
	const struct codemap_part *part = find_part(address);
	const struct codemap_slot *slot;
	uint16_t number;
	bool there;

	if (!part || !(number = find_number(part, address)))
		return false;
	slot = slot_of(number);
	/* The serial before everything else: the writer stores a new one when start is 0, and start
	 * when all is there. So who finds the serial unchanged behind the rest has read nothing
	 * newer, and who finds a new one with a start nothing older. */
	out->serial = atomic_load_explicit(&slot->serial, memory_order_acquire);
	start = atomic_load_explicit(&slot->start, memory_order_acquire);
	size_and_type = atomic_load_explicit(&slot->size_and_type, memory_order_acquire);
	there = is_there(slot, address);
	out->start = start;
	out->size = (uint32_t)(size_and_type >> 8);
	out->type = (enum code_type)(size_and_type & TYPE);
	out->dense = size_and_type & DENSE;
	out->nmethod = size_and_type & NMETHOD;
	out->method = atomic_load_explicit(&slot->method, memory_order_acquire);
	debug_first = atomic_load_explicit(&slot->debug_first, memory_order_acquire);
	out->debug_pcs = map.debug_pcs + debug_first;
	out->debug_pc_count = atomic_load_explicit(&slot->debug_count, memory_order_acquire);
	/* Replaced under our eyes. */
	if (!there || start == 0 ||
	    atomic_load_explicit(&slot->serial, memory_order_acquire) != out->serial)
		return false;
	return address >= start && address - start < out->size;
}

bool codemap_find(uint64_t address, struct code_blob *out)
{
	if (!codemap_covers(address))
		return false;
	if (look_up(address, out))
		return true;
	note_met(address);
	return false;
}

bool codemap_has(uint64_t start)
{
	struct code_blob blob;

	return codemap_covers(start) && look_up(start, &blob) && blob.start == start;
}

bool codemap_find_serial(uint64_t serial, struct code_blob *out)
{
	for (uint32_t i = 0; i < map.used; i++) {
		const struct codemap_slot *s = &map.slots[i];
		uint64_t start = atomic_load_explicit(&s->start, memory_order_relaxed);

		if (start && atomic_load_explicit(&s->serial, memory_order_relaxed) == serial)
			return codemap_find(start, out);
	}
	return false;
}

bool codemap_find_method(uint64_t method, struct code_blob *out)
{
	uint64_t highest = 0;

	for (uint32_t i = 0; i < map.used; i++) {
		const struct codemap_slot *s = &map.slots[i];
		uint64_t begin = atomic_load_explicit(&s->start, memory_order_relaxed);

		if (begin > highest &&
		    atomic_load_explicit(&s->method, memory_order_relaxed) == method &&
		    is_there(s, begin))
			highest = begin;
	}
	return highest && codemap_find(highest, out) && out->type == CODE_COMPILED;
}

uint32_t codemap_debug_pc_from(const struct code_blob *blob, uint64_t offset)
{
	return (uint32_t)SEARCH_FIRST(i, blob->debug_pc_count, blob->debug_pcs[i] >= offset);
}

uint64_t codemap_dropped(void)
{
	return atomic_load(&map.dropped);
}
