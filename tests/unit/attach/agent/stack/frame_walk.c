/* Walks of stacks that are made up: which calls they are told to have, and what ends them. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/stack/frame_walk.h"
#include "tests/unit/support/agent/fake_stack.h"

#define ROOM 100u

static struct frame_walk walk;
static struct call calls[ROOM + 1];

/* A call as its method's name tells it. */
struct expected {
	const char *name;
	int32_t bci;
};

/* fp: of the frame that ip stands in. */
static struct walk_start start_at(uint64_t ip, unsigned sp, uint64_t fp)
{
	return (struct walk_start){
	    .ip = ip, .pc = ip, .sp = fake_at(sp), .fp = fp, .stack_high = fake_at(STACK_WORDS)};
}

static void go_from(const struct walk_start *start, unsigned room)
{
	memset(calls, 0xee, sizeof(calls));
	frame_walk(&fake_layout, &fake_tables, start, calls, room, &walk);
	assert_true(walk.count <= room);
	assert_int_equal(calls[room].method, 0xeeeeeeee); /* Nothing behind it is written. */
}

static void go(uint64_t ip)
{
	const struct walk_start start = start_at(ip, 0, 0);

	go_from(&start, ROOM);
}

static const char *name_of(uint32_t number)
{
	return method_copy_text(method_of_number(fake_tables.methods, number), METHOD_NAME);
}

static void assert_calls(const struct expected *expected, unsigned count)
{
	assert_int_equal(walk.count, count);
	for (unsigned i = 0; i < count; i++) {
		assert_string_equal(name_of(calls[i].method), expected[i].name);
		assert_int_equal(calls[i].bci, expected[i].bci);
	}
}

#define ASSERT_CALLS(...)                                                     \
	do {                                                                  \
		const struct expected expected[] = {__VA_ARGS__};             \
		assert_int_equal(walk.end, WALK_ROOT);                        \
		assert_int_equal(walk.cut, CUT_NOT);                          \
		assert_calls(expected, sizeof(expected) / sizeof(*expected)); \
	} while (0)

static void assert_cut(enum walk_cut why, unsigned count)
{
	assert_int_equal(walk.end, WALK_CUT);
	assert_int_equal(walk.cut, why);
	assert_int_equal(walk.count, count);
}

/* a, called by b, called by native code: a at fake_stack[0..4), b at [4..10), the entry's fp at 20.
 */
static uint64_t a, b;

static void two_methods(const struct fake_world *inlined)
{
	a = fake_inlining(0, 4, 1, &fake_methods[0], inlined);
	b = fake_inlining(4, 6, 2, &fake_methods[1], inlined);
	fake_frame(0, 4, b + 8, 0);
	fake_frame(4, 6, CALL_STUB, fake_at(20));
	fake_entry(20, 30, 0, 0, 0);
}

TEST(a_stack_is_told_with_what_is_inlined, fake_stack_setup, fake_stack_teardown)
{
	two_methods(&fake_methods[2]);
	go(a + 5);
	ASSERT_CALLS({"inlined", 9}, {"a", 8}, {"inlined", 9}, {"b", 8});
	assert_int_equal(calls[0].method, calls[2].method);
	assert_int_equal(walk.better, 0);
	assert_false(walk.interpreted);
	assert_false(walk.at_edge);
	/* Another place in the innermost method. */
	go(a + 9);
	ASSERT_CALLS({"inlined", 13}, {"a", 12}, {"inlined", 9}, {"b", 8});
	/* Behind all that is known. */
	go(a + 65);
	ASSERT_CALLS({"a", CALL_BCI_UNKNOWN}, {"inlined", 9}, {"b", 8});
	assert_int_equal(walk.better, 1);
}

TEST(frames_are_read_once, fake_stack_setup, fake_stack_teardown)
{
	uint32_t used;

	two_methods(&fake_methods[2]);
	go(a + 5);
	used = fake_tables.frames->calls_used;
	assert_int_equal(used, 4);
	memset(fake_debugs, 0, sizeof(fake_debugs));
	go(a + 5);
	ASSERT_CALLS({"inlined", 9}, {"a", 8}, {"inlined", 9}, {"b", 8});
	assert_int_equal(fake_tables.frames->calls_used, used);
	/* As a caller its place is another one, and there is nothing to read any more. */
	fake_frame(0, 4, a + 8, 0);
	go(a + 5);
	assert_cut(CUT_EDGE, 2);
}

TEST(a_full_table_of_frames_ends_no_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_tables.frames->calls_used = FRAME_CALLS;
	for (unsigned i = 0; i < 2; i++) {
		go(a + 5);
		ASSERT_CALLS({"a", 8}, {"b", 8});
	}
}

