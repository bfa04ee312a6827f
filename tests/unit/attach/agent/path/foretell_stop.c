/* The access that all paths lead to: found in the loop it belongs to, and nowhere else. */
#include "tests/unit/support/test.h"

#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "tests/unit/support/agent/code.h"

static int setup(void **state)
{
	foretell_stop_clear();
	return code_setup(state);
}

/* header: of the loop that counts, 0 for flat code. */
static void assert_none(uint64_t ip, enum access_type wanted, uint64_t header)
{
	uint64_t access = 42;

	assert_false(foretell_stop(ip, wanted, header, true, &access));
	assert_int_equal(access, 42);
	/* From the cache. */
	assert_false(foretell_stop(ip, wanted, header, true, &access));
}

static void assert_foretold(uint64_t ip, enum access_type wanted, uint64_t header,
			    uint64_t expected)
{
	uint64_t access;

	assert_true(foretell_stop(ip, wanted, header, true, &access));
	assert_int_equal(access, expected);
	access = 0;
	assert_true(foretell_stop(ip, wanted, header, true, &access));
	assert_int_equal(access, expected);
}

/* Answers for both are remembered, each for itself. */
TEST(spills_are_passed_where_they_do_not_count, setup)
{
	/* 0: nop; 1: mov [rsp+8], eax; 5: mov [rbx], eax; 7: dec ecx; 9: jnz 0; b: ret */
	uint64_t access, ip = CODE(0, "\x90\x89\x44\x24\x08\x89\x03\xff\xc9\x75\xf5\xc3");

	assert_foretold(ip, ACCESS_STORE, ip, ip + 1);
	assert_true(foretell_stop(ip, ACCESS_STORE, ip, false, &access));
	assert_int_equal(access, ip + 5);
	assert_foretold(ip, ACCESS_STORE, ip, ip + 1);
}

TEST(an_access_behind_an_inner_loop_is_its_outer_loops, setup)
{
	/* 0: nop; 1: dec ecx; 3: jnz 1; 5: mov [rbx], eax; 7: dec edx; 9: jnz 0; b: ret */
	uint64_t ip = CODE(0, "\x90\xff\xc9\x75\xfc\x89\x03\xff\xca\x75\xf5\xc3");

	assert_foretold(ip + 3, ACCESS_STORE, ip, ip + 5);
	assert_none(ip + 3, ACCESS_STORE, ip + 1);
}

TEST(an_access_behind_the_last_loop_is_not_the_loops, setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: mov [rbx], eax; 6: ret */
	uint64_t ip = CODE(0, "\xff\xc9\x75\xfc\x89\x03\xc3");

	assert_none(ip + 2, ACCESS_STORE, ip);
}

TEST(an_access_in_the_next_loop_is_not_the_loops, setup)
{
	/* 0: nop; 1: dec ecx; 3: jnz 1; 5: mov [rbx], eax; 7: dec edx; 9: jnz 5; b: dec esi;
	 * d: jnz 0; f: ret */
	uint64_t ip = CODE(0, "\x90\xff\xc9\x75\xfc\x89\x03\xff\xca\x75\xfa\xff\xce\x75\xf1\xc3");

	assert_none(ip + 3, ACCESS_STORE, ip + 1);
	assert_none(ip + 3, ACCESS_STORE, ip);
	assert_foretold(ip + 9, ACCESS_STORE, ip + 5, ip + 5);
}

TEST(ways_out_of_the_loop_do_not_matter, setup)
{
	/* 0: dec ecx; 2: jz 8; 4: mov [rbx], eax; 6: jmp 0; 8: mov [rsi], eax; a: ret */
	uint64_t ip = CODE(0, "\xff\xc9\x74\x04\x89\x03\xeb\xf8\x89\x06\xc3");

	assert_foretold(ip, ACCESS_STORE, ip, ip + 4);
	/* In flat code they do: the loop's accesses are not its own. */
	assert_none(ip, ACCESS_STORE, 0);
	assert_foretold(ip + 8, ACCESS_STORE, 0, ip + 8);
}

TEST(branches_that_meet_again_do_not_matter, setup)
{
	/* 0: jz 4; 2: inc eax; 4: mov [rbx], eax; 6: ret */
	uint64_t ip = CODE(0, "\x74\x02\xff\xc0\x89\x03\xc3");

	assert_foretold(ip, ACCESS_STORE, 0, ip + 4);
}

