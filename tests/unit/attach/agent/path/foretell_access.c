/* The second access of a pair, foretold: where all on the way is known, and nowhere else. */
#include "tests/unit/support/test.h"

#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/foretell_access.h"
#include "tests/unit/support/agent/code.h"

static uint64_t words[4], stack[8];
static gregset_t regs;
static struct walk walk;
static struct walk_scope scope;
static struct walk_access first;
static struct foretold_access told;

static int setup(void **state)
{
	foretell_stop_clear();
	memset(regs, 0, sizeof(regs));
	memset(&told, 0, sizeof(told));
	regs[REG_RBX] = (greg_t)(uintptr_t)words;
	regs[REG_RSP] = (greg_t)(uintptr_t)&stack[4];
	regs[REG_RDX] = 0x33333333;
	words[0] = 0x2222222211111111;
	words[1] = 0x44444444;
	return code_setup(state);
}

/* The walk comes to the first access of the type in the code that begins at ip. */
static void walk_to(uint64_t ip, enum access_type type)
{
	uint64_t stop;

	walk_begin(&scope, type, 0, ip);
	assert_int_equal(walk_on(&walk, &scope, NULL, ip, regs, &first, &stop), WALK_ACCESS);
	assert_true(first.passed && first.framed);
}

/* A load that is followed by a load of the same bytes. */
static const struct foretell_watch silent_load = {
    .length = 4, .ends_with_load = true, .values = true};
/* A store that is followed by another one, no load in between. */
static const struct foretell_watch dead_store = {
    .length = 4, .ends_with_load = true, .ends_with_store = true};
/* A store that is followed by a store of the same value. */
static const struct foretell_watch silent_store = {
    .length = 4, .stores_only = true, .ends_with_store = true, .values = true};

static bool is_told(uint64_t ip, enum access_type type, struct foretell_watch watch)
{
	walk_to(ip, type);
	watch.address += (uintptr_t)words;
	return foretell_access(&walk, &watch, &told);
}

static void assert_bytes(const uint8_t *bytes, uint32_t expected)
{
	assert_memory_equal(bytes, &expected, sizeof(expected));
}

TEST(a_second_load_is_told_with_its_value, setup)
{
	/* mov eax, [rbx]; add eax, edx; mov ecx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x8b\x03\x01\xd0\x8b\x0b\xc3");

	assert_true(is_told(ip, ACCESS_LOAD, silent_load));
	assert_int_equal(told.insn.ip, ip + 4);
	assert_true(told.reads && !told.writes);
	assert_int_equal(told.extent.address, (uintptr_t)words);
	assert_int_equal(told.extent.size, 4);
	assert_bytes(told.first, 0x11111111);
	assert_bytes(told.before, 0x11111111);
	assert_bytes(told.after, 0x11111111);
	assert_int_equal(walk.machine.ip, ip + 6); /* behind it */
}

TEST(a_load_sees_what_was_stored_in_between, setup)
{
	/* mov eax, [rbx]; mov [rbx], edx; mov ecx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x8b\x03\x89\x13\x8b\x0b\xc3");

	assert_true(is_told(ip, ACCESS_LOAD, silent_load));
	assert_int_equal(told.insn.ip, ip + 4);
	assert_bytes(told.first, 0x11111111);
	assert_bytes(told.after, 0x33333333);
	assert_int_equal((uint32_t)words[0], 0x11111111); /* It has not happened yet. */
}

TEST(a_read_modify_write_has_a_value_before_and_one_after, setup)
{
	/* mov eax, [rbx]; inc dword [rbx]; ret */
	uint64_t ip = CODE(0, "\x8b\x03\xff\x03\xc3");

	assert_true(is_told(ip, ACCESS_LOAD, silent_load));
	assert_true(told.reads && told.writes);
	assert_bytes(told.before, 0x11111111);
	assert_bytes(told.after, 0x11111112);
}

