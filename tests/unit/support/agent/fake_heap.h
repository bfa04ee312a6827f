/* A heap, a class space and a frame as HotSpot has them, for tests of what reads objects. Classes
 * are at multiples of FAKE_KLASS_BYTES of the class space, objects where tests put them. */
#ifndef TESTS_UNIT_AGENT_FAKE_HEAP_H
#define TESTS_UNIT_AGENT_FAKE_HEAP_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/region.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/place/klass.h"
#include "attach/agent/place/object_layout.h"

#define FAKE_HEAP_BYTES  (1u << 20)
#define FAKE_KLASS_BYTES 1024u
#define FAKE_KLASSES     32u
#define FAKE_UNLOCKED    1u /* a mark word */

/* Layout helpers (klass.hpp). */
#define FAKE_INSTANCE(bytes) ((int32_t)(bytes))
#define FAKE_ARRAY(header, type, log2) \
	((int32_t)(0xc0000000u | (header) << 16 | (type) << 8 | (log2)))
#define FAKE_T_DOUBLE     7u
#define FAKE_T_LONG       11u
#define FAKE_MIRROR_BYTES 64u

/* The beginning of a Klass. */
struct fake_klass {
	uint64_t table;
	int32_t layout_helper;
	uint64_t mirror_handle;
	uint64_t name, super;
	uint64_t constants, fields;
	uint16_t field_count;
};

static uint8_t *fake_heap, *fake_class_space;
static uint64_t fake_handles[FAKE_KLASSES];
static unsigned fake_klass_count;
static struct object_layout fake_layout;
static struct region_map fake_regions;

static inline uint64_t fake_at(unsigned offset)
{
	return (uintptr_t)fake_heap + offset;
}

static inline struct fake_klass *fake_klass_of(uint64_t address)
{
	return (struct fake_klass *)(uintptr_t)address;
}

/* A cmocka setup: empty, with narrow classes and narrow pointers. */
static int fake_heap_setup(void **state)
{
	const int access = PROT_READ | PROT_WRITE, how = MAP_PRIVATE | MAP_ANONYMOUS;

	(void)state;
	if (!fake_heap) {
		fake_heap = mmap(NULL, FAKE_HEAP_BYTES, access, how, -1, 0);
		fake_class_space = mmap(NULL, FAKE_KLASSES * FAKE_KLASS_BYTES, access, how, -1, 0);
	}
	if (fake_heap == MAP_FAILED || fake_class_space == MAP_FAILED || safe_read_init() < 0)
		return -1;
	memset(fake_heap, 0, FAKE_HEAP_BYTES);
	memset(fake_class_space, 0, FAKE_KLASSES * FAKE_KLASS_BYTES);
	fake_klass_count = 0;
	klass_clear();
	fake_regions = (struct region_map){0};
	(void)region_add_heap(&fake_regions, fake_at(0), fake_at(FAKE_HEAP_BYTES));
	fake_layout = (struct object_layout){
	    .class_word = CLASS_WORD_NARROW,
	    .hash_shift = 8,
	    .oops = {.base = fake_at(0), .shift = 3, .used = true},
	    .classes = {.base = (uintptr_t)fake_class_space - FAKE_KLASS_BYTES, .used = true},
	    .array_length = 12,
	    .klass_layout = offsetof(struct fake_klass, layout_helper),
	    .klass_mirror = offsetof(struct fake_klass, mirror_handle),
	    .mirror_klass = 16,
	    .mirror_words = 24,
	};
	return 0;
}

/* A class whose mirror, at this offset of the heap, names it back. */
static inline uint64_t fake_klass_add(int32_t layout_helper, unsigned mirror)
{
	unsigned i = fake_klass_count++;
	uint64_t klass = (uintptr_t)fake_class_space + i * FAKE_KLASS_BYTES;
	uint32_t words = FAKE_MIRROR_BYTES / 8;

	fake_handles[i] = fake_at(mirror);
	*fake_klass_of(klass) = (struct fake_klass){.table = 0x1000,
						    .layout_helper = layout_helper,
						    .mirror_handle = (uintptr_t)&fake_handles[i]};
	memcpy(fake_heap + mirror + fake_layout.mirror_klass, &klass, sizeof(klass));
	memcpy(fake_heap + mirror + fake_layout.mirror_words, &words, sizeof(words));
	return klass;
}

/* What the header of an object of the class begins with, at this offset of the heap. */
static inline uint64_t fake_object_add(uint64_t klass, unsigned offset, uint64_t mark)
{
	uint64_t narrow = (klass - fake_layout.classes.base) >> fake_layout.classes.shift;

	switch (fake_layout.class_word) {
	case CLASS_WORD_NARROW:
		memcpy(fake_heap + offset + 8, &narrow, 4);
		break;
	case CLASS_WORD_COMPACT:
		mark |= narrow << fake_layout.compact_shift;
		break;
	default:
		memcpy(fake_heap + offset + 8, &klass, sizeof(klass));
	}
	memcpy(fake_heap + offset, &mark, sizeof(mark));
	return fake_at(offset);
}

static inline uint64_t fake_array_add(uint64_t klass, unsigned offset, int32_t length)
{
	uint64_t object = fake_object_add(klass, offset, FAKE_UNLOCKED);

	memcpy(fake_heap + offset + fake_layout.array_length, &length, sizeof(length));
	return object;
}

#endif
