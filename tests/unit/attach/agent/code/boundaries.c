/* Where the instructions of a method begin. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/boundaries.h"
#include "common/code/insn.h"
#include "tests/unit/support/agent/code.h"

/* mov [rbx], ecx (2); nop (1); mov rax, imm64 (10) whose bytes would decode as something else */
static const uint8_t pattern[] = {0x89, 0x0b, 0x90, 0x48, 0xb8, 0x89, 0x0b,
				  0x89, 0x0b, 0x89, 0x0b, 0x89, 0x0b};

#define REPETITIONS 1000u
#define LARGE_BYTES (sizeof(pattern) * REPETITIONS)

/* Without a jump in it: one block. */
static void place_large(const uint32_t *named, uint32_t count, struct code_blob *blob)
{
	for (unsigned i = 0; i < LARGE_BYTES; i++)
		code_area[i] = pattern[i % sizeof(pattern)];
	add_compiled((uintptr_t)code_area, LARGE_BYTES, 1, named, count);
	assert_true(codemap_find((uintptr_t)code_area, blob));
}

/* The boundaries of one repetition of the pattern. */
static void assert_pattern_at(const struct code_blob *blob, unsigned repetition)
{
	uint64_t start = blob->start + repetition * sizeof(pattern);

	assert_int_equal(boundaries_length(blob, start + 2), 2);
	assert_int_equal(boundaries_length(blob, start + 3), 1);
	assert_int_equal(boundaries_length(blob, start + 13), 10);
}

TEST(instructions_are_told_from_where_their_block_begins, code_setup)
{
	struct code_blob blob;

	place_large(NULL, 0, &blob);
	assert_pattern_at(&blob, 0);
	assert_pattern_at(&blob, 50);
	assert_pattern_at(&blob, BOUNDARIES_BLOCK_BYTES / sizeof(pattern) - 1);
	assert_int_equal(boundaries_length(&blob, blob.start), 0);
	assert_int_equal(boundaries_length(&blob, blob.start + 50 * sizeof(pattern) + 7), 0);
}

TEST(a_block_begins_behind_a_jump_however_long_the_method_is, code_setup)
{
	/* L: jmp L, over one of the long instructions */
	static const uint8_t jump[] = {0x89, 0x0b, 0x90, 0xeb, 0xfe, 0x90, 0x90,
				       0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
	unsigned last = (REPETITIONS - 20) * sizeof(pattern);
	struct code_blob blob;

	place_large(NULL, 0, &blob);
	memcpy(code_area + last, jump, sizeof(jump));
	assert_pattern_at(&blob, REPETITIONS - 10);
	assert_int_equal(boundaries_length(&blob, blob.start + last + 5), 2);
}

TEST(far_into_a_long_block_an_instruction_that_the_jvm_named_is_near_enough, code_setup)
{
	static const uint32_t named[] = {900 * sizeof(pattern)};
	struct code_blob blob;

	place_large(named, 1, &blob);
	assert_pattern_at(&blob, 910);
	assert_int_equal(boundaries_length(&blob, blob.start + 600 * sizeof(pattern)), 0);
}

TEST(what_precedes_is_listed_nearest_first, code_setup)
{
	struct code_blob blob;
	uint64_t starts[4], at;

	place_large(NULL, 0, &blob);
	at = blob.start + 20 * sizeof(pattern);
	assert_int_equal(boundaries_before(&blob, at, starts, 4), 4);
	assert_int_equal(starts[0], at - 10);
	assert_int_equal(starts[1], at - 11);
	assert_int_equal(starts[2], at - 13);
	assert_int_equal(starts[3], at - 23);
	assert_int_equal(boundaries_before(&blob, blob.start + 3, starts, 4), 2);
	assert_int_equal(starts[1], blob.start);
}

TEST(what_precedes_goes_on_in_the_blocks_before, code_setup)
{
	/* inc ecx; jnz +0; inc edx; jmp +0; mov [rbx], ecx; nop */
	uint64_t start = CODE(0, "\xff\xc1\x75\x00\xff\xc2\xeb\x00\x89\x0b\x90"), starts[8];
	static const unsigned expected[] = {10, 8, 6, 4, 2, 0};
	struct code_blob blob;

	assert_true(codemap_find(start, &blob));
	assert_int_equal(boundaries_before(&blob, start + 11, starts, 8), 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(starts[i] - start, expected[i]);
	assert_int_equal(boundaries_before(&blob, start + 11, starts, 3), 3);
}

TEST(what_cannot_be_decoded_is_passed_over, code_setup)
{
	/* jmp over what is left of the method's first instruction; then mov [rbx], ecx */
	static const uint8_t bytes[] = {0xe9, 1, 2, 3, 4, 0xfe, 0xff, 0x89, 0x0b, 0x90};
	static const uint32_t named[] = {7};
	uint64_t start = (uintptr_t)code_area;
	struct code_blob blob;

	memcpy(code_area, bytes, sizeof(bytes));
	add_compiled(start, 10, 1, named, 1);
	assert_true(codemap_find(start, &blob));
	assert_int_equal(boundaries_length(&blob, start + 9), 2);
}

TEST(code_in_the_place_of_other_code_has_its_own_boundaries, code_setup)
{
	struct code_blob blob;

	place_large(NULL, 0, &blob);
	assert_int_equal(boundaries_length(&blob, blob.start + 2), 2);
	remove_code(blob.start);
	memset(code_area, 0x90, LARGE_BYTES);
	add_compiled(blob.start, LARGE_BYTES, 1, NULL, 0);
	assert_true(codemap_find(blob.start, &blob));
	assert_int_equal(boundaries_length(&blob, blob.start + 2), 1);
}
