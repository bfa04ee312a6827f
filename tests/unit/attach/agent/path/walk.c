/* From a tick to the access of its own loop: followed, waited for, or given up, never guessed. */
#include "tests/unit/support/test.h"

#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/walk.h"
#include "tests/unit/support/agent/code.h"

#define ZF 0x40

static const gregset_t zero;
static struct walk walk;
static struct walk_scope scope;
static struct walk_access access_found;

static int setup(void **state)
{
	foretell_stop_clear();
	return code_setup(state);
}

static enum walk_outcome go_on(uint64_t ip, const gregset_t regs, uint64_t *stop_ip)
{
	*stop_ip = 0;
	return walk_on(&walk, &scope, NULL, ip, regs, &access_found, stop_ip);
}

static enum walk_outcome begin(uint64_t ip, const gregset_t regs, enum access_type type,
			       uint64_t *stop_ip)
{
	walk_begin(&scope, type, 0, ip);
	return go_on(ip, regs, stop_ip);
}

static void assert_access(uint64_t ip, const gregset_t regs, enum access_type type,
			  uint64_t expected)
{
	uint64_t stop;

	assert_int_equal(begin(ip, regs, type, &stop), WALK_ACCESS);
	assert_int_equal(access_found.insn.ip, expected);
}

static void assert_end(uint64_t ip, const gregset_t regs, enum access_type type,
		       enum walk_outcome expected)
{
	uint64_t stop;

	assert_int_equal(begin(ip, regs, type, &stop), expected);
}

static void assert_stop(uint64_t ip, const gregset_t regs, enum access_type type, uint64_t expected)
{
	uint64_t stop;

	assert_int_equal(begin(ip, regs, type, &stop), WALK_STOP);
	assert_int_equal(stop, expected);
}

/* ---------------------------------------------------------------- flat code */

TEST(the_access_at_the_start_is_found_here, setup)
{
	uint64_t word = 7, ip = CODE(0, "\x8b\x03\xc3"); /* mov eax, [rbx]; ret */
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)&word};

	assert_access(ip, regs, ACCESS_LOAD, ip);
	assert_true(access_found.here && access_found.plain && access_found.foretold);
	assert_true(access_found.passed && access_found.framed);
	assert_int_equal(access_found.address, (uintptr_t)&word);
	assert_int_equal(walk.machine.ip, ip + 2);
	assert_int_equal(walk.machine.regs[0].bits, 7);
}

TEST(an_access_further_on_is_found_with_its_address, setup)
{
	/* inc eax; lea rbx, [rsi+8]; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\xff\xc0\x48\x8d\x5e\x08\x89\x03\xc3");
	gregset_t regs = {[REG_RSI] = 0x1000};

	assert_access(ip, regs, ACCESS_STORE, ip + 6);
	assert_true(!access_found.here && access_found.plain && access_found.foretold);
	assert_int_equal(access_found.address, 0x1008);
}

TEST(an_address_that_is_not_known_is_not_foretold, setup)
{
	/* bsf rbx, rsi; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\x48\x0f\xbc\xde\x89\x03\xc3");

	assert_access(ip, zero, ACCESS_STORE, ip + 4);
	assert_false(access_found.foretold);
}

TEST(bytes_that_are_touched_on_the_way_are_not_foretold, setup)
{
	uint64_t words[2] = {0};
	/* mov eax, [rbx]; mov [rbx+disp], ecx; ret */
	uint64_t same = CODE(0, "\x8b\x03\x89\x4b\x02\xc3");
	uint64_t beside = CODE(64, "\x8b\x03\x89\x4b\x04\xc3");
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)words};

	assert_access(same, regs, ACCESS_STORE, same + 2);
	assert_false(access_found.foretold);
	assert_access(beside, regs, ACCESS_STORE, beside + 2);
	assert_true(access_found.foretold);
}

TEST(accesses_of_the_other_type_are_passed, setup)
{
	uint64_t word = 0,
		 ip = CODE(0, "\x8b\x03\x89\x0b\xc3"); /* mov eax, [rbx]; mov [rbx], ecx */
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)&word};

	assert_access(ip, regs, ACCESS_STORE, ip + 2);
}