TEST(methods_that_were_met_in_compiled_code_are_marked, fake_stack_setup, fake_stack_teardown)
{
	two_methods(&fake_methods[2]);
	fake_frame(4, 6, INTERPRETER + 8, fake_at(24));
	fake_interpreted(24, fake_address(&fake_methods[3]), fake_bytecode(&fake_methods[3], 2), 0,
			 CALL_STUB, fake_at(40));
	fake_entry(40, 50, 0, 0, 0);
	go(a + 5);
	ASSERT_CALLS({"inlined", 9}, {"a", 8}, {"inlined", 9}, {"b", 8}, {"interpreted", 2});
	for (unsigned i = 0; i < 4; i++)
		assert_true(method_is_compiled(fake_tables.methods, calls[i].method));
	assert_false(method_is_compiled(fake_tables.methods, calls[4].method));
}

TEST(code_that_was_replaced_is_not_taken_for_what_it_was, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"b", 8});
	(void)fake_compiled(4, 6, 3, &fake_methods[2]);
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"inlined", 8});
	/* Freed: its sender is not certain. */
	code_area[(4 << SEGMENT_SHIFT) + 8] = 0;
	go(a + 5);
	assert_cut(CUT_CODE, 1);
}

TEST(a_prologue_that_is_not_understood_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	memcpy((void *)(uintptr_t)a, "\x48\x83\xe4\xf0", 4); /* and rsp, -16 */
	go(a + 3);
	assert_cut(CUT_EDGE, 0);
}

/* Its frame has all of its words already, but the caller's rbp is in the register yet. */
TEST(an_entry_that_has_not_saved_rbp_leaves_it_to_the_caller, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	memcpy((void *)(uintptr_t)a, "\x48\x83\xec\x18", 4); /* sub rsp, 24 */
	fake_blob(0)->complete = 9;
	go(a + 4);
	ASSERT_CALLS({"a", 0}, {"b", 8});
	assert_true(walk.at_edge);
}

TEST(what_inlined_code_has_pushed_lies_below_the_frame, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	memcpy((void *)(uintptr_t)(b + 3), "\xe8\0\0\0\0", 5); /* of Java code */
	memmove(fake_stack + 2, fake_stack, 20 * sizeof(fake_stack[0]));
	fake_stack[0] = fake_stack[1] = 77;
	fake_frame(6, 6, CALL_STUB, fake_at(24));
	fake_entry(24, 34, 0, 0, 0);
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"b", 8});
	/* Two such addresses: nobody knows. */
	memcpy((void *)(uintptr_t)(a + 3), "\xe8\0\0\0\0", 5);
	fake_stack[6] = a + 8;
	go(a + 5);
	assert_cut(CUT_CODE, 1);
}

/* b is to be deoptimised when a returns: its word 1 has where it would have returned to. */
TEST(a_frame_that_is_to_be_deoptimised_has_the_place_itself, fake_stack_setup, fake_stack_teardown)
{
	struct code_layout *code = &fake_layout.code;
	uint64_t handler;

	two_methods(NULL);
	code->deopt_count = 1;
	code->deopt[0] = offsetof(struct fake_blob, deopt);
	code->deopt_is_offset = true;
	code->original_pc = offsetof(struct fake_blob, original_pc);
	fake_blob(4)->deopt = 200;
	fake_blob(4)->original_pc = 8;
	handler = (uintptr_t)fake_blob(4) + 200;
	fake_frame(0, 4, handler, 0);
	fake_stack[5] = b + 8;
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"b", 8});
	assert_true(walk.deoptimised);
	/* In another method's code: it is none. */
	fake_stack[5] = a + 8;
	go(a + 5);
	assert_cut(CUT_EDGE, 1);
}

TEST(a_virtual_threads_stack_ends_with_its_first_method, fake_stack_setup, fake_stack_teardown)
{
	uint64_t return_pc;

	two_methods(NULL);
	return_pc = b + 8;
	fake_layout.continuation.return_pc = &return_pc;
	go(a + 5);
	ASSERT_CALLS({"a", 8});
	assert_true(walk.fiber);
	/* Of JDK 21: by its code. */
	fake_layout.continuation.return_pc = NULL;
	fake_layout.continuation.enter_special = (uintptr_t)fake_blob(4);
	go(a + 5);
	ASSERT_CALLS({"a", 8});
	assert_true(walk.fiber);
}

