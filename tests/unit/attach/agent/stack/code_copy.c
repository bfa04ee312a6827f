/* A compiled method as it is copied: bytes, and where its calls lead. The debug information is
 * scopes' (scopes.c). */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/stack/code_copy.h"
#include "tests/unit/support/agent/code.h"

#define CALLER 0u
#define CALLEE 4096u
#define STUBS  8192u

static const struct frame_layout unknown; /* nothing of the JVM's own is */

/* A direct call to an offset of the area. */
static void put_call(uint8_t *code, uint32_t at, uint32_t target)
{
	int32_t distance = (int32_t)target - (int32_t)(CALLER + at + 5);

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

static uint64_t serial_at(uint64_t address)
{
	struct code_blob blob;

	assert_true(codemap_find(address, &blob));
	return blob.serial;
}

TEST(calls_are_told_by_where_they_lead, code_setup)
{
	static const struct copied_call expected[] = {
	    {1, CODE_TARGET_JAVA, CALLEE + 1}, {6, CODE_TARGET_STUB, 0},
	    {11, CODE_TARGET_NO_RETURN, 0},    {16, CODE_TARGET_JAVA, 0},
	    {21, CODE_TARGET_OTHER, 0},        {26, CODE_TARGET_OTHER, 0},
	    {28, CODE_TARGET_JAVA, 0},
	};
	uint8_t bytes[34] = {0x90};
	struct code_copy *copy;
	uint64_t start;

	put_call(bytes, 1, CALLEE);
	put_call(bytes, 6, STUBS);
	put_call(bytes, 11, STUBS + 64);
	put_call(bytes, 16, STUBS + 128);
	put_call(bytes, 21, STUBS + 4096); /* nobody's */
	bytes[26] = 0xff;                  /* call rax */
	bytes[27] = 0xd0;
	put_call(bytes, 28, CALLEE + 200); /* not its entry */
	bytes[33] = 0xc3;
	(void)code_place(CALLEE, "\x90\xc3", 2);
	add_compiled((uintptr_t)code_area + CALLEE, 256, CALLEE + 1, NULL, 0);
	add_stub((uintptr_t)code_area + STUBS, 16, CODE_STUB);
	add_stub((uintptr_t)code_area + STUBS + 64, 16, CODE_NO_RETURN);
	add_stub((uintptr_t)code_area + STUBS + 128, 16, CODE_TO_JAVA);
	start = code_place(CALLER, (const char *)bytes, sizeof(bytes));
	assert_int_equal(code_copy_take(&copy, &unknown, serial_at(start)), 0);
	assert_int_equal(copy->blob.start, start);
	assert_int_equal(copy->blob.size, sizeof(bytes));
	assert_memory_equal(copy->bytes, bytes, sizeof(bytes));
	assert_int_equal(copy->record_count, 0);
	assert_false(copy->cut);
	assert_int_equal(copy->call_count, sizeof(expected) / sizeof(expected[0]));
	for (unsigned i = 0; i < copy->call_count; i++) {
		assert_int_equal(copy->calls[i].offset, expected[i].offset);
		assert_int_equal(copy->calls[i].target, expected[i].target);
		assert_int_equal(copy->calls[i].method, expected[i].method);
	}
	free(copy);
}

TEST(what_is_gone_or_not_compiled_or_too_large_is_refused, code_setup)
{
	uint64_t start = CODE(CALLER, "\xc3"), serial = serial_at(start);
	struct code_copy *copy;

	add_compiled(start, 1, 7, NULL, 0); /* in its place */
	assert_int_equal(code_copy_take(&copy, &unknown, serial), -ENOENT);
	assert_null(copy);
	remove_code(start);
	add_stub(start, 1, CODE_STUB);
	assert_int_equal(code_copy_take(&copy, &unknown, serial_at(start)), -ENOENT);
	add_compiled(start, LIMIT_CODE_BYTES + 1, 7, NULL, 0);
	assert_int_equal(code_copy_take(&copy, &unknown, serial_at(start)), -E2BIG);
}

TEST(bytes_that_are_no_instructions_have_no_calls_behind_them, code_setup)
{
	/* 06 is none in 64-bit mode. */
	uint64_t start = CODE(CALLER, "\xe8\x00\x00\x00\x00\x06\xe8\x00\x00\x00\x00");
	struct code_copy *copy;

	assert_int_equal(code_copy_take(&copy, &unknown, serial_at(start)), 0);
	assert_int_equal(copy->call_count, 1);
	free(copy);
}

TEST(a_place_is_in_code_while_what_was_there_is, code_setup)
{
	uint64_t start = CODE(CALLER, "\x90\x8b\x06\xe8\x10\x00\x00\x00\x41\xff\xd2\x90");
	const uint8_t load[] = {0x8b, 0x06};
	uint32_t offset = 0;

	assert_int_equal(code_copy_place(codemap_place(start + 1, 0), load, 2, &offset),
			 serial_at(start));
	assert_int_equal(offset, 1);
	assert_int_equal(code_copy_place(codemap_place(start + 3, 0), load, 2, &offset), 0);
	/* What stubs did that are called there, whatever their instructions. */
	assert_int_equal(code_copy_place(codemap_place(0, start + 8), load, 2, &offset),
			 serial_at(start));
	assert_int_equal(offset, 7);
	assert_int_equal(code_copy_place(codemap_place(0, start + 11), load, 2, &offset),
			 serial_at(start));
	assert_int_equal(offset, 10);
	assert_int_equal(code_copy_place(codemap_place(0, start + 12), load, 2, &offset), 0);
	assert_int_equal(code_copy_place(0, load, 2, &offset), 0);
	assert_int_equal(offset, 10);
}