TEST(what_the_jvm_accesses_for_itself_is_passed, setup)
{
	uint64_t word = 0;
	/* mov [rsp-0x14000], eax; mov rax, [r15+0x10]; test [rax], eax; mov ecx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x89\x84\x24\x00\xc0\xfe\xff\x49\x8b\x47\x10\x85\x00\x8b\x0b\xc3");
	uint64_t thread[3] = {0, 0, (uintptr_t)&word};
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)&word,
			  [REG_R15] = (greg_t)(uintptr_t)thread,
			  [REG_RSP] = (greg_t)(uintptr_t)&word};

	assert_access(ip, regs, ACCESS_LOAD, ip + 13);
}

TEST(branches_are_followed_by_what_is_known, setup)
{
	/* test eax, eax; jz +2; mov [rbx], ecx; mov [rsi], ecx; ret */
	uint64_t ip = CODE(0, "\x85\xc0\x74\x02\x89\x0b\x89\x0e\xc3");
	gregset_t one = {[REG_RAX] = 1};

	assert_access(ip, zero, ACCESS_STORE, ip + 6);
	assert_access(ip, one, ACCESS_STORE, ip + 4);
}

TEST(a_branch_that_is_not_known_is_waited_for, setup)
{
	/* bsf eax, ecx; jz +2; mov [rbx], ecx; mov [rsi], ecx; ret */
	uint64_t ip = CODE(0, "\x0f\xbc\xc1\x74\x02\x89\x0b\x89\x0e\xc3");
	gregset_t taken = {[REG_EFL] = ZF};
	uint64_t stop;

	assert_stop(ip, zero, ACCESS_STORE, ip + 3);
	assert_int_equal(go_on(ip + 3, taken, &stop), WALK_ACCESS);
	assert_int_equal(access_found.insn.ip, ip + 7);
}

TEST(where_branches_do_not_matter_the_access_is_waited_for, setup)
{
	/* bsf eax, ecx; jz +2; inc edx; mov [rbx], ecx; ret */
	uint64_t ip = CODE(0, "\x0f\xbc\xc1\x74\x02\xff\xc2\x89\x0b\xc3");

	assert_stop(ip, zero, ACCESS_STORE, ip + 7);
}

TEST(accesses_to_skip_are_passed_over, setup)
{
	/* mov eax, [rbx]; mov ecx, [rbx]; mov edx, [rbx]; ret */
	uint64_t word = 0, stop, ip = CODE(0, "\x8b\x03\x8b\x0b\x8b\x13\xc3");
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)&word};

	walk_begin(&scope, ACCESS_LOAD, 2, ip);
	assert_int_equal(scope.skip, 0); /* Flat code may make no more than one. */
	scope.skip = 2;
	assert_int_equal(go_on(ip, regs, &stop), WALK_ACCESS);
	assert_int_equal(access_found.insn.ip, ip + 4);
	assert_int_equal(scope.skip, 0);
}

TEST(what_is_left_to_skip_is_remembered_across_a_stop, setup)
{
	/* mov eax, [rbx]; bsf eax, ecx; jz +2; mov ecx, [rbx]; ret */
	uint64_t word = 0, stop, ip = CODE(0, "\x8b\x03\x0f\xbc\xc1\x74\x02\x8b\x0b\xc3");
	gregset_t regs = {[REG_RBX] = (greg_t)(uintptr_t)&word};

	walk_begin(&scope, ACCESS_LOAD, 0, ip);
	scope.skip = 3;
	assert_int_equal(go_on(ip, regs, &stop), WALK_STOP);
	assert_int_equal(stop, ip + 5);
	assert_int_equal(scope.skip, 2);
}

TEST(code_that_cannot_be_followed_fails, setup)
{
	gregset_t regs = {[REG_RAX] = 0x1234};

	assert_end(CODE(0, "\xff\xe0"), regs, ACCESS_LOAD, WALK_FAILED); /* jmp rax */
	assert_end(0x1234, regs, ACCESS_LOAD, WALK_FAILED);
	assert_end(CODE(64, "\x0f\x05"), regs, ACCESS_LOAD, WALK_FAILED); /* syscall */
	/* The last instruction is cut by the end of the method. */
	assert_end(CODE(128, "\x48\x8b"), regs, ACCESS_LOAD, WALK_FAILED);
}

TEST(flat_code_ends_where_a_loop_is_entered, setup)
{
	/* 0: inc eax; 2: mov [rbx], eax; 4: dec ecx; 6: jnz 2; 8: ret */
	uint64_t ip = CODE(0, "\xff\xc0\x89\x03\xff\xc9\x75\xfa\xc3");

	assert_end(ip, zero, ACCESS_STORE, WALK_NONE);
}