TEST(frames_that_are_frozen_are_not_missed, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_name(4, fake_stub_name);
	fake_layout.code.name_thaw = (uintptr_t)fake_stub_name;
	go(a + 5);
	ASSERT_CALLS({"a", 8});
	assert_true(walk.fiber);
}

TEST(a_return_into_something_else_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_frame(4, 6, CALL_STUB + 1, fake_at(20));
	go(a + 5);
	assert_cut(CUT_CODE, 2);
	/* Beyond the end of the stack. */
	two_methods(NULL);
	fake_blob(4)->frame_size = STACK_WORDS;
	memset(fake_tables.frames, 0, sizeof(*fake_tables.frames));
	go(a + 5);
	assert_cut(CUT_STACK, 2);
}

TEST(a_caller_stands_where_there_is_debug_information, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_frame(0, 4, b + 9, 0);
	go(a + 5);
	assert_cut(CUT_EDGE, 1);
	/* The nmethod's data says something of another method. */
	two_methods(NULL);
	fake_debugs[1].methods[0] = fake_address(&fake_methods[2]);
	go(a + 5);
	assert_cut(CUT_EDGE, 1);
}

TEST(stacks_that_are_none_are_not_read, fake_stack_setup, fake_stack_teardown)
{
	struct walk_start start;

	two_methods(NULL);
	start = start_at(a + 5, 0, 0);
	start.sp += 4;
	go_from(&start, ROOM);
	assert_cut(CUT_STACK, 0);
	start = start_at(a + 5, 0, 0);
	start.stack_high = start.sp;
	go_from(&start, ROOM);
	assert_cut(CUT_STACK, 0);
	start.stack_high = 0;
	go_from(&start, ROOM);
	assert_cut(CUT_STACK, 0);
}

/* The innermost calls are those that count: as many as there is room for. */
TEST(a_walk_ends_where_there_is_no_more_room, fake_stack_setup, fake_stack_teardown)
{
	const struct expected expected[] = {{"inlined", 9}, {"a", 8}, {"inlined", 9}, {"b", 8}};
	struct walk_start start;

	two_methods(&fake_methods[2]);
	start = start_at(a + 5, 0, 0);
	for (unsigned round = 0; round < 2; round++) { /* new frames, then known ones */
		for (unsigned room = 1; room <= 4; room++) {
			go_from(&start, room);
			assert_int_equal(walk.end, WALK_DEEP);
			assert_int_equal(walk.cut, CUT_NOT);
			assert_calls(expected, room);
		}
		go_from(&start, 5);
		assert_int_equal(walk.end, WALK_ROOT);
		assert_calls(expected, 4);
	}
}

TEST(java_code_called_by_native_code_called_by_java_code_is_one_stack, fake_stack_setup,
     fake_stack_teardown)
{
	two_methods(NULL); /* b is a native method's code; it is left by the anchor of the entry */
	fake_name(4, fake_native_name);
	fake_frame(0, 4, CALL_STUB, fake_at(20));
	fake_entry(20, 30, fake_at(40), b + 8, 0);
	fake_frame(40, 6, a + 8, 0);
	fake_frame(46, 4, CALL_STUB, fake_at(56));
	fake_entry(56, 57, 0, 0, 0);
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"b", CALL_BCI_NATIVE}, {"a", 8});
	/* An anchor that leads back, or off the stack. */
	fake_stack[30] = fake_at(2);
	go(a + 5);
	assert_cut(CUT_ENTRY, 1);
	fake_stack[30] = fake_at(STACK_WORDS);
	go(a + 5);
	assert_cut(CUT_ENTRY, 1);
}

/* What stands for the tick's instruction may lie within another one, whose bytes mean nothing. */
TEST(edges_are_where_the_thread_stands, fake_stack_setup, fake_stack_teardown)
{
	struct walk_start start;

	two_methods(NULL);
	*(uint8_t *)(uintptr_t)(a + 9) = 0xc3;
	start = start_at(a + 9, 0, 0);
	start.ip = a + 5;
	go_from(&start, ROOM);
	ASSERT_CALLS({"a", 12}, {"b", 8});
	assert_false(walk.at_edge);
	/* A return: the address is on top of the stack. */
	fake_stack[0] = b + 8;
	fake_frame(1, 6, CALL_STUB, fake_at(20));
	start.ip = a + 9;
	for (unsigned round = 0; round < 2; round++) { /* new, then known */
		go_from(&start, ROOM);
		ASSERT_CALLS({"a", CALL_BCI_UNKNOWN}, {"b", 8});
		assert_true(walk.at_edge);
		assert_int_equal(walk.better, 1);
	}
}

/* ---------------------------------------------------------------- methods that cannot be named */

