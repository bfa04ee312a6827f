#include "attach/agent/place/klass.h"

#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "common/mix.h"

#define SLOTS      (2u * KLASS_MAX)
#define MAX_PROBES 64u

/* InstanceKlass and its kinds, arrays of objects and of others (klassKind.hpp), some of them twice:
 * the CDS archive has copies of the virtual tables. */
#define TABLES_MAX 32u

/* The layout helper and the mirror lie in so much of a Klass. */
#define HEAD_BYTES 256u

/* Instances and array classes are at least this aligned. */
#define KLASS_ALIGNMENT 8u

/* The values of BasicType, T_BOOLEAN to T_ARRAY (globalDefinitions.hpp). */
#define ELEMENT_TYPE_FIRST 4u
#define ELEMENT_TYPE_LAST  13u

struct klass_slot {
	_Atomic uint64_t address; /* 0: free */
	_Atomic uint32_t id;      /* 0 while it is being filled in */
};

/* Global because handlers are handed nothing. */
static struct klass_slot slots[SLOTS];
static _Atomic uint64_t addresses[KLASS_MAX + 1]; /* by id */
static _Atomic uint32_t count;
static _Atomic uint64_t tables[TABLES_MAX]; /* virtual tables of classes that were vouched for */

_Static_assert(sizeof(slots) <= KLASS_BYTES, "the slots of the table");

bool klass_is_array(int32_t layout_helper)
{
	return layout_helper < 0;
}

uint32_t klass_instance_bytes(int32_t layout_helper)
{
	return (uint32_t)layout_helper & ~7u; /* The lowest bit: allocated the slow way. */
}

uint32_t klass_array_header_bytes(int32_t layout_helper)
{
	return (uint32_t)layout_helper >> 16 & 0xff;
}

uint32_t klass_element_log2(int32_t layout_helper)
{
	return (uint32_t)layout_helper & 0x3f;
}

uint32_t klass_element_type(int32_t layout_helper)
{
	return (uint32_t)layout_helper >> 8 & 0xff;
}

static bool is_layout_helper(int32_t lh)
{
	if (!klass_is_array(lh))
		return klass_instance_bytes(lh) >= 8;
	return klass_element_log2(lh) <= 3 && klass_array_header_bytes(lh) >= 12 &&
	       klass_element_type(lh) >= ELEMENT_TYPE_FIRST &&
	       klass_element_type(lh) <= ELEMENT_TYPE_LAST;
}

/* Holds what was read of the beginning of a Klass. */
struct head {
	uint64_t table;
	uint64_t mirror_handle;
	uint64_t constants; /* of an instance class, or something else */
	int32_t layout_helper;
};

static bool read_head(const struct object_layout *layout, uint64_t address, struct head *out)
{
	uint64_t words[HEAD_BYTES / sizeof(uint64_t)];
	const char *bytes = (const char *)words;
	size_t end = layout->klass_constants > layout->klass_mirror ? layout->klass_constants
								    : layout->klass_mirror;

	if (address == 0 || address % KLASS_ALIGNMENT != 0 || end > HEAD_BYTES - sizeof(uint64_t) ||
	    layout->klass_layout > HEAD_BYTES - sizeof(int32_t))
		return false;
	/* An array class is shorter, and there is memory of other metadata behind it. */
	if (!safe_read(address, words, end + sizeof(uint64_t)))
		return false;
	out->table = words[0];
	memcpy(&out->mirror_handle, bytes + layout->klass_mirror, sizeof(out->mirror_handle));
	memcpy(&out->constants, bytes + layout->klass_constants, sizeof(out->constants));
	memcpy(&out->layout_helper, bytes + layout->klass_layout, sizeof(out->layout_helper));
	return is_layout_helper(out->layout_helper);
}

/* The address of the object that a handle of the JVM's refers to. False where it is not up to date:
 * that takes a load barrier. */
static bool handle_address(const struct object_layout *layout, uint64_t handle, uint64_t *address)
{
	uint64_t value;

	if (!safe_read(handle, &value, sizeof(value)))
		return false;
	if (layout->handle_bad) {
		if (value & *layout->handle_bad)
			return false;
		value >>= *layout->handle_shift & 63;
	}
	*address = value;
	return true;
}

/* From JDK 28 on arrays of references have classes of their own beside the one that their
 * java.lang.Class stands for; that one has the same java.lang.Class. */
static bool shares_mirror(const struct object_layout *layout, const struct region_map *regions,
			  uint64_t mirror, uint64_t other, const struct head *head)
{
	struct head named;
	uint64_t address;

	return klass_is_array(head->layout_helper) && read_head(layout, other, &named) &&
	       klass_is_array(named.layout_helper) &&
	       handle_address(layout, named.mirror_handle, &address) &&
	       region_canonical(regions, address) == mirror;
}