/* ---------------------------------------------------------------- loops */

TEST(a_loops_next_access_may_lie_before_the_tick, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 0; 6: mov [rsi], eax; 8: ret */
	uint64_t ip = CODE(0, "\x89\x03\xff\xc9\x75\xfa\x89\x06\xc3");
	gregset_t regs = {[REG_RCX] = 5};

	assert_access(ip + 2, regs, ACCESS_STORE, ip);
	assert_false(access_found.plain);
}

TEST(a_loop_that_is_left_is_waited_for, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 0; 6: mov [rsi], eax; 8: ret */
	uint64_t ip = CODE(0, "\x89\x03\xff\xc9\x75\xfa\x89\x06\xc3");
	gregset_t regs = {[REG_RCX] = 1};

	assert_stop(ip + 2, regs, ACCESS_STORE, ip);
}

TEST(a_loop_without_an_access_has_none, setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: mov [rsi], eax; 6: ret */
	uint64_t stop, ip = CODE(0, "\xff\xc9\x75\xfc\x89\x06\xc3");
	gregset_t regs = {[REG_RCX] = 5};
	bool known;

	assert_end(ip, regs, ACCESS_STORE, WALK_NONE);
	assert_false(walk_come_round(&scope, &stop));
	assert_int_equal(walk_types(ip, &known), 0);
	assert_true(known);
	assert_int_equal(walk_types(ip + 4, &known), 1u << ACCESS_LOAD | 1u << ACCESS_STORE);
}

static uint64_t frame[4];

TEST(what_the_compiler_spills_does_not_count_beside_other_accesses, setup)
{
	/* mov ecx, [rsp+8]; mov eax, [rbx]; dec edx; jnz to the start; ret */
	uint64_t word = 0, ip = CODE(0, "\x8b\x4c\x24\x08\x8b\x03\xff\xca\x75\xf6\xc3");
	gregset_t regs = {
	    [REG_RBX] = (greg_t)(uintptr_t)&word, [REG_RSP] = (greg_t)(uintptr_t)frame};

	assert_access(ip, regs, ACCESS_LOAD, ip + 4);
}

TEST(where_a_loop_makes_no_others_spills_count, setup)
{
	/* mov ecx, [rsp+8]; dec edx; jnz to the start; ret */
	uint64_t ip = CODE(0, "\x8b\x4c\x24\x08\xff\xca\x75\xf8\xc3");
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)frame};

	assert_access(ip, regs, ACCESS_LOAD, ip);
}

/* As of a loop whose only other access is on a path that it does not take. */
TEST(who_comes_round_takes_the_spill_that_was_met, setup)
{
	/* mov ecx, [rsp+8]; test edi, edi; jz over the next; mov eax, [rbx]; dec edx; jnz to the
	 * start; ret */
	uint64_t stop, ip = CODE(0, "\x8b\x4c\x24\x08\x85\xff\x74\x02\x8b\x03\xff\xca\x75\xf2\xc3");
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)frame, [REG_RDX] = 2};

	assert_stop(ip, regs, ACCESS_LOAD, ip + 8);
	assert_true(walk_come_round(&scope, &stop));
	assert_int_equal(stop, ip);
	assert_int_equal(go_on(ip, regs, &stop), WALK_ACCESS);
	assert_int_equal(access_found.insn.ip, ip);
	assert_false(walk_come_round(&scope, &stop));
}

TEST(a_loop_in_the_loop_is_passed_through, setup)
{
	/* 0: mov [rbx], eax; 2: mov [rsi], eax; 4: dec ecx; 6: jnz 2; 8: dec edx; a: jnz 0; c: ret
	 */
	uint64_t ip = CODE(0, "\x89\x03\x89\x06\xff\xc9\x75\xfa\xff\xca\x75\xf4\xc3");
	uint64_t words[2];
	gregset_t regs = {[REG_RCX] = 3,
			  [REG_RDX] = 3,
			  [REG_RBX] = (greg_t)(uintptr_t)&words[0],
			  [REG_RSI] = (greg_t)(uintptr_t)&words[1]};
	uint64_t stop;

	/* The tick is the outer loop's own: the inner one's stores do not count. */
	walk_begin(&scope, ACCESS_STORE, 1, ip);
	assert_int_equal(go_on(ip, regs, &stop), WALK_ACCESS);
	assert_int_equal(access_found.insn.ip, ip);
	/* The tick is the inner loop's. */
	assert_access(ip + 4, regs, ACCESS_STORE, ip + 2);
}

