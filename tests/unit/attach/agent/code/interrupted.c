/* Which access an interrupted thread was busy with, from the code around the interrupted place. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/interrupted.h"
#include "attach/agent/code/search.h"
#include "tests/unit/support/agent/code.h"

TEST(the_load_before_the_interrupted_place_is_the_one_that_waited, code_setup)
{
	/* mov rdx, [rax]; add rax, 1 */
	uint64_t ip = CODE(0, "\x48\x8b\x10\x48\x83\xc0\x01");
	struct insn in;

	assert_true(interrupted_access(ip + 3, &in));
	assert_int_equal(in.ip, ip);
}

TEST(behind_arithmetic_nothing_waited, code_setup)
{
	/* mov rdx, [rax]; add rax, 1; nop */
	uint64_t ip = CODE(0, "\x48\x8b\x10\x48\x83\xc0\x01\x90");
	struct insn in;

	assert_false(interrupted_access(ip + 7, &in));
}

TEST(at_the_target_of_a_jump_the_instruction_before_says_nothing, code_setup)
{
	/* mov rdx, [rax]; L: inc eax; jmp L */
	uint64_t ip = CODE(0, "\x48\x8b\x10\xff\xc0\xeb\xfc");
	struct insn in;

	assert_false(interrupted_access(ip + 3, &in));
}

TEST(at_the_target_of_a_long_conditional_jump_neither, code_setup)
{
	/* mov rdx, [rax]; L: inc eax; jz near L */
	uint64_t ip = CODE(0, "\x48\x8b\x10\xff\xc0\x0f\x84\xf8\xff\xff\xff");
	struct insn in;

	assert_false(interrupted_access(ip + 3, &in));
}

TEST(code_that_replaces_other_code_is_looked_at_anew, code_setup)
{
	uint64_t ip = CODE(0, "\x48\x8b\x10\x90"); /* mov rdx, [rax]; nop */
	struct insn in;

	assert_true(interrupted_access(ip + 3, &in));
	remove_code(ip);
	(void)CODE(0, "\x48\xff\xc0\x90"); /* inc rax; nop */
	assert_false(interrupted_access(ip + 3, &in));
}

TEST(the_operand_of_an_access_that_kept_its_registers_is_known, code_setup)
{
	uint64_t ip = CODE(0, "\x48\x8b\x10\x90"), address; /* mov rdx, [rax] */
	gregset_t regs = {[REG_RAX] = 0x1000};
	struct insn in;
	uint32_t size;
	bool store;

	assert_true(interrupted_access(ip + 3, &in));
	assert_true(interrupted_operand(&in, true, regs, &address, &size, &store));
	assert_int_equal(address, 0x1000);
	assert_int_equal(size, 8);
	assert_false(store);
}

TEST(the_operand_of_a_load_into_its_own_base_is_gone, code_setup)
{
	uint64_t ip = CODE(0, "\x48\x8b\x00\x90"), address; /* mov rax, [rax] */
	gregset_t regs = {[REG_RAX] = 0x1000};
	struct insn in;
	uint32_t size;
	bool store;

	assert_true(interrupted_access(ip + 3, &in));
	assert_false(interrupted_operand(&in, true, regs, &address, &size, &store));
}

TEST(a_string_store_is_at_its_destination, code_setup)
{
	uint64_t ip = CODE(0, "\xf3\x48\xab"), address; /* rep stosq */
	gregset_t regs = {[REG_RDI] = 0x2000, [REG_RCX] = 5};
	struct insn in;
	uint32_t size;
	bool store;

	assert_true(search_fetch(ip, &in));
	assert_true(interrupted_operand(&in, false, regs, &address, &size, &store));
	assert_int_equal(address, 0x2000);
	assert_int_equal(size, 8);
	assert_true(store);
}

TEST(the_next_access_is_seen_from_afar_while_its_registers_stay, code_setup)
{
	/* inc ecx; mov [rbx+8], ecx */
	uint64_t ip = CODE(0, "\xff\xc1\x89\x4b\x08"), stop;
	gregset_t regs = {[REG_RBX] = 0x3000};
	struct insn in;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_HERE);
	assert_int_equal(in.ip, ip + 2);
	assert_int_equal(insn_effective_address(&in, regs), 0x3008);
}

TEST(an_access_through_a_register_that_changes_is_waited_for, code_setup)
{
	/* inc rbx; mov [rbx+8], ecx */
	uint64_t ip = CODE(0, "\x48\xff\xc3\x89\x4b\x08"), stop;
	gregset_t regs = {[REG_RBX] = 0x3000};
	struct insn in;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, ip + 3);
}

TEST(an_access_behind_a_change_of_the_stack_is_waited_for, code_setup)
{
	/* add rsp, 16; mov [rbx+8], ecx */
	uint64_t ip = CODE(0, "\x48\x83\xc4\x10\x89\x4b\x08"), stop;
	gregset_t regs = {[REG_RBX] = 0x3000};
	struct insn in;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, ip + 4);
}
