/* The next access of either type: followed, waited for, or given up, never guessed. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/search.h"
#include "tests/unit/support/agent/code.h"

#define ZF 0x40

static const gregset_t zero;
static struct insn in;

static void assert_here(uint64_t ip, const gregset_t regs, uint64_t access)
{
	uint64_t stop;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_HERE);
	assert_int_equal(in.ip, access);
}

static void assert_break(uint64_t ip, const gregset_t regs, uint64_t expected)
{
	uint64_t stop;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, expected);
}

static void assert_failed(uint64_t ip, const gregset_t regs)
{
	uint64_t stop;

	assert_int_equal(search_access(ip, regs, &in, &stop), SEARCH_FAILED);
}

TEST(the_access_at_the_start_is_found_here, code_setup)
{
	uint64_t ip = CODE(0, "\x8b\x03"); /* mov eax, [rbx] */

	assert_here(ip, zero, ip);
}

TEST(an_access_whose_operand_does_not_change_is_found_at_once, code_setup)
{
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc1\x89\x03"); /* inc eax; inc ecx; mov [rbx], eax */

	assert_here(ip, zero, ip + 4);
}

TEST(an_access_whose_operand_changes_is_waited_for, code_setup)
{
	uint64_t ip = CODE(0, "\xff\xc3\x8b\x03"); /* inc ebx; mov eax, [rbx] */

	assert_break(ip, zero, ip + 2);
}

TEST(an_access_on_another_stack_is_waited_for, code_setup)
{
	uint64_t ip = CODE(0, "\x55\x8b\x03"); /* push rbp; mov eax, [rbx] */

	assert_break(ip, zero, ip + 1);
}

TEST(a_branch_with_known_flags_is_followed, code_setup)
{
	/* jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x74\x02\x89\x0b\x89\x0e");
	gregset_t taken = {[REG_EFL] = ZF};

	assert_here(ip, taken, ip + 4);
	assert_here(ip, zero, ip + 2);
}

TEST(a_branch_whose_flags_are_not_known_yet_is_waited_for, code_setup)
{
	/* test eax, eax; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x85\xc0\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};

	assert_break(ip, regs, ip + 2);
}

TEST(flags_survive_instructions_that_do_not_write_them, code_setup)
{
	/* mov eax, ecx; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x89\xc8\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};

	assert_here(ip, regs, ip + 6);
}

TEST(direct_calls_are_entered_and_the_access_waited_for, code_setup)
{
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00"); /* call +0x400 from the start */
	uint64_t callee = CODE(1024, "\x8b\x03\xc3");

	assert_break(ip, zero, callee);
}

TEST(a_return_reads_its_target_from_the_stack, code_setup)
{
	uint64_t ip = CODE(0, "\xc3");
	uint64_t caller = CODE(1024, "\x8b\x03");
	uint64_t stack[1] = {caller};
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)stack};

	assert_break(ip, regs, caller);
}

TEST(an_indirect_jump_needs_its_register_unchanged, code_setup)
{
	uint64_t fresh = CODE(0, "\xff\xe0");          /* jmp rax */
	uint64_t stale = CODE(64, "\x31\xc0\xff\xe0"); /* xor eax, eax; jmp rax */
	uint64_t target = CODE(1024, "\x8b\x03");
	gregset_t regs = {[REG_RAX] = (greg_t)target};

	assert_break(fresh, regs, target);
	assert_break(stale, regs, stale + 2);
}

TEST(leaving_java_code_ends_the_search, code_setup)
{
	gregset_t regs = {[REG_RAX] = 0x1234};

	assert_failed(CODE(0, "\xff\xe0"), regs);
	assert_failed(0x1234, regs);
	assert_failed(CODE(64, "\x0f\x05"), regs);
}

TEST(an_endless_loop_without_an_access_is_bounded, code_setup)
{
	assert_failed(CODE(0, "\xeb\xfe"), zero);
}

TEST(code_that_runs_off_its_method_is_not_read, code_setup)
{
	/* The last instruction is cut by the end of the method. */
	assert_failed(CODE(0, "\xff\xc0\x48\x8b"), zero);
}