TEST(a_method_that_cannot_be_read_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(&fake_methods[2]);
	fake_methods[1].class.users = 0;
	go(a + 5);
	assert_cut(CUT_METHOD, 2);
	assert_true(fake_tables.methods->unread > 0);
	/* Nothing of its frame was remembered. */
	fake_set(&fake_methods[1].class, "p/A");
	go(a + 5);
	ASSERT_CALLS({"inlined", 9}, {"a", 8}, {"inlined", 9}, {"b", 8});
	/* One that is inlined. */
	fake_debugs[0].methods[1] = 64;
	go(a + 13);
	assert_cut(CUT_METHOD, 0);
}

TEST(a_method_without_room_for_its_name_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_tables.methods->count = METHODS_MAX - 1;
	go(a + 5);
	assert_cut(CUT_METHOD, 1);
	assert_int_equal(fake_tables.methods->full, 1);
	assert_int_equal(calls[0].method, METHODS_MAX);
}

TEST(an_interpreted_method_that_cannot_be_read_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	two_methods(NULL);
	fake_frame(0, 4, INTERPRETER + 8, fake_at(20));
	fake_interpreted(20, 64, fake_bytecode(&fake_methods[3], 2), 0, CALL_STUB, fake_at(50));
	fake_entry(50, 52, 0, 0, 0);
	go(a + 5);
	assert_cut(CUT_METHOD, 1);
	fake_stack[20 - 3] = 0;
	go(a + 5);
	assert_cut(CUT_METHOD, 1);
	fake_stack[20 - 3] = fake_address(&fake_methods[3]);
	go(a + 5);
	ASSERT_CALLS({"a", 8}, {"interpreted", 2});
}

/* ---------------------------------------------------------------- interpreted frames */

/* One at fp fake_stack[20], called by native code. */
static void interpreted(unsigned method, uint64_t bcp, uint64_t last_sp)
{
	memset(fake_stack, 0, sizeof(fake_stack));
	fake_interpreted(20, fake_address(&fake_methods[method]), bcp, last_sp, CALL_STUB,
			 fake_at(50));
	fake_entry(50, 52, 0, 0, 0);
}

static uint64_t bytecode(unsigned bci)
{
	return fake_bytecode(&fake_methods[3], bci);
}

/* In a part of the interpreter, with the stack from a word on. */
static void go_interpreted(uint64_t pc, unsigned sp, uint64_t bcp)
{
	struct walk_start start = start_at(INTERPRETER + pc, sp, fake_at(20));

	start.bcp = bcp;
	go_from(&start, ROOM);
}

TEST(an_interpreted_method_tells_its_place_by_what_it_does, fake_stack_setup, fake_stack_teardown)
{
	interpreted(3, bytecode(3), 0);
	go_interpreted(BYTECODE + 4, 4, bytecode(4));
	ASSERT_CALLS({"interpreted", 4});
	assert_int_equal(walk.better, 1);
	assert_true(walk.interpreted);
	go_interpreted(ENTRY + 4, 4, bytecode(4));
	ASSERT_CALLS({"interpreted", 3});
	go_interpreted(4, 4, bytecode(4));
	ASSERT_CALLS({"interpreted", 3});
	go_interpreted(INVOKE + 4, 4, bytecode(4));
	ASSERT_CALLS({"interpreted", 4});
	/* It has called: the register is the other's. */
	interpreted(3, bytecode(3), fake_at(4));
	go_interpreted(INVOKE + 4, 4, bytecode(4));
	ASSERT_CALLS({"interpreted", 3});
}

TEST(an_interpreted_method_in_a_state_that_tells_nothing_ends_a_walk, fake_stack_setup,
     fake_stack_teardown)
{
	interpreted(3, bytecode(3), fake_at(4));
	/* Another frame than the one that runs: that has called. */
	go_interpreted(BYTECODE + 4, 4, bytecode(4));
	assert_cut(CUT_INTERPRETER, 0);
	go_interpreted(ENTRY + 4, 4, bytecode(4));
	assert_cut(CUT_INTERPRETER, 0);
	interpreted(3, bytecode(3), 0);
	go_interpreted(ELSEWHERE + 4, 4, bytecode(4));
	assert_cut(CUT_INTERPRETER, 0);
	/* Not all of it is there yet. */
	go_interpreted(ENTRY + 4, 12, bytecode(4));
	assert_cut(CUT_INTERPRETER, 0);
	/* Its caller's frame would begin in it. */
	fake_stack[20 - 1] = fake_at(21);
	go_interpreted(BYTECODE + 4, 4, bytecode(4));
	assert_cut(CUT_INTERPRETER, 0);
}

