/* A class with fields as HotSpot lists them before and since JDK 21, in a fake heap. Included by
 * one file of a program. */
#ifndef TESTS_UNIT_AGENT_FAKE_FIELDS_H
#define TESTS_UNIT_AGENT_FAKE_FIELDS_H

#include "attach/agent/jvm/klass_fields.h"
#include "tests/unit/support/agent/fake_heap.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

#define FAKE_POOL_BYTES 72u

struct fake_symbol {
	uint32_t hash;
	uint16_t length;
	char body[64];
};

static struct fake_symbol fake_symbols[8];
static struct {
	uint8_t head[FAKE_POOL_BYTES];
	uint64_t entries[8];
} fake_pool;
static struct {
	int32_t length;
	uint8_t data[256];
} fake_bytes;
static struct {
	int32_t length;
	uint16_t data[64];
} fake_shorts;
static uint64_t fake_klass;

static void fake_name(unsigned i, const char *text)
{
	fake_symbols[i].length = (uint16_t)strlen(text);
	(void)strcpy(fake_symbols[i].body, text);
	fake_pool.entries[i] = (uintptr_t)&fake_symbols[i];
}

/* What all releases have alike; the fake_pool has "x" 1, "D" 2, "next" 3, "LNode;" 4, "count" 5,
 * "J" 6.
 */
static int fake_fields_setup(void **state)
{
	const int32_t pool_length = 7;

	if (fake_heap_setup(state) < 0)
		return -1;
	fake_vmstructs_reset();
	fake_field("Klass", "_name", offsetof(struct fake_klass, name));
	fake_field("Klass", "_super", offsetof(struct fake_klass, super));
	fake_field("InstanceKlass", "_constants", offsetof(struct fake_klass, constants));
	fake_field("ConstantPool", "_length", 60);
	fake_field("Symbol", "_length", offsetof(struct fake_symbol, length));
	fake_field("Symbol", "_body", offsetof(struct fake_symbol, body));
	fake_field("Array<u1>", "_data", 4);
	fake_field("Array<u2>", "_data", 4);
	fake_types[1] = (struct fake_type_row){.type = "ConstantPool", .size = FAKE_POOL_BYTES};
	memset(&fake_pool, 0, sizeof(fake_pool));
	memcpy(fake_pool.head + 60, &pool_length, sizeof(pool_length));
	fake_name(1, "x");
	fake_name(2, "D");
	fake_name(3, "next");
	fake_name(4, "LNode;");
	fake_name(5, "count");
	fake_name(6, "J");
	fake_name(7, "org/Point");
	fake_klass = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	fake_klass_of(fake_klass)->name = (uintptr_t)&fake_symbols[7];
	fake_klass_of(fake_klass)->constants = (uintptr_t)&fake_pool;
	return 0;
}

/* x at 16, next at 12, and static count at 112. */
static inline void fake_list_as_before_21(void)
{
	const uint16_t fields[] = {0, 1, 2, 0, 16 << 2 | 1, 0, 0, 3, 4, 0, 12 << 2 | 1, 0, 8, 5, 6,
				   0, 112 << 2 | 1, 0,
				   /* one that the JVM injects */
				   0, 99, 98, 0, 24 << 2 | 1, 0};

	fake_field("InstanceKlass", "_fields", offsetof(struct fake_klass, fields));
	fake_field("InstanceKlass", "_java_fields_count", offsetof(struct fake_klass, field_count));
	memcpy(fake_shorts.data, fields, sizeof(fields));
	fake_shorts.length = sizeof(fields) / sizeof(fields[0]);
	fake_klass_of(fake_klass)->fields = (uintptr_t)&fake_shorts;
	fake_klass_of(fake_klass)->field_count = 3;
	assert_true(klass_fields_init());
}

/* The same as numbers of one byte each, plus one; x has an initial value, next a signature of
 * generics. */
static inline void fake_list_as_since_21(void)
{
	static const uint8_t fields[] = {
	    4,   2,                 /* how many, and of the JVM's */
	    2,   3,  17,  1, 2, 10, /* x: flags 1, and one number more */
	    4,   5,  13,  1, 5, 11, /* next: flags 4, likewise */
	    6,   7,  113, 9, 1,     /* count, static */
	    100, 99, 25,  1, 3};    /* injected */

	fake_field("InstanceKlass", "_fieldinfo_stream", offsetof(struct fake_klass, fields));
	memcpy(fake_bytes.data, fields, sizeof(fields));
	fake_bytes.length = sizeof(fields);
	fake_klass_of(fake_klass)->fields = (uintptr_t)&fake_bytes;
	assert_true(klass_fields_init());
}

#endif
