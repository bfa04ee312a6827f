/* Which instruction made a watchpoint trap. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/trap.h"
#include "tests/unit/support/agent/code.h"

static bool decode(const gregset_t regs, uint64_t watched, unsigned length, struct trap_access *out)
{
	ucontext_t uc = {0};

	memcpy(uc.uc_mcontext.gregs, regs, sizeof(gregset_t));
	return trap_decode(&uc, watched, length, out);
}

TEST(the_instruction_before_is_found_from_the_method_start, code_setup)
{
	/* mov [rbx], ecx behind a prefix that backward decoding could take for part of it */
	uint64_t start = CODE(0, "\x48\x63\x54\xbb\x10\x89\x0b\x90");
	gregset_t regs = {[REG_RIP] = (greg_t)start + 7, [REG_RBX] = 0x5000};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 4, &a));
	assert_int_equal(a.insn.ip, start + 5);
	assert_true(a.writes && !a.reads);
	assert_int_equal(a.extent.address, 0x5000);
	assert_int_equal(a.extent.size, 4);
}

TEST(an_overwritten_operand_is_told_by_the_value_it_left, code_setup)
{
	static uint64_t watched[2] __attribute__((aligned(16))) = {0x1111111122222222, 3};
	uint64_t start = CODE(0, "\x48\x8b\x00\x90"); /* mov rax, [rax] */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 3, [REG_RAX] = (greg_t)watched[0]};
	struct trap_access a;

	assert_true(decode(regs, (uintptr_t)watched, 8, &a));
	assert_true(a.reads && !a.writes);
	assert_int_equal(a.extent.address, (uintptr_t)watched);
	assert_int_equal(a.extent.size, 8);
	assert_true(decode(regs, (uintptr_t)watched + 4, 4, &a)); /* a part of it */
	assert_int_equal(a.extent.address, (uintptr_t)watched);
	regs[REG_RAX] = 7;
	assert_false(decode(regs, (uintptr_t)watched, 8, &a));
}

TEST(an_overwritten_operand_that_leaves_a_choice_explains_nothing, code_setup)
{
	static uint32_t watched[2] __attribute__((aligned(8))) = {5, 6};
	uint64_t start = CODE(0, "\x8b\x00\x90"); /* mov eax, [rax] */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 2, [REG_RAX] = 6};
	struct trap_access a;

	assert_true(decode(regs, (uintptr_t)watched, 8, &a));
	assert_int_equal(a.extent.address, (uintptr_t)&watched[1]);
	watched[0] = 6;
	assert_false(decode(regs, (uintptr_t)watched, 8, &a));
	watched[0] = 5;
}

TEST(an_overwritten_operand_of_arithmetic_explains_nothing, code_setup)
{
	static uint64_t watched = 5;
	uint64_t start = CODE(0, "\x48\x03\x00\x90"); /* add rax, [rax] */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 3, [REG_RAX] = 5};
	struct trap_access a;

	assert_false(decode(regs, (uintptr_t)&watched, 8, &a));
}

TEST(an_access_elsewhere_does_not_explain_the_trap, code_setup)
{
	uint64_t start = CODE(0, "\x89\x0b\x90"); /* mov [rbx], ecx */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 2, [REG_RBX] = 0x9000, [REG_RSP] = 0x100000};
	struct trap_access a;

	assert_false(decode(regs, 0x5000, 4, &a));
}

TEST(a_read_modify_write_is_both, code_setup)
{
	uint64_t start = CODE(0, "\x01\x0b\x90"); /* add [rbx], ecx */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 2, [REG_RBX] = 0x5000};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 4, &a));
	assert_true(a.reads && a.writes);
}

TEST(a_swap_that_failed_is_a_load, code_setup)
{
	uint64_t start = CODE(0, "\xf0\x0f\xb1\x0b\x90"); /* lock cmpxchg [rbx], ecx */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 4, [REG_RBX] = 0x5000};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 4, &a));
	assert_true(a.reads && !a.writes);
	regs[REG_EFL] = INSN_FLAG_ZERO;
	assert_true(decode(regs, 0x5000, 4, &a));
	assert_true(a.reads && a.writes);
}

TEST(a_wide_swap_is_one_too, code_setup)
{
	uint64_t start = CODE(0, "\xf0\x48\x0f\xc7\x0b\x90"); /* lock cmpxchg16b [rbx] */
	gregset_t regs = {[REG_RIP] = (greg_t)start + 5, [REG_RBX] = 0x5000};
	struct trap_access a;

	assert_true(decode(regs, 0x5008, 8, &a));
	assert_true(a.reads && !a.writes);
	assert_int_equal(a.extent.size, 16);
}