TEST(a_place_outside_its_bytecodes_ends_a_walk, fake_stack_setup, fake_stack_teardown)
{
	interpreted(3, bytecode(3), 0);
	go_interpreted(BYTECODE + 4, 4, bytecode(0));
	ASSERT_CALLS({"interpreted", 0});
	go_interpreted(BYTECODE + 4, 4, bytecode(FAKE_CODE_SIZE - 1));
	ASSERT_CALLS({"interpreted", FAKE_CODE_SIZE - 1});
	go_interpreted(BYTECODE + 4, 4, bytecode(FAKE_CODE_SIZE));
	assert_cut(CUT_INTERPRETER, 0);
	go_interpreted(BYTECODE + 4, 4, bytecode(0) - 1);
	assert_cut(CUT_INTERPRETER, 0);
	go_interpreted(BYTECODE + 4, 4, 0);
	assert_cut(CUT_INTERPRETER, 0);
	go_interpreted(BYTECODE + 4, 4, fake_bytecode(&fake_methods[0], 0));
	assert_cut(CUT_INTERPRETER, 0);
	/* So does a caller's. */
	two_methods(NULL);
	fake_frame(0, 4, INTERPRETER + 8, fake_at(20));
	fake_interpreted(20, fake_address(&fake_methods[3]), bytecode(FAKE_CODE_SIZE), 0, CALL_STUB,
			 fake_at(50));
	go(a + 5);
	assert_cut(CUT_INTERPRETER, 1);
}

TEST(a_native_method_that_is_interpreted_has_no_bytecodes, fake_stack_setup, fake_stack_teardown)
{
	fake_methods[3].method.flags = FAKE_NATIVE;
	interpreted(3, 0, 0);
	go_interpreted(ENTRY + 4, 4, 0);
	ASSERT_CALLS({"interpreted", CALL_BCI_NATIVE});
	interpreted(3, bytecode(0), 0);
	go_interpreted(ENTRY + 4, 4, 0);
	assert_cut(CUT_INTERPRETER, 0);
}

TEST(an_interpreted_method_is_looked_at_once_in_an_epoch, fake_stack_setup, fake_stack_teardown)
{
	struct walk_start start = start_at(INTERPRETER + BYTECODE + 4, 4, fake_at(20));

	interpreted(3, bytecode(3), 0);
	start.bcp = bytecode(4);
	go_from(&start, ROOM); /* epoch 0 is one, too */
	fake_set(&fake_methods[3].name, "another");
	go_from(&start, ROOM);
	ASSERT_CALLS({"interpreted", 4});
	start.epoch = 2;
	go_from(&start, ROOM);
	ASSERT_CALLS({"another", 4});
	assert_int_equal(fake_tables.methods->count, 2);
}

/* ---------------------------------------------------------------- other code */

TEST(a_native_methods_code_is_that_method, fake_stack_setup, fake_stack_teardown)
{
	a = fake_compiled(0, 4, 1, &fake_methods[0]);
	fake_name(0, fake_native_name);
	fake_frame(0, 4, CALL_STUB, fake_at(20));
	fake_entry(20, 30, 0, 0, 0);
	go(a + 8);
	ASSERT_CALLS({"a", CALL_BCI_NATIVE});
}

/* As the JVM notes where a thread left Java code: in a stub that a compiled method called. */
TEST(a_stub_that_has_called_stands_for_no_call, fake_stack_setup, fake_stack_teardown)
{
	struct walk_start start;

	two_methods(NULL);
	fake_name(0, fake_stub_name);
	fake_name(4, fake_native_name);
	start = start_at(a + 8, 0, 0);
	start.at_call = true;
	go_from(&start, ROOM);
	ASSERT_CALLS({"b", CALL_BCI_NATIVE});
	assert_int_equal(walk.better, 1);
	/* Whether its frame stands elsewhere nobody knows. */
	start.at_call = false;
	go_from(&start, ROOM);
	assert_cut(CUT_STUB, 0);
}

/* Where a stub returns to need be no place of the JVM's: then the next one counts. */
TEST(behind_a_stub_the_next_place_counts, fake_stack_setup, fake_stack_teardown)
{
	struct walk_start start;

	two_methods(&fake_methods[2]);
	fake_name(0, fake_stub_name);
	fake_frame(0, 4, b + 9, 0);
	start = start_at(a + 8, 0, 0);
	start.at_call = true;
	go_from(&start, ROOM);
	ASSERT_CALLS({"inlined", 13}, {"b", 12});
	assert_int_equal(walk.better, 2);
	assert_int_equal(walk.called_behind, b + 9);
}
