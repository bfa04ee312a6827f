/* The next access of either type: followed, waited for, or given up, never guessed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void the_access_at_the_start_is_found_here(void **state)
{
	uint64_t ip = CODE(0, "\x8b\x03"); /* mov eax, [rbx] */

	(void)state;
	assert_here(ip, zero, ip);
}

static void an_access_whose_operand_does_not_change_is_found_at_once(void **state)
{
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc1\x89\x03"); /* inc eax; inc ecx; mov [rbx], eax */

	(void)state;
	assert_here(ip, zero, ip + 4);
}

static void an_access_whose_operand_changes_is_waited_for(void **state)
{
	uint64_t ip = CODE(0, "\xff\xc3\x8b\x03"); /* inc ebx; mov eax, [rbx] */

	(void)state;
	assert_break(ip, zero, ip + 2);
}

static void an_access_on_another_stack_is_waited_for(void **state)
{
	uint64_t ip = CODE(0, "\x55\x8b\x03"); /* push rbp; mov eax, [rbx] */

	(void)state;
	assert_break(ip, zero, ip + 1);
}

static void a_branch_with_known_flags_is_followed(void **state)
{
	/* jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x74\x02\x89\x0b\x89\x0e");
	gregset_t taken = {[REG_EFL] = ZF};

	(void)state;
	assert_here(ip, taken, ip + 4);
	assert_here(ip, zero, ip + 2);
}

static void a_branch_whose_flags_are_not_known_yet_is_waited_for(void **state)
{
	/* test eax, eax; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x85\xc0\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};

	(void)state;
	assert_break(ip, regs, ip + 2);
}

static void flags_survive_instructions_that_do_not_write_them(void **state)
{
	/* mov eax, ecx; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x89\xc8\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};

	(void)state;
	assert_here(ip, regs, ip + 6);
}

static void direct_calls_are_entered_and_the_access_waited_for(void **state)
{
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00"); /* call +0x400 from the start */
	uint64_t callee = CODE(1024, "\x8b\x03\xc3");

	(void)state;
	assert_break(ip, zero, callee);
}

static void a_return_reads_its_target_from_the_stack(void **state)
{
	uint64_t ip = CODE(0, "\xc3");
	uint64_t caller = CODE(1024, "\x8b\x03");
	uint64_t stack[1] = {caller};
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)stack};

	(void)state;
	assert_break(ip, regs, caller);
}

static void an_indirect_jump_needs_its_register_unchanged(void **state)
{
	uint64_t fresh = CODE(0, "\xff\xe0");          /* jmp rax */
	uint64_t stale = CODE(64, "\x31\xc0\xff\xe0"); /* xor eax, eax; jmp rax */
	uint64_t target = CODE(1024, "\x8b\x03");
	gregset_t regs = {[REG_RAX] = (greg_t)target};

	(void)state;
	assert_break(fresh, regs, target);
	assert_break(stale, regs, stale + 2);
}

static void leaving_java_code_ends_the_search(void **state)
{
	gregset_t regs = {[REG_RAX] = 0x1234};

	(void)state;
	assert_failed(CODE(0, "\xff\xe0"), regs);
	assert_failed(0x1234, regs);
	assert_failed(CODE(64, "\x0f\x05"), regs);
}

static void an_endless_loop_without_an_access_is_bounded(void **state)
{
	(void)state;
	assert_failed(CODE(0, "\xeb\xfe"), zero);
}

static void code_that_runs_off_its_method_is_not_read(void **state)
{
	(void)state;
	/* The last instruction is cut by the end of the method. */
	assert_failed(CODE(0, "\xff\xc0\x48\x8b"), zero);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(the_access_at_the_start_is_found_here, code_setup),
	    cmocka_unit_test_setup(an_access_whose_operand_does_not_change_is_found_at_once,
				   code_setup),
	    cmocka_unit_test_setup(an_access_whose_operand_changes_is_waited_for, code_setup),
	    cmocka_unit_test_setup(an_access_on_another_stack_is_waited_for, code_setup),
	    cmocka_unit_test_setup(a_branch_with_known_flags_is_followed, code_setup),
	    cmocka_unit_test_setup(a_branch_whose_flags_are_not_known_yet_is_waited_for,
				   code_setup),
	    cmocka_unit_test_setup(flags_survive_instructions_that_do_not_write_them, code_setup),
	    cmocka_unit_test_setup(direct_calls_are_entered_and_the_access_waited_for, code_setup),
	    cmocka_unit_test_setup(a_return_reads_its_target_from_the_stack, code_setup),
	    cmocka_unit_test_setup(an_indirect_jump_needs_its_register_unchanged, code_setup),
	    cmocka_unit_test_setup(leaving_java_code_ends_the_search, code_setup),
	    cmocka_unit_test_setup(an_endless_loop_without_an_access_is_bounded, code_setup),
	    cmocka_unit_test_setup(code_that_runs_off_its_method_is_not_read, code_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
