/* Where the instructions of a method begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/code/insn.h"
#include "tests/unit/support/agent/code.h"

/* mov [rbx], ecx (2); nop (1); mov rax, imm64 (10) whose bytes would decode as something else */
static const uint8_t pattern[] = {0x89, 0x0b, 0x90, 0x48, 0xb8, 0x89, 0x0b,
				  0x89, 0x0b, 0x89, 0x0b, 0x89, 0x0b};

#define LARGE_BYTES (sizeof(pattern) * 1000u)

/* A method much larger than what a handler decodes. */
static void place_large(const uint32_t *named, uint32_t count, struct code_blob *blob)
{
	for (unsigned i = 0; i < LARGE_BYTES; i++)
		code_area[i] = pattern[i % sizeof(pattern)];
	codemap_add_compiled((uintptr_t)code_area, LARGE_BYTES, 1, named, count);
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

static void a_short_method_needs_no_map(void **state)
{
	struct code_blob blob;

	(void)state;
	place_large(NULL, 0, &blob);
	assert_pattern_at(&blob, 50);
	assert_int_equal(boundaries_length(&blob, blob.start), 0);
	assert_int_equal(boundaries_length(&blob, blob.start + 50 * sizeof(pattern) + 7), 0);
}

static void the_far_end_of_a_long_one_is_known_with_its_map(void **state)
{
	uint64_t end;
	struct code_blob blob;

	(void)state;
	place_large(NULL, 0, &blob);
	end = blob.start + LARGE_BYTES;
	assert_int_equal(boundaries_length(&blob, end), 0); /* and asks */
	assert_false(boundaries_known(&blob));
	boundaries_make();
	assert_true(boundaries_known(&blob));
	for (unsigned i = 0; i < 1000; i++)
		assert_pattern_at(&blob, i);
	assert_int_equal(boundaries_length(&blob, end), 10);
	assert_int_equal(boundaries_length(&blob, end + 1), 0);
}

static void an_instruction_that_the_jvm_named_is_near_enough(void **state)
{
	static const uint32_t named[] = {900 * sizeof(pattern)};
	struct code_blob blob;

	(void)state;
	place_large(named, 1, &blob);
	assert_pattern_at(&blob, 910);
	assert_false(boundaries_known(&blob));
}

static void what_precedes_is_listed_nearest_first(void **state)
{
	struct code_blob blob;
	uint64_t starts[4];

	(void)state;
	place_large(NULL, 0, &blob);
	for (int again = 0; again < 2; again++) { /* decoded, then from the map */
		uint64_t at = blob.start + 20 * sizeof(pattern);

		assert_int_equal(boundaries_before(&blob, at, starts, 4), 4);
		assert_int_equal(starts[0], at - 10);
		assert_int_equal(starts[1], at - 11);
		assert_int_equal(starts[2], at - 13);
		assert_int_equal(starts[3], at - 23);
		assert_int_equal(boundaries_before(&blob, blob.start + 3, starts, 4), 2);
		assert_int_equal(starts[1], blob.start);
		boundaries_make();
	}
}

static void what_cannot_be_decoded_is_passed_over(void **state)
{
	/* jmp over what is left of the method's first instruction; then mov [rbx], ecx */
	static const uint8_t bytes[] = {0xe9, 1, 2, 3, 4, 0xfe, 0xff, 0x89, 0x0b, 0x90};
	static const uint32_t named[] = {7};
	uint64_t start = (uintptr_t)code_area;
	struct code_blob blob;

	(void)state;
	memcpy(code_area, bytes, sizeof(bytes));
	codemap_add_compiled(start, 10, 1, named, 1);
	assert_true(codemap_find(start, &blob));
	for (int again = 0; again < 2; again++) {
		assert_int_equal(boundaries_length(&blob, start + 9), 2);
		boundaries_make();
	}
}

static void code_in_the_place_of_other_code_has_its_own_map(void **state)
{
	struct code_blob blob;

	(void)state;
	place_large(NULL, 0, &blob);
	(void)boundaries_length(&blob, blob.start + 2);
	boundaries_make();
	codemap_remove(blob.start);
	memset(code_area, 0x90, LARGE_BYTES);
	codemap_add_compiled(blob.start, LARGE_BYTES, 1, NULL, 0);
	assert_true(codemap_find(blob.start, &blob));
	assert_false(boundaries_known(&blob));
	assert_int_equal(boundaries_length(&blob, blob.start + 2), 1);
	boundaries_make();
	assert_int_equal(boundaries_length(&blob, blob.start + 2), 1);
}

static void code_that_was_unloaded_gets_no_map(void **state)
{
	struct code_blob blob;

	(void)state;
	place_large(NULL, 0, &blob);
	(void)boundaries_length(&blob, blob.start + 2);
	codemap_remove(blob.start);
	boundaries_make();
	assert_false(boundaries_known(&blob));
}

static void methods_beyond_the_memory_of_maps_go_without(void **state)
{
	const size_t bytes = 5u << 20;
	uint8_t *area = mmap(NULL, 2 * bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code_blob first, second;
	uint64_t start = (uintptr_t)area;

	(void)state;
	assert_true(area != MAP_FAILED);
	if (codemap_init(start, start + 2 * bytes) < 0 || boundaries_init() < 0)
		fail();
	codemap_add_compiled(start, (uint32_t)bytes, 1, NULL, 0);
	codemap_add_compiled(start + bytes, (uint32_t)bytes, 2, NULL, 0);
	assert_true(codemap_find(start, &first));
	(void)boundaries_length(&first, start + bytes / 2);
	boundaries_make();
	assert_true(boundaries_known(&first));
	assert_true(codemap_find(start + bytes, &second));
	(void)boundaries_length(&second, start + bytes + bytes / 2);
	boundaries_make();
	assert_false(boundaries_known(&second));
	assert_int_equal(boundaries_length(&second, start + bytes + 4), 2); /* add [rax], al */
	(void)munmap(area, 2 * bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    /* First: the code map reserves as much as its first user needs. */
	    cmocka_unit_test(methods_beyond_the_memory_of_maps_go_without),
	    cmocka_unit_test_setup(a_short_method_needs_no_map, code_setup),
	    cmocka_unit_test_setup(the_far_end_of_a_long_one_is_known_with_its_map, code_setup),
	    cmocka_unit_test_setup(an_instruction_that_the_jvm_named_is_near_enough, code_setup),
	    cmocka_unit_test_setup(what_precedes_is_listed_nearest_first, code_setup),
	    cmocka_unit_test_setup(what_cannot_be_decoded_is_passed_over, code_setup),
	    cmocka_unit_test_setup(code_in_the_place_of_other_code_has_its_own_map, code_setup),
	    cmocka_unit_test_setup(code_that_was_unloaded_gets_no_map, code_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