TEST(one_of_two_accesses_is_not_chosen, setup)
{
	/* 0: jz 5; 2: mov [rbx], eax; 4: ret; 5: mov [rsi], eax; 7: ret */
	uint64_t ip = CODE(0, "\x74\x03\x89\x03\xc3\x89\x06\xc3");

	assert_none(ip, ACCESS_STORE, 0);
}

TEST(an_access_that_may_be_missed_is_not_inevitable, setup)
{
	/* 0: jz 4; 2: mov [rbx], eax; 4: ret */
	uint64_t ip = CODE(0, "\x74\x02\x89\x03\xc3");

	assert_none(ip, ACCESS_STORE, 0);
}

TEST(the_type_of_access_matters, setup)
{
	/* 0: jz 4; 2: mov ecx, [rsi]; 4: mov [rbx], eax; 6: ret */
	uint64_t ip = CODE(0, "\x74\x02\x8b\x0e\x89\x03\xc3");

	assert_foretold(ip, ACCESS_STORE, 0, ip + 4);
	assert_none(ip, ACCESS_LOAD, 0);
}

TEST(uncommon_traps_are_taken_never_to_happen, setup)
{
	/* 0: jz 5; 2: mov [rbx], eax; 4: ret; 5: mov esi, -12; a: call 0x100f; f: hlt */
	uint64_t ip = CODE(0, "\x74\x03\x89\x03\xc3\xbe\xf4\xff\xff\xff\xe8\x00\x10\x00\x00\xf4");

	assert_foretold(ip, ACCESS_STORE, 0, ip + 2);
}

TEST(other_calls_end_the_attempt, setup)
{
	/* 0: jz 5; 2: mov [rbx], eax; 4: ret; 5: mov esi, 12; a: call 11; f: hlt */
	uint64_t ip = CODE(0, "\x74\x03\x89\x03\xc3\xbe\x0c\x00\x00\x00\xe8\x00\x00\x00\x00\xf4");

	assert_none(ip, ACCESS_STORE, 0);
}

TEST(a_method_with_a_negative_argument_is_no_uncommon_trap, setup)
{
	/* 0: jz 5; 2: mov [rbx], eax; 4: ret; 5: mov esi, -12; a: call 0x100f; f: hlt */
	uint64_t ip = CODE(0, "\x74\x03\x89\x03\xc3\xbe\xf4\xff\xff\xff\xe8\x00\x10\x00\x00\xf4");

	add_compiled(ip + 0x100f, 16, 7, NULL, 0);
	assert_none(ip, ACCESS_STORE, 0);
}

TEST(an_access_that_lies_before_is_found, setup)
{
	/* 0: mov [rbx], eax; 2: dec ecx; 4: jnz 2; 6: jmp 0 */
	uint64_t ip = CODE(0, "\x89\x03\xff\xc9\x75\xfc\xeb\xf8");

	assert_foretold(ip + 4, ACCESS_STORE, ip, ip);
}

TEST(the_place_itself_may_be_the_access, setup)
{
	uint64_t ip = CODE(0, "\x89\x03\xc3"); /* mov [rbx], eax; ret */

	assert_foretold(ip, ACCESS_STORE, 0, ip);
}

TEST(branches_are_passed_up_to_where_paths_part_for_good, setup)
{
	/* A division, then a loop's end: 0: cmp eax, ecx; 2: jnz 9; 4: xor edx, edx; 6: nop; 7: jz
	 * c; 9: cdq; a: idiv ecx; c: dec esi; e: jnz 0; 10: mov [rbx], eax; 12: ret */
	uint64_t ip = CODE(0, "\x39\xc8\x75\x05\x31\xd2\x90\x74\x03\x99\xf7\xf9\xff\xce\x75\xf0"
			      "\x89\x03\xc3");

	assert_foretold(ip + 2, ACCESS_STORE, ip, ip + 14);
	/* And at the loop's end there is nothing to be known. */
	assert_none(ip + 14, ACCESS_STORE, ip);
}

TEST(code_that_is_not_a_methods_is_left_alone, setup)
{
	uint64_t ip = CODE(0, "\x89\x03\xc3");

	assert_none(ip + 4096, ACCESS_STORE, 0);
}