static bool mirror_agrees(const struct object_layout *layout, const struct region_map *regions,
			  uint64_t klass, const struct head *head)
{
	uint64_t mirror, back;

	if (!handle_address(layout, head->mirror_handle, &mirror))
		return false;
	mirror = region_canonical(regions, mirror);
	return region_is_heap(regions, mirror) &&
	       safe_read(mirror + layout->mirror_klass, &back, sizeof(back)) &&
	       (back == klass || shares_mirror(layout, regions, mirror, back, head));
}

/* The pool belongs to one class, and is not moved by collectors. */
static bool pool_agrees(const struct object_layout *layout, uint64_t klass, const struct head *head)
{
	uint64_t back;

	return layout->klass_constants && !klass_is_array(head->layout_helper) &&
	       safe_read(head->constants + layout->pool_holder, &back, sizeof(back)) &&
	       back == klass;
}

static bool table_is_known(uint64_t table)
{
	for (unsigned i = 0; i < TABLES_MAX; i++)
		if (atomic_load_explicit(&tables[i], memory_order_relaxed) == table)
			return true;
	return false;
}

/* When there is no room the class itself still counts. */
static void remember_table(uint64_t table)
{
	for (unsigned i = 0; i < TABLES_MAX; i++) {
		uint64_t expected = 0;

		if (atomic_compare_exchange_strong(&tables[i], &expected, table) ||
		    expected == table)
			return;
	}
}

static bool vouches(const struct object_layout *layout, const struct region_map *regions,
		    uint64_t address, const struct head *head)
{
	if (pool_agrees(layout, address, head) || mirror_agrees(layout, regions, address, head)) {
		remember_table(head->table);
		return true;
	}
	return layout->handle_bad && table_is_known(head->table);
}

bool klass_vouches(const struct object_layout *layout, const struct region_map *regions,
		   uint64_t address)
{
	struct head head;

	return read_head(layout, address, &head) && vouches(layout, regions, address, &head);
}

void klass_trust(const struct object_layout *layout, uint64_t address)
{
	struct head head;

	if (read_head(layout, address, &head))
		remember_table(head.table);
}

/* The slot that has the address, or the free one where it would be. NULL: neither is near. */
static struct klass_slot *slot_of(uint64_t address)
{
	uint64_t hash = mix_upper(address >> 3) >> 32;

	for (unsigned i = 0; i < MAX_PROBES; i++) {
		struct klass_slot *s = &slots[(hash + i) % SLOTS];
		uint64_t there = atomic_load_explicit(&s->address, memory_order_acquire);

		if (there == address || there == 0)
			return s;
	}
	return NULL;
}

/* The id of a class that has vouched for itself; 0: there is no room. Two threads may come with one
 * class at a time: whoever takes the slot numbers it, the other one finds it next time. */
static uint32_t insert(uint64_t address)
{
	struct klass_slot *s = slot_of(address);
	uint64_t expected = 0;
	uint32_t id;

	if (!s || atomic_load(&count) >= KLASS_MAX)
		return 0;
	if (!atomic_compare_exchange_strong(&s->address, &expected, address))
		return expected == address ? atomic_load(&s->id) : 0;
	id = atomic_fetch_add(&count, 1) + 1;
	if (id > KLASS_MAX)
		return 0; /* Its slot stays without a number. */
	atomic_store(&addresses[id], address);
	atomic_store_explicit(&s->id, id, memory_order_release);
	return id;
}

static uint32_t known_id(uint64_t address)
{
	struct klass_slot *s = slot_of(address);

	return s && atomic_load_explicit(&s->address, memory_order_acquire) == address
		   ? atomic_load_explicit(&s->id, memory_order_acquire)
		   : 0;
}

bool klass_is_met(uint64_t address)
{
	return address && known_id(address);
}

enum klass_found klass_find(const struct object_layout *layout, const struct region_map *regions,
			    uint64_t address, struct klass *out)
{
	uint32_t id = known_id(address);
	struct head head;

	if (!read_head(layout, address, &head) ||
	    (id == 0 && !vouches(layout, regions, address, &head)))
		return KLASS_NONE;
	if (id == 0)
		id = insert(address);
	*out = (struct klass){.id = id, .layout_helper = head.layout_helper};
	return id ? KLASS_FOUND : KLASS_FULL;
}

uint64_t klass_address(uint32_t id)
{
	return id && id <= KLASS_MAX ? atomic_load(&addresses[id]) : 0;
}

void klass_clear(void)
{
	memset(slots, 0, sizeof(slots));
	memset(addresses, 0, sizeof(addresses));
	atomic_store(&count, 0);
}