TEST(a_long_way_through_a_loop_ends_in_a_stop_behind_it, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 2; 6: dec edx; 8: jnz 0; a: ret */
	uint64_t ip = CODE(0, "\x89\x03\xff\xc9\x75\xfc\xff\xca\x75\xf6\xc3");
	uint64_t word;
	gregset_t regs = {[REG_RCX] = 100000, [REG_RDX] = 3, [REG_RBX] = (greg_t)(uintptr_t)&word};
	uint64_t stop;

	walk_begin(&scope, ACCESS_STORE, 1, ip);
	assert_int_equal(go_on(ip, regs, &stop), WALK_STOP);
	assert_int_equal(stop, ip); /* Wherever the paths go, they come to it. */
}

TEST(only_what_a_loop_makes_may_be_asked_for, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 0; 6: ret; and with a call in it */
	uint64_t ip = CODE(0, "\x89\x03\xff\xc9\x75\xfa\xc3");
	uint64_t calls = CODE(64, "\xe8\xbb\x03\x00\x00\xff\xc9\x75\xf7\xc3");
	bool known;

	assert_int_equal(walk_types(ip, &known), 1u << ACCESS_STORE);
	assert_true(known);
	assert_int_equal(walk_types(calls, &known), 1u << ACCESS_LOAD | 1u << ACCESS_STORE);
	assert_int_equal(walk_types(0x1234, &known), 0);
	assert_false(known);
}

/* ---------------------------------------------------------------- calls and returns */

TEST(what_a_callee_does_outside_of_its_loops_counts, setup)
{
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00\x89\x03\xc3"); /* call 1024; mov [rbx], eax */
	uint64_t callee = CODE(1024, "\x89\x06\xc3");              /* mov [rsi], eax; ret */
	uint64_t stack[4];
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)&stack[3]};

	assert_access(ip, regs, ACCESS_STORE, callee);
	assert_int_equal(scope.depth, 1);
	assert_false(access_found.framed);
}

TEST(a_callees_loop_is_passed_over_to_the_return, setup)
{
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00\x89\x03\xc3"); /* call 1024; mov [rbx], eax */
	uint64_t stack[4];
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)&stack[3], [REG_RCX] = 3};

	/* 0: mov [rsi], eax; 2: dec ecx; 4: jnz 0; 6: ret */
	(void)CODE(1024, "\x89\x06\xff\xc9\x75\xfa\xc3");
	assert_stop(ip, regs, ACCESS_STORE, ip + 5);
	assert_int_equal(scope.depth, 0);
}

TEST(a_call_out_of_java_is_passed_over, setup)
{
	uint64_t ip = CODE(0, "\xff\xd0\x89\x03\xc3"); /* call rax; mov [rbx], eax; ret */
	uint64_t stack[4];
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)&stack[3], [REG_RAX] = 0x1234};

	assert_stop(ip, regs, ACCESS_STORE, ip + 2);
	assert_int_equal(scope.depth, 0);
}

TEST(calls_are_followed_to_a_depth, setup)
{
	uint64_t stack[8], last, stop;
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)&stack[7]};

	/* Each calls the one 1,024 bytes on. */
	for (unsigned i = 0; i < 4; i++)
		(void)CODE(1024 * i, "\xe8\xfb\x03\x00\x00\xc3");
	last = CODE(4096, "\x89\x03\xc3");
	assert_int_equal(begin(last - 4096, regs, ACCESS_STORE, &stop), WALK_STOP);
	assert_int_equal(stop, last - 1024 + 5); /* behind the call that is one too deep */
	assert_int_equal(scope.depth, WALK_CALLS_MAX);
}

TEST(a_return_leads_into_the_loop_around_the_call, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 0; 6: ret; the callee: inc eax; ret */
	uint64_t caller = CODE(1024, "\x89\x03\xff\xc9\x75\xfa\xc3");
	uint64_t ip = CODE(0, "\xff\xc0\xc3");
	uint64_t stack[1] = {caller + 2};
	gregset_t regs = {[REG_RSP] = (greg_t)(uintptr_t)stack, [REG_RCX] = 5};

	assert_access(ip, regs, ACCESS_STORE, caller);
	assert_int_equal(scope.header[0], caller);
	assert_false(access_found.framed);
}
