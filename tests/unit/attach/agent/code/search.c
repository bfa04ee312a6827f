/* The dynamically next access: followed, waited for, or given up, never guessed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/code/search.h"
#include "tests/unit/support/agent/code.h"

#define ZF 0x40

static void the_access_at_the_start_is_found_here(void **state)
{
	uint64_t ip = CODE(0, "\x8b\x03"); /* mov eax, [rbx] */
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_HERE);
	assert_int_equal(in.ip, ip);
}

static void an_access_further_on_is_waited_for(void **state)
{
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc1\x8b\x03"); /* inc eax; inc ecx; mov eax, [rbx] */
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 4);
}

static void accesses_of_the_other_type_are_passed(void **state)
{
	uint64_t ip = CODE(0, "\x8b\x03\x89\x0b"); /* mov eax, [rbx]; mov [rbx], ecx */
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_STORE, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 2);
}

static void a_branch_with_known_flags_is_followed(void **state)
{
	/* jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x74\x02\x89\x0b\x89\x0e");
	gregset_t taken = {[REG_EFL] = ZF}, not_taken = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, taken, ACCESS_STORE, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 4);
	assert_int_equal(search_walk(ip, not_taken, ACCESS_STORE, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 2);
}

static void a_branch_whose_flags_are_not_known_yet_is_waited_for(void **state)
{
	/* test eax, eax; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x85\xc0\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_STORE, &skip, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, ip + 2);
}

static void flags_survive_instructions_that_do_not_write_them(void **state)
{
	/* mov eax, ecx; jz +2; mov [rbx], ecx; mov [rsi], ecx */
	uint64_t ip = CODE(0, "\x89\xc8\x74\x02\x89\x0b\x89\x0e");
	gregset_t regs = {[REG_EFL] = ZF};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_STORE, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 6);
}

static void direct_calls_are_entered(void **state)
{
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00"); /* call +0x400 from the start */
	uint64_t callee = CODE(1024, "\x8b\x03\xc3");
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, callee);
}

static void a_return_reads_its_target_from_the_stack(void **state)
{
	uint64_t ip = CODE(0, "\xc3");
	uint64_t caller = CODE(1024, "\x8b\x03");
	uint64_t stack[1] = {caller};
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)stack};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, caller);
}

static void an_indirect_jump_needs_its_register_unchanged(void **state)
{
	uint64_t fresh = CODE(0, "\xff\xe0");          /* jmp rax */
	uint64_t stale = CODE(64, "\x31\xc0\xff\xe0"); /* xor eax, eax; jmp rax */
	uint64_t target = CODE(1024, "\x8b\x03");
	gregset_t regs = {[REG_RAX] = (greg_t)target};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(fresh, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, target);
	assert_int_equal(search_walk(stale, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, stale + 2);
}

static void leaving_java_code_ends_the_search(void **state)
{
	gregset_t regs = {[REG_RAX] = 0x1234};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(CODE(0, "\xff\xe0"), regs, ACCESS_LOAD, &skip, &in, &stop),
			 SEARCH_FAILED);
	assert_int_equal(search_walk(0x1234, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_FAILED);
	assert_int_equal(search_walk(CODE(64, "\x0f\x05"), regs, ACCESS_LOAD, &skip, &in, &stop),
			 SEARCH_FAILED);
}

static void an_endless_loop_without_an_access_is_bounded(void **state)
{
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(CODE(0, "\xeb\xfe"), regs, ACCESS_LOAD, &skip, &in, &stop),
			 SEARCH_FAILED);
}

static void code_that_runs_off_its_method_is_not_read(void **state)
{
	gregset_t regs = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	/* The last instruction is cut by the end of the method. */
	assert_int_equal(
	    search_walk(CODE(0, "\xff\xc0\x48\x8b"), regs, ACCESS_LOAD, &skip, &in, &stop),
	    SEARCH_FAILED);
}

static void accesses_to_skip_are_passed_over(void **state)
{
	/* mov eax, [rbx]; mov ecx, [rsi]; mov edx, [rdi] */
	uint64_t ip = CODE(0, "\x8b\x03\x8b\x0e\x8b\x17");
	gregset_t regs = {0};
	unsigned skip = 2;
	struct insn in;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 4);
	assert_int_equal(skip, 0);
	assert_int_equal(search_walk(stop, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_HERE);
	assert_int_equal(in.ip, ip + 4);
}

static void what_is_left_to_skip_is_remembered_across_a_branch(void **state)
{
	/* mov eax, [rbx]; test eax, eax; jz +2; mov ecx, [rsi]; ret */
	uint64_t ip = CODE(0, "\x8b\x03\x85\xc0\x74\x02\x8b\x0e\xc3");
	gregset_t regs = {0};
	unsigned skip = 3;
	struct insn in;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, regs, ACCESS_LOAD, &skip, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, ip + 4);
	assert_int_equal(skip, 2);
}

static void an_access_is_not_awaited_behind_it_when_the_way_passes_there_first(void **state)
{
	/* 0: jz 4; 2: mov [rbx], eax; 4: inc ecx; 6: jmp 2 */
	uint64_t ip = CODE(0, "\x74\x02\x89\x03\xff\xc1\xeb\xfa");
	gregset_t taken = {[REG_EFL] = ZF}, not_taken = {0};
	struct insn in;
	unsigned skip = 0;
	uint64_t stop;

	(void)state;
	assert_int_equal(search_walk(ip, taken, ACCESS_STORE, &skip, &in, &stop), SEARCH_BREAK);
	assert_int_equal(stop, ip + 2);
	assert_int_equal(search_walk(ip, not_taken, ACCESS_STORE, &skip, &in, &stop), SEARCH_AHEAD);
	assert_int_equal(stop, ip + 2);
	assert_int_equal(in.ip, ip + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(the_access_at_the_start_is_found_here, code_setup),
	    cmocka_unit_test_setup(an_access_further_on_is_waited_for, code_setup),
	    cmocka_unit_test_setup(accesses_of_the_other_type_are_passed, code_setup),
	    cmocka_unit_test_setup(a_branch_with_known_flags_is_followed, code_setup),
	    cmocka_unit_test_setup(a_branch_whose_flags_are_not_known_yet_is_waited_for,
				   code_setup),
	    cmocka_unit_test_setup(flags_survive_instructions_that_do_not_write_them, code_setup),
	    cmocka_unit_test_setup(direct_calls_are_entered, code_setup),
	    cmocka_unit_test_setup(a_return_reads_its_target_from_the_stack, code_setup),
	    cmocka_unit_test_setup(an_indirect_jump_needs_its_register_unchanged, code_setup),
	    cmocka_unit_test_setup(leaving_java_code_ends_the_search, code_setup),
	    cmocka_unit_test_setup(an_endless_loop_without_an_access_is_bounded, code_setup),
	    cmocka_unit_test_setup(accesses_to_skip_are_passed_over, code_setup),
	    cmocka_unit_test_setup(what_is_left_to_skip_is_remembered_across_a_branch, code_setup),
	    cmocka_unit_test_setup(
		an_access_is_not_awaited_behind_it_when_the_way_passes_there_first, code_setup),
	    cmocka_unit_test_setup(code_that_runs_off_its_method_is_not_read, code_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