TEST(a_store_over_a_store_is_told, setup)
{
	/* mov [rbx], edx; mov ecx, [rbx+4]; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\x89\x13\x8b\x4b\x04\x89\x03\xc3");

	assert_true(is_told(ip, ACCESS_STORE, dead_store));
	assert_int_equal(told.insn.ip, ip + 5);
	assert_true(told.writes && !told.reads);
	assert_bytes(told.first, 0x33333333);
	assert_bytes(told.after, 0);
}

TEST(what_loads_a_store_comes_before_the_next_store, setup)
{
	/* mov [rbx], edx; mov ecx, [rbx]; mov [rbx], edx; ret */
	uint64_t ip = CODE(0, "\x89\x13\x8b\x0b\x89\x13\xc3");

	assert_true(is_told(ip, ACCESS_STORE, dead_store));
	assert_int_equal(told.insn.ip, ip + 2);
	assert_true(told.reads && !told.writes);
	/* Where loads do not trap, they end nothing. */
	assert_true(is_told(ip, ACCESS_STORE, silent_store));
	assert_int_equal(told.insn.ip, ip + 4);
	assert_bytes(told.first, 0x33333333);
	assert_bytes(told.after, 0x33333333);
}

TEST(the_next_round_of_a_loop_is_told, setup)
{
	/* mov eax, [rbx]; dec edx; jnz 0; ret */
	uint64_t ip = CODE(0, "\x8b\x03\xff\xca\x75\xfa\xc3");

	assert_true(is_told(ip, ACCESS_LOAD, silent_load));
	assert_int_equal(told.insn.ip, ip);
	/* The last one is not followed by any. */
	regs[REG_RDX] = 1;
	assert_false(is_told(ip, ACCESS_LOAD, silent_load));
}

TEST(bytes_beside_the_watched_ones_are_others, setup)
{
	/* mov eax, [rbx]; mov ecx, [rbx+4]; mov cl, [rbx+3]; ret */
	uint64_t ip = CODE(0, "\x8b\x03\x8b\x4b\x04\x8a\x4b\x03\xc3");

	assert_true(is_told(ip, ACCESS_LOAD, silent_load));
	assert_int_equal(told.insn.ip, ip + 5);
	assert_int_equal(told.extent.address, (uintptr_t)words + 3);
	assert_int_equal(told.extent.size, 1);
}

TEST(wide_accesses_are_told_by_their_parts, setup)
{
	/* movups xmm0, [rbx]; movups xmm1, [rbx]; ret */
	uint64_t loads = CODE(0, "\x0f\x10\x03\x0f\x10\x0b\xc3");
	/* movups [rbx], xmm0; movups [rbx], xmm1; ret */
	uint64_t stores = CODE(64, "\x0f\x11\x03\x0f\x11\x0b\xc3");
	struct foretell_watch load = silent_load, dead = dead_store, same = silent_store;

	load.address = dead.address = same.address = 8; /* the second of two blocks */
	load.length = dead.length = same.length = 8;
	assert_true(is_told(loads, ACCESS_LOAD, load));
	assert_int_equal(told.insn.ip, loads + 3);
	assert_int_equal(told.extent.width, 16);
	assert_memory_equal(told.first, &words[1], 8);
	assert_true(is_told(stores, ACCESS_STORE, dead));
	assert_int_equal(told.insn.ip, stores + 3);
	/* What a vector register holds is not known. */
	assert_false(is_told(stores, ACCESS_STORE, same));
}

TEST(what_is_stored_must_be_known_where_values_count, setup)
{
	/* bsf rdx, rsi; mov [rbx], edx; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\x48\x0f\xbc\xd6\x89\x13\x89\x03\xc3");

	assert_false(is_told(ip, ACCESS_STORE, silent_store));
	assert_true(is_told(ip, ACCESS_STORE, dead_store));
}

TEST(nothing_is_told_behind_an_access_of_unknown_address, setup)
{
	/* bsf rsi, rdi; mov [rbx], edx; mov [rsi], eax; mov [rbx], eax; ret; the same with a load
	 */
	uint64_t store = CODE(0, "\x48\x0f\xbc\xf7\x89\x13\x89\x06\x89\x03\xc3");
	uint64_t load = CODE(64, "\x48\x0f\xbc\xf7\x89\x13\x8b\x06\x89\x03\xc3");

	assert_false(is_told(store, ACCESS_STORE, dead_store));
	assert_false(is_told(load, ACCESS_STORE, dead_store));
}

