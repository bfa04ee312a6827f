/* A libjvm.so's tables of its own structures, as a test needs them: vmStructs, types and integer
 * constants. vmstructs.c finds them by the names that HotSpot exports, in the test program itself
 * (the Makefile links it with -rdynamic). Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_FAKE_VMSTRUCTS_H
#define TESTS_UNIT_AGENT_FAKE_VMSTRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FAKE_ROWS 64

/* The layouts are the JVM's own (vmStructs.hpp); readers are told of them below. */
struct fake_struct_row {
	const char *type, *field, *type_string;
	int32_t is_static;
	uint64_t offset;
	void *address;
};
struct fake_type_row {
	const char *type, *superclass;
	int32_t flags[3];
	uint64_t size;
};
struct fake_int_row {
	const char *name;
	int32_t value;
};

static struct fake_struct_row fake_structs[FAKE_ROWS + 1];
static struct fake_type_row fake_types[FAKE_ROWS + 1];
static struct fake_int_row fake_ints[FAKE_ROWS + 1];

/* What the JVM exports. */
#define FAKE_EXPORT(type, name) \
	extern type name;       \
	type name
FAKE_EXPORT(struct fake_struct_row *, gHotSpotVMStructs) = fake_structs;
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryArrayStride) = sizeof(struct fake_struct_row);
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryTypeNameOffset) = offsetof(struct fake_struct_row, type);
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryFieldNameOffset) = offsetof(struct fake_struct_row,
								       field);
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryIsStaticOffset) = offsetof(struct fake_struct_row,
								      is_static);
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryOffsetOffset) = offsetof(struct fake_struct_row, offset);
FAKE_EXPORT(uint64_t, gHotSpotVMStructEntryAddressOffset) = offsetof(struct fake_struct_row,
								     address);
FAKE_EXPORT(struct fake_type_row *, gHotSpotVMTypes) = fake_types;
FAKE_EXPORT(uint64_t, gHotSpotVMTypeEntryArrayStride) = sizeof(struct fake_type_row);
FAKE_EXPORT(uint64_t, gHotSpotVMTypeEntryTypeNameOffset) = offsetof(struct fake_type_row, type);
FAKE_EXPORT(uint64_t, gHotSpotVMTypeEntrySizeOffset) = offsetof(struct fake_type_row, size);
FAKE_EXPORT(struct fake_int_row *, gHotSpotVMIntConstants) = fake_ints;
FAKE_EXPORT(uint64_t, gHotSpotVMIntConstantEntryArrayStride) = sizeof(struct fake_int_row);
FAKE_EXPORT(uint64_t, gHotSpotVMIntConstantEntryNameOffset) = offsetof(struct fake_int_row, name);
FAKE_EXPORT(uint64_t, gHotSpotVMIntConstantEntryValueOffset) = offsetof(struct fake_int_row, value);

/* A field at an offset of each instance. */
static inline void fake_field(const char *type, const char *field, uint64_t offset)
{
	struct fake_struct_row *row = fake_structs;

	while (row->type)
		row++;
	*row = (struct fake_struct_row){.type = type, .field = field, .offset = offset};
}

static inline void fake_static(const char *type, const char *field, void *address)
{
	struct fake_struct_row *row = fake_structs;

	while (row->type)
		row++;
	*row = (struct fake_struct_row){
	    .type = type, .field = field, .is_static = 1, .address = address};
}

static inline void fake_int(const char *name, int32_t value)
{
	struct fake_int_row *row = fake_ints;

	while (row->name)
		row++;
	*row = (struct fake_int_row){name, value};
}

/* VM flags, all of them pointers to their values. */
static struct {
	const char *name;
	void *address;
} fake_flags[FAKE_ROWS];
static void *fake_flags_at;
static uint64_t fake_flag_count;

static inline void fake_flag(const char *name, void *value)
{
	fake_flags[fake_flag_count].name = name;
	fake_flags[fake_flag_count++].address = value;
}

/* A JVM of which nothing is known but that it has flags. */
static inline void fake_vmstructs_reset(void)
{
	memset(fake_structs, 0, sizeof(fake_structs));
	memset(fake_types, 0, sizeof(fake_types));
	memset(fake_ints, 0, sizeof(fake_ints));
	memset(fake_flags, 0, sizeof(fake_flags));
	fake_flag_count = 0;
	fake_flags_at = fake_flags;
	fake_types[0] = (struct fake_type_row){.type = "JVMFlag", .size = sizeof(fake_flags[0])};
	fake_static("JVMFlag", "flags", &fake_flags_at);
	fake_static("JVMFlag", "numFlags", &fake_flag_count);
	fake_field("JVMFlag", "_name", 0);
	fake_field("JVMFlag", "_addr", sizeof(char *));
}

#endif