TEST(of_a_string_operation_the_element_that_trapped_is_told, code_setup)
{
	uint64_t start = CODE(0, "\xf3\xaa\x90"); /* rep stosb */
	gregset_t regs = {[REG_RIP] = (greg_t)start, [REG_RDI] = 0x5001, [REG_RCX] = 7};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 8, &a));
	assert_int_equal(a.extent.address, 0x5000);
	assert_int_equal(a.extent.size, 1);
	regs[REG_RDI] = 0x4fff; /* downwards, behind 0x5000 */
	regs[REG_EFL] = 0x400;
	assert_true(decode(regs, 0x5000, 8, &a));
	assert_int_equal(a.extent.address, 0x5000);
}

TEST(a_run_of_string_elements_explains_no_part_of_them, code_setup)
{
	uint64_t bytes = CODE(0, "\xf3\xaa\x90");      /* rep stosb */
	uint64_t words = CODE(64, "\xf3\x48\xab\x90"); /* rep stosq */
	gregset_t regs = {[REG_RIP] = (greg_t)bytes, [REG_RDI] = 0x5020, [REG_RCX] = 7};
	struct trap_access a;

	/* The run may have begun in the middle of the watched bytes. */
	assert_false(decode(regs, 0x5000, 8, &a));
	regs[REG_RIP] = (greg_t)words;
	assert_true(decode(regs, 0x5000, 8, &a));
	assert_int_equal(a.extent.address, 0x5000);
	assert_int_equal(a.extent.size, 8);
}

TEST(a_repeated_store_traps_on_itself, code_setup)
{
	uint64_t start = CODE(0, "\xf3\x48\xab\x90"); /* rep stosq */
	gregset_t regs = {[REG_RIP] = (greg_t)start, [REG_RDI] = 0x5008, [REG_RCX] = 7};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 8, &a));
	assert_int_equal(a.insn.ip, start);
	assert_true(a.writes && !a.reads);
}

TEST(the_last_iteration_of_a_repeated_store_is_behind_it, code_setup)
{
	uint64_t start = CODE(0, "\xf3\x48\xab\x90");
	gregset_t regs = {[REG_RIP] = (greg_t)start + 3, [REG_RDI] = 0x5008, [REG_RCX] = 0};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 8, &a));
	assert_int_equal(a.insn.ip, start);
	assert_true(a.writes);
}

TEST(a_repeated_move_loads_one_side_and_stores_the_other, code_setup)
{
	uint64_t start = CODE(0, "\xf3\xa4\x90"); /* rep movsb */
	gregset_t regs = {
	    [REG_RIP] = (greg_t)start, [REG_RSI] = 0x5001, [REG_RDI] = 0x8001, [REG_RCX] = 3};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 1, &a));
	assert_true(a.reads && !a.writes);
	assert_true(decode(regs, 0x8000, 1, &a));
	assert_true(a.writes && !a.reads);
}

TEST(a_call_stored_its_return_address, code_setup)
{
	uint64_t callee = CODE(1024, "\x90\x90");
	gregset_t regs = {[REG_RIP] = (greg_t)callee, [REG_RSP] = 0x7000};
	struct trap_access a;

	assert_true(decode(regs, 0x7000, 8, &a));
	assert_true(a.writes && !a.reads);
}

TEST(a_return_loaded_it, code_setup)
{
	uint64_t caller = CODE(1024, "\x90\x90");
	gregset_t regs = {[REG_RIP] = (greg_t)caller, [REG_RSP] = 0x7008};
	struct trap_access a;

	assert_true(decode(regs, 0x7000, 8, &a));
	assert_true(a.reads && !a.writes);
}

TEST(native_code_is_decoded_backward_and_checked, code_setup)
{
	/* Not in the code map: mov [rbx], ecx; the byte before would make it another instruction.
	 */
	static const uint8_t native[] = {0x90, 0x90, 0x90, 0x89, 0x0b, 0x90};
	gregset_t regs = {
	    [REG_RIP] = (greg_t)(uintptr_t)native + 5, [REG_RBX] = 0x5000, [REG_RSP] = 0x100000};
	struct trap_access a;

	assert_true(decode(regs, 0x5000, 4, &a));
	assert_int_equal(a.insn.ip, (uintptr_t)native + 3);
	regs[REG_RBX] = 0x9000;
	assert_false(decode(regs, 0x5000, 4, &a));
}

TEST(unreadable_code_explains_nothing, code_setup)
{
	gregset_t regs = {[REG_RIP] = 0x10, [REG_RSP] = 0x100000};
	struct trap_access a;

	assert_false(decode(regs, 0x5000, 4, &a));
}