TEST(nothing_is_told_behind_a_branch_that_is_not_known, setup)
{
	/* mov [rbx], edx; bsf eax, ecx; jz +0; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\x89\x13\x0f\xbc\xc1\x74\x00\x89\x03\xc3");

	assert_false(is_told(ip, ACCESS_STORE, dead_store));
}

TEST(nothing_is_told_of_another_method, setup)
{
	/* mov [rbx], edx; call 1024; mov [rbx], eax; ret */
	uint64_t caller = CODE(0, "\x89\x13\xe8\xf9\x03\x00\x00\x89\x03\xc3");
	/* mov [rbx], edx; ret; and back to mov [rbx], eax */
	uint64_t callee = CODE(2048, "\x89\x13\xc3");
	/* mov [rbx], edx; jmp 4096 */
	uint64_t leaver = CODE(3072, "\x89\x13\xe9\xf9\x03\x00\x00");

	(void)CODE(1024, "\x89\x03\xc3");
	(void)CODE(4096, "\x89\x03\xc3");
	stack[4] = caller + 7;
	assert_false(is_told(caller, ACCESS_STORE, dead_store));
	assert_false(is_told(callee, ACCESS_STORE, dead_store));
	assert_false(is_told(leaver, ACCESS_STORE, dead_store));
}

TEST(nothing_is_told_on_another_stack, setup)
{
	/* mov [rbx], edx; push rax; mov [rbx], eax; pop rax; ret; and with the access behind both
	 */
	uint64_t pushed = CODE(0, "\x89\x13\x50\x89\x03\x58\xc3");
	uint64_t popped = CODE(64, "\x89\x13\x50\x58\x89\x03\xc3");

	assert_false(is_told(pushed, ACCESS_STORE, dead_store));
	assert_true(is_told(popped, ACCESS_STORE, dead_store));
}

TEST(what_pushes_and_pops_the_watched_bytes_is_not_told, setup)
{
	/* mov [rbx], edx; pop rcx; push rcx; mov [rbx], edx; ret, with rbx = rsp */
	uint64_t ip = CODE(0, "\x89\x13\x59\x51\x89\x13\xc3");
	struct foretell_watch watch = dead_store;

	regs[REG_RBX] = regs[REG_RSP];
	walk_to(ip, ACCESS_STORE);
	watch.address = (uintptr_t)&stack[4];
	assert_false(foretell_access(&walk, &watch, &told));
}

TEST(swaps_strings_and_masked_accesses_are_not_told, setup)
{
	/* mov [rbx], edx; lock cmpxchg [rbx], ecx; ret */
	uint64_t swap = CODE(0, "\x89\x13\xf0\x0f\xb1\x0b\xc3");
	/* mov [rbx], edx; stosd; ret */
	uint64_t string = CODE(64, "\x89\x13\xab\xc3");
	/* mov [rbx], edx; vpmaskmovd [rbx], ymm5, ymm0; ret */
	uint64_t masked = CODE(128, "\x89\x13\xc4\xe2\x55\x8e\x03\xc3");

	regs[REG_RDI] = regs[REG_RBX];
	assert_false(is_told(swap, ACCESS_STORE, dead_store));
	assert_false(is_told(string, ACCESS_STORE, dead_store));
	assert_false(is_told(masked, ACCESS_STORE, dead_store));
}

TEST(what_lies_too_far_away_is_not_told, setup)
{
	/* mov [rbx], edx; dec ecx; jnz 2; mov [rbx], eax; ret */
	uint64_t ip = CODE(0, "\x89\x13\xff\xc9\x75\xfc\x89\x03\xc3");

	regs[REG_RCX] = 50;
	assert_true(is_told(ip, ACCESS_STORE, dead_store));
	regs[REG_RCX] = 1000;
	assert_false(is_told(ip, ACCESS_STORE, dead_store));
}

/* A load of it in place would trap as the program's own does: here it would end the test. */
TEST(watched_bytes_are_read_through_the_kernel, setup)
{
	static const uint64_t page_bytes = 4096;
	uint8_t *page = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct machine_view view = {.watched_count = 1};
	uint64_t stop, ip = CODE(0, "\x8b\x44\x24\x08\xc3"); /* mov eax, [rsp+8]; ret */

	assert_ptr_not_equal(page, MAP_FAILED);
	/* As the stack, its memory is at hand. */
	view.stack_high = (uintptr_t)page + page_bytes;
	view.watched[0].address = (uintptr_t)page + 10;
	view.watched[0].length = 1;
	regs[REG_RSP] = (greg_t)(uintptr_t)page;
	walk_begin(&scope, ACCESS_LOAD, 0, ip);
	assert_int_equal(walk_on(&walk, &scope, &view, ip, regs, &first, &stop), WALK_ACCESS);
	assert_true(walk.machine.faulted && !first.passed);
	(void)munmap(page, page_bytes);
}
