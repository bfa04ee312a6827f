/* The store barrier of generational ZGC, and what only looks like it; stores between those of G1.
 */
#include "tests/unit/support/test.h"

#include "attach/agent/code/barrier.h"
#include "attach/agent/code/search.h"
#include "tests/unit/support/agent/code.h"

/* test dword ptr [rbp+0x10], imm32; jne +0x7f */
#define TEST_DWORD "\xf7\x45\x10\x90\xff\x00\x00\x75\x7f"
/* mov r11, rax; shl r11, 13; or r11, imm32 */
#define COLOUR "\x49\x89\xc3\x49\xc1\xe3\x0d\x49\x81\xcb\x70\x80\x00\x00"
/* mov [rbp+0x10], r11 */
#define STORE "\x4c\x89\x5d\x10"

static int set_up(void **state)
{
	barrier_init(true);
	return code_setup(state);
}

static bool is_barrier(uint64_t ip)
{
	struct insn in;

	assert_true(insn_decode((const uint8_t *)(uintptr_t)ip, INSN_MAX_BYTES, ip, &in));
	return barrier_tests_store(&in);
}

TEST(a_test_before_the_store_of_a_reference_is_the_barrier_s, set_up)
{
	assert_true(is_barrier(CODE(0, TEST_DWORD COLOUR STORE)));
	/* cmp word ptr [rbp+0x10], imm16; jne; ...; lock cmpxchg [rbp+0x10], r11 */
	assert_true(is_barrier(
	    CODE(64, "\x66\x81\x7d\x10\x70\x80\x75\x7f" COLOUR "\xf0\x4c\x0f\xb1\x5d\x10")));
}

TEST(a_test_of_another_field_is_the_program_s, set_up)
{
	/* mov [rbp+0x18], r11 */
	assert_false(is_barrier(CODE(0, TEST_DWORD COLOUR "\x4c\x89\x5d\x18\xc3")));
}

TEST(a_store_of_the_tested_part_alone_is_the_program_s, set_up)
{
	/* mov [rbp+0x10], r11d */
	assert_false(is_barrier(CODE(0, TEST_DWORD COLOUR "\x44\x89\x5d\x10\xc3")));
}

TEST(a_base_that_changes_in_between_ends_the_look, set_up)
{
	/* mov rbp, rcx */
	assert_false(is_barrier(CODE(0, TEST_DWORD "\x48\x89\xcd" STORE "\xc3")));
	/* ret */
	assert_false(is_barrier(CODE(64, TEST_DWORD "\xc3" STORE)));
}

TEST(the_search_passes_over_it_where_there_are_such_barriers, set_up)
{
	uint64_t ip = CODE(0, TEST_DWORD COLOUR STORE);
	struct insn in;

	barrier_init(false);
	assert_true(search_fetch(ip, &in));
	assert_true(search_is_access(&in, ACCESS_LOAD));
	barrier_init(true);
	assert_true(search_fetch(ip, &in));
	assert_false(search_is_access(&in, ACCESS_LOAD));
	assert_false(in.memory.loads);
}

static bool is_to_field(uint64_t ip)
{
	struct insn in;

	assert_true(insn_decode((const uint8_t *)(uintptr_t)ip, INSN_MAX_BYTES, ip, &in));
	return barrier_stores_to_field(&in);
}

TEST(a_reference_stored_by_a_pointer_to_its_field_is_to_an_object_that_is_made, set_up)
{
	/* mov [r9], r11d */
	assert_true(is_to_field(CODE(0, "\x45\x89\x19\xc3")));
	/* mov [r9], r10; mov r11, r9; xor r11, r10; shr r11, 20 */
	assert_true(
	    is_to_field(CODE(64, "\x4d\x89\x11\x4d\x89\xcb\x4d\x31\xd3\x49\xc1\xeb\x14\xc3")));
	/* mov r11d, [r9] */
	assert_false(is_to_field(CODE(128, "\x45\x8b\x19\xc3")));
}

/* Those that make a header or clear what follows it. */
TEST(a_store_to_a_new_object_is_none, set_up)
{
	/* mov qword ptr [rax], 1 */
	assert_false(is_to_field(CODE(0, "\x48\xc7\x00\x01\x00\x00\x00\xc3")));
	/* mov dword ptr [rax+0x0c], r12d */
	assert_false(is_to_field(CODE(64, "\x44\x89\x60\x0c\xc3")));
	/* mov [rdi], rax; add rdi, 8; jmp -9 */
	assert_false(is_to_field(CODE(128, "\x48\x89\x07\x48\x83\xc7\x08\xeb\xf7")));
	/* mov [rdi+rcx*4], eax */
	assert_false(is_to_field(CODE(192, "\x89\x04\x8f\xc3")));
}
