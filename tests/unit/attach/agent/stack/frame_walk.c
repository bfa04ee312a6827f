/* Walks of stacks that are made up, in a code heap that is, too: three compiled methods and the
 * interpreter, called from an entry frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/frame_walk.h"
#include "tests/unit/support/agent/code.h"

#define SEGMENT_SHIFT 7u
#define SEGMENTS      (CODE_BYTES >> SEGMENT_SHIFT)
#define BLOCK_BYTES   16u
#define BLOB_BYTES    64u /* of its header */
#define BLOB_SEGMENTS 4u

enum {
	FRAME_SIZE = 0,
	COMPLETE = 4,
	BEGIN = 8,
	ID = 12,
	NAME = 16,
	DEOPT = 24,
	ORIGINAL_PC = 28
}; /* offsets in a blob's header */

#define STACK_WORDS  64u
#define CALL_STUB    UINT64_C(0x777000)
#define INTERPRETER  UINT64_C(0x888000)
#define ANCHOR_BYTES 16u

static uint8_t segments[SEGMENTS];
static uint64_t segments_end, committed_end;
static uint64_t stack[STACK_WORDS];
static uint64_t ids[2], wrapper_method; /* what ids that are pointers lead to */
static struct frame_layout layout;
static struct frame_table *table;
static struct frame_walk walk;

static uint64_t blob_at(unsigned segment)
{
	return (uintptr_t)code_area + (segment << SEGMENT_SHIFT) + BLOCK_BYTES;
}

static void put(uint64_t address, uint32_t value)
{
	memcpy((void *)(uintptr_t)address, &value, sizeof(value));
}

/* An nmethod of four segments; returns its first instruction. Each fourth byte from 4 on is a
 * return address. */
static uint64_t compiled(unsigned segment, uint32_t words, uint32_t id, uint64_t method)
{
	uint64_t blob = blob_at(segment), begin = blob + BLOB_BYTES;
	uint32_t pcs[16];

	for (uint32_t i = 0; i < 16; i++)
		pcs[i] = 4 * (i + 1);
	code_area[(segment << SEGMENT_SHIFT) + 8] = 1;
	for (unsigned i = 0; i < BLOB_SEGMENTS; i++)
		segments[segment + i] = (uint8_t)i;
	put(blob + FRAME_SIZE, words);
	put(blob + COMPLETE, 4);
	put(blob + BEGIN, BLOB_BYTES);
	put(blob + ID, id);
	add_compiled(begin, 256, method, pcs, 16);
	return begin;
}

static int setup(void **state)
{
	if (code_setup(state) < 0)
		return -1;
	memset(segments, 0xff, sizeof(segments));
	memset(stack, 0, sizeof(stack));
	segments_end = (uintptr_t)segments + SEGMENTS;
	committed_end = (uintptr_t)code_area + CODE_BYTES;
	layout =
	    (struct frame_layout){.code = {.heap_count = 1,
					   .heaps = {{.low = (uintptr_t)code_area,
						      .high = (uintptr_t)code_area + CODE_BYTES,
						      .segments = (uintptr_t)segments,
						      .segments_end = &segments_end,
						      .committed_end = &committed_end,
						      .segment_shift = SEGMENT_SHIFT}},
					   .block_bytes = BLOCK_BYTES,
					   .block_used = 8,
					   .frame_size = FRAME_SIZE,
					   .frame_complete = COMPLETE,
					   .code_begin = BEGIN,
					   .compile_id = ID,
					   .code_begin_is_offset = true},
				  .interpreter = {.low = INTERPRETER, .high = INTERPRETER + 0x1000},
				  .call_stub_return = CALL_STUB,
				  .wrapper_anchor = ANCHOR_BYTES,
				  .anchor = {.sp = 0, .pc = 8, .fp = 16}};
	table = calloc(1, sizeof(*table));
	return table ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)&stack[word];
}

/* A compiled frame of so many words that begins at stack[from]. */
static void frame(unsigned from, unsigned words, uint64_t return_pc, uint64_t saved_fp)
{
	stack[from + words - 1] = return_pc;
	stack[from + words - 2] = saved_fp;
}

/* The frame of an entry from native code at fp stack[fp], and its anchor at stack[anchor]. */
static void entry(unsigned fp, unsigned anchor, uint64_t sp, uint64_t pc, uint64_t last_fp)
{
	stack[fp - 6] = at(anchor) - ANCHOR_BYTES;
	stack[anchor] = sp;
	stack[anchor + 1] = pc;
	stack[anchor + 2] = last_fp;
}

static void go(uint64_t pc, unsigned sp, uint64_t fp, uint32_t epoch)
{
	const struct walk_start start = {.ip = pc,
					 .pc = pc,
					 .sp = at(sp),
					 .fp = fp,
					 .stack_high = at(STACK_WORDS),
					 .epoch = epoch};

	frame_walk(&layout, table, &start, 100, &walk);
}

static struct agct_frame call(jint bci, uint64_t method)
{
	return (struct agct_frame){.bci = bci, .method = (jmethodID)(uintptr_t)method};
}

static void learn(const struct agct_frame *calls, unsigned count)
{
	const struct frame_answer answer = {.calls = calls, .count = count};

	frame_walk_learn(&layout, table, &walk, &answer);
}

static void assert_calls(const struct agct_frame *calls, unsigned count)
{
	struct agct_frame found[100];

	assert_int_equal(walk.unknown, 0);
	assert_int_equal(frame_walk_calls(&walk, table, found, 100), count);
	for (unsigned i = 0; i < count; i++) {
		assert_ptr_equal(found[i].method, calls[i].method);
		assert_int_equal(found[i].bci, calls[i].bci);
	}
}

/* a, called by b, called by native code: a at stack[0..4), b at [4..10), the entry's fp at 20. */
static uint64_t a, b;

static void two_methods(void)
{
	a = compiled(0, 4, 1, 100);
	b = compiled(4, 6, 2, 200);
	frame(0, 4, b + 8, 0);
	frame(4, 6, CALL_STUB, at(20));
	entry(20, 30, 0, 0, 0);
}

static void a_stack_is_recognised_once_the_jvm_has_told_it(void **state)
{
	const struct agct_frame calls[] = {call(1, 101), call(2, 100), call(3, 201), call(4, 200)};

	(void)state;
	two_methods();
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.unknown, 2);
	learn(calls, 4);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(calls, 4);
	/* Another place in the innermost method: its caller is known. */
	go(a + 9, 0, 0, 0);
	assert_int_equal(walk.unknown, 1);
	assert_null(walk.frames[0].entry);
}

static void code_that_was_replaced_is_not_taken_for_what_it_was(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(2, 200)};

	(void)state;
	two_methods();
	go(a + 5, 0, 0, 0);
	learn(calls, 2);
	(void)compiled(4, 6, 3, 300);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.unknown, 1);
	assert_null(walk.frames[1].entry);
	/* Freed: its sender is not certain. */
	code_area[(4 << SEGMENT_SHIFT) + 8] = 0;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_CUT);
}

static void a_prologue_that_is_not_understood_ends_a_walk(void **state)
{
	(void)state;
	two_methods();
	memcpy((void *)(uintptr_t)a, "\x48\x83\xe4\xf0", 4); /* and rsp, -16 */
	go(a + 3, 0, 0, 0);
	assert_int_equal(walk.end, WALK_CUT);
	assert_int_equal(walk.count, 0);
}

/* Its frame has all of its words already, but the caller's rbp is in the register yet. */
static void an_entry_that_has_not_saved_rbp_leaves_it_to_the_caller(void **state)
{
	(void)state;
	two_methods();
	memcpy((void *)(uintptr_t)a, "\x48\x83\xec\x18", 4); /* sub rsp, 24 */
	put(blob_at(0) + COMPLETE, 9);
	stack[2] = 99;
	go(a + 4, 0, 7, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.frames[0].words, 4);
	assert_int_equal(walk.frames[1].fp, 7);
	assert_true(frame_walk_is_at_edge(&walk));
}

static void a_return_into_something_else_ends_a_walk(void **state)
{
	(void)state;
	two_methods();
	frame(4, 6, CALL_STUB + 1, at(20));
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_CUT);
	/* Beyond the end of the stack. */
	two_methods();
	put(blob_at(4) + FRAME_SIZE, STACK_WORDS);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_CUT);
}

/* A deoptimised frame returns where there is no debug information. */
static void a_return_without_debug_information_is_never_learnt(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(2, 200)};

	(void)state;
	two_methods();
	frame(0, 4, b + 9, 0);
	go(a + 5, 0, 0, 0);
	learn(calls, 2);
	go(a + 5, 0, 0, 0);
	assert_non_null(walk.frames[0].entry);
	assert_null(walk.frames[1].entry);
}

/* a inlined in itself: one call of frame 0 and two of frame 1, or the other way round. */
static void what_is_in_doubt_is_not_learnt(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(2, 100), call(3, 100), call(4, 200)};

	(void)state;
	two_methods();
	frame(0, 4, a + 8, 0);
	frame(4, 4, b + 8, 0);
	frame(8, 6, CALL_STUB, at(20));
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.unknown, 3);
	learn(calls, 4);
	go(a + 5, 0, 0, 0);
	assert_null(walk.frames[0].entry);
	assert_null(walk.frames[1].entry);
	assert_null(walk.frames[2].entry); /* the third call may be inlined in b */
}

static unsigned count_from(void *arg, const struct walk_frame *f)
{
	(void)arg;
	return f->key.key == (a + 8) << 1 ? 3 : 1;
}

/* One frame at a time: those that are left are met again. */
static void the_jvm_settles_what_is_in_doubt(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(2, 100), call(3, 100), call(4, 200)};
	const struct frame_answer answer = {.calls = calls, .count = 4, .count_from = count_from};

	(void)state;
	two_methods();
	frame(0, 4, a + 8, 0);
	frame(4, 4, b + 8, 0);
	frame(8, 6, CALL_STUB, at(20));
	for (unsigned unknown = 3; unknown > 0; unknown -= unknown == 3 ? 1 : 2) {
		go(a + 5, 0, 0, 0);
		assert_int_equal(walk.unknown, unknown);
		frame_walk_learn(&layout, table, &walk, &answer);
	}
	go(a + 5, 0, 0, 0);
	assert_calls(calls, 4);
	assert_int_equal(walk.frames[0].entry->count, 1);
	assert_int_equal(walk.frames[1].entry->count, 2);
}

/* An interpreted caller at fp stack[20], of the Method at method. */
static void interpreted_caller(uint64_t method)
{
	a = compiled(0, 4, 1, 100);
	frame(0, 4, INTERPRETER + 8, at(20));
	stack[20 - 8] = 0x4444;
	stack[20 - 3] = method;
	stack[20 - 1] = at(22);
	stack[20] = at(30);
	stack[21] = CALL_STUB;
	entry(30, 40, 0, 0, 0);
}

static void an_interpreted_frame_is_known_while_its_epoch_lasts(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(7, 500)};

	(void)state;
	interpreted_caller(0x5000);
	go(a + 5, 0, 0, 2);
	learn(calls, 2);
	go(a + 5, 0, 0, 2);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(calls, 2);
	go(a + 5, 0, 0, 4);
	assert_int_equal(walk.unknown, 1);
}

static void an_id_that_leads_to_another_method_is_not_used(void **state)
{
	uint64_t id = (uintptr_t)&wrapper_method;
	const struct agct_frame calls[] = {call(1, 100), call(7, id)};

	(void)state;
	layout.ids_are_pointers = true;
	wrapper_method = 0x5000;
	interpreted_caller(0x5000);
	go(a + 5, 0, 0, 2);
	learn(calls, 2);
	go(a + 5, 0, 0, 4);
	assert_calls(calls, 2);
	wrapper_method = 0;
	go(a + 5, 0, 0, 4);
	assert_int_equal(walk.unknown, 1);
}

static void java_code_called_by_native_code_called_by_java_code_is_one_stack(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(CALL_BCI_NATIVE, 200), call(4, 100)};

	(void)state;
	two_methods(); /* b is a native method's code; it is left by the anchor of the entry */
	entry(20, 30, at(40), b + 8, 0);
	frame(4, 6, 0, 0);
	frame(0, 4, CALL_STUB, at(20));
	frame(40, 6, a + 8, 0);
	frame(46, 4, CALL_STUB, at(56));
	entry(56, 57, 0, 0, 0);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.count, 3);
	learn(calls, 3);
	go(a + 5, 0, 0, 0);
	assert_calls(calls, 3);
}

static void an_answer_that_does_not_fit_teaches_nothing(void **state)
{
	const struct agct_frame calls[] = {call(1, 100), call(2, 300)};

	(void)state;
	two_methods();
	go(a + 5, 0, 0, 0);
	learn(calls, 2);
	learn(calls, 1);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.unknown, 2);
}

/* What stands for the tick's instruction may lie within another one, whose bytes mean nothing. */
static void edges_are_where_the_thread_stands(void **state)
{
	struct walk_start start = {.sp = at(0), .stack_high = at(STACK_WORDS)};

	(void)state;
	two_methods();
	*(uint8_t *)(uintptr_t)(a + 9) = 0xc3;
	start.ip = a + 5;
	start.pc = a + 9;
	frame_walk(&layout, table, &start, 100, &walk);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.frames[0].words, 4);
	/* A return: the address is on top of the stack. */
	stack[0] = b + 8;
	frame(1, 6, CALL_STUB, at(20));
	start.ip = a + 9;
	frame_walk(&layout, table, &start, 100, &walk);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.frames[0].words, 1);
	assert_true(frame_walk_is_at_edge(&walk));
}

/* ---------------------------------------------------------------- without the JVM */

#define BYTECODE  0x100u /* offsets of the interpreter's parts */
#define INVOKE    0x200u
#define ENTRY     0x300u
#define ELSEWHERE 0x400u
#define CODE_SIZE 20u

/* A Method: its ConstMethod; its flags. A ConstMethod: how many bytecodes it has, then those, its
 * constant pool and its number in its class, which leads to its id. */
static struct {
	uint64_t const_method;
	uint64_t flags;
} methods[2];
enum { CONSTANTS = 4, NUMBER, CONST_WORDS };
static uint64_t const_methods[2][CONST_WORDS], pool, class, class_ids[3];

static uint64_t bytecode(unsigned method, unsigned bci)
{
	return (uintptr_t)&const_methods[method][1] + bci;
}

static void make_interpreter(void)
{
	struct interpreter *in = &layout.interpreter;

	(void)scopes_init();
	(void)safe_read_init();
	scopes_release();
	assert_true(interpreter_add(in, "return entry points", BYTECODE));
	assert_true(interpreter_add(in, "iadd", INVOKE - BYTECODE));
	assert_true(interpreter_add(in, "invokestatic", ENTRY - INVOKE));
	assert_true(
	    interpreter_add(in, "method entry point (kind = zerolocals)", ELSEWHERE - ENTRY));
	assert_true(interpreter_add(in, "slow signature handler", 0x100));
	in->methods_known = true;
	in->method_flags = 8;
	in->const_bytes = 8;
	in->const_code = 0;
	layout.ids_are_pointers = layout.scopes.ids_are_pointers = true;
	layout.scopes.methods_known = true;
	layout.scopes.const_constants = CONSTANTS * sizeof(uint64_t);
	layout.scopes.const_number = NUMBER * sizeof(uint64_t);
	pool = (uintptr_t) & class;
	class = (uintptr_t)class_ids;
	class_ids[0] = 2;
	for (unsigned i = 0; i < 2; i++) {
		methods[i].const_method = (uintptr_t)const_methods[i];
		methods[i].flags = 0;
		const_methods[i][0] = CODE_SIZE;
		ids[i] = (uintptr_t)&methods[i];
		const_methods[i][CONSTANTS] = (uintptr_t)&pool;
		const_methods[i][NUMBER] = i;
		class_ids[i + 1] = (uintptr_t)&ids[i];
	}
}

/* An interpreted frame at fp stack[fp], called by native code. */
static void interpreted(unsigned fp, unsigned method, uint64_t bcp, uint64_t last_sp)
{
	memset(stack, 0, sizeof(stack));
	stack[fp - 8] = bcp;
	stack[fp - 3] = (uintptr_t)&methods[method];
	stack[fp - 2] = last_sp;
	stack[fp - 1] = at(fp + 2);
	stack[fp] = at(50);
	stack[fp + 1] = CALL_STUB;
	entry(50, 52, 0, 0, 0);
}

static void go_interpreted(uint64_t pc, unsigned sp, unsigned fp, uint64_t bcp)
{
	const struct walk_start start = {.ip = INTERPRETER + pc,
					 .pc = INTERPRETER + pc,
					 .sp = at(sp),
					 .fp = at(fp),
					 .bcp = bcp,
					 .stack_high = at(STACK_WORDS)};

	frame_walk(&layout, table, &start, 100, &walk);
}

static void an_interpreted_method_tells_its_place_by_what_it_does(void **state)
{
	const struct agct_frame in_register[] = {call(5, (uintptr_t)&ids[0])};
	const struct agct_frame in_frame[] = {call(3, (uintptr_t)&ids[0])};

	(void)state;
	make_interpreter();
	interpreted(20, 0, bytecode(0, 3), 0);
	go_interpreted(BYTECODE + 4, 4, 20, bytecode(0, 5));
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(in_register, 1);
	assert_int_equal(frame_walk_better(&walk, table), 1);
	go_interpreted(ENTRY + 4, 4, 20, bytecode(0, 5));
	assert_calls(in_frame, 1);
	go_interpreted(4, 4, 20, bytecode(0, 5));
	assert_calls(in_frame, 1);
	go_interpreted(INVOKE + 4, 4, 20, bytecode(0, 5));
	assert_calls(in_register, 1);
	/* It has called: the register is the other's. */
	interpreted(20, 0, bytecode(0, 3), at(4));
	go_interpreted(INVOKE + 4, 4, 20, bytecode(0, 5));
	assert_calls(in_frame, 1);
}

static void an_interpreted_method_in_a_state_that_tells_nothing_ends_a_walk(void **state)
{
	(void)state;
	make_interpreter();
	interpreted(20, 0, bytecode(0, 3), at(4));
	/* Another frame than the one that runs: that has called. */
	go_interpreted(BYTECODE + 4, 4, 20, bytecode(0, 5));
	assert_int_equal(walk.end, WALK_CUT);
	assert_int_equal(walk.cut, CUT_INTERPRETER);
	go_interpreted(ENTRY + 4, 4, 20, bytecode(0, 5));
	assert_int_equal(walk.end, WALK_CUT);
	interpreted(20, 0, bytecode(0, 3), 0);
	go_interpreted(ELSEWHERE + 4, 4, 20, bytecode(0, 5));
	assert_int_equal(walk.end, WALK_CUT);
	/* Not all of it is there yet. */
	go_interpreted(ENTRY + 4, 12, 20, bytecode(0, 5));
	assert_int_equal(walk.end, WALK_CUT);
	/* No place in the method. */
	go_interpreted(BYTECODE + 4, 4, 20, bytecode(0, CODE_SIZE));
	assert_int_equal(walk.end, WALK_CUT);
	go_interpreted(BYTECODE + 4, 4, 20, bytecode(1, 0));
	assert_int_equal(walk.end, WALK_CUT);
}

static void a_native_method_that_is_interpreted_has_no_bytecodes(void **state)
{
	const struct agct_frame native[] = {call(CALL_BCI_NATIVE, (uintptr_t)&ids[1])};

	(void)state;
	make_interpreter();
	methods[1].flags = 0x100;
	interpreted(20, 1, 0, 0);
	go_interpreted(ENTRY + 4, 4, 20, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(native, 1);
}

/* Of stubs and nmethods the names are at these addresses. */
static const char name_compiled[] = "nmethod", name_native[] = "native nmethod", name_stub[] = "x";

static void name_blob(unsigned segment, const char *name)
{
	uint64_t address = (uintptr_t)name;

	layout.code.name = NAME;
	layout.code.name_compiled = (uintptr_t)name_compiled;
	layout.code.name_native = (uintptr_t)name_native;
	memcpy((void *)(uintptr_t)(blob_at(segment) + NAME), &address, sizeof(address));
}

static void a_native_methods_code_is_that_method(void **state)
{
	const struct agct_frame calls[] = {call(CALL_BCI_NATIVE, 100)};

	(void)state;
	a = compiled(0, 4, 1, 100);
	name_blob(0, name_native);
	frame(0, 4, CALL_STUB, at(20));
	entry(20, 30, 0, 0, 0);
	go(a + 8, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(calls, 1);
}

/* As the JVM notes where a thread left Java code: in a stub that a compiled method called. */
static void a_stub_that_has_called_stands_for_no_call(void **state)
{
	const struct agct_frame calls[] = {call(CALL_BCI_NATIVE, 200)};
	struct walk_start start = {.sp = at(0), .stack_high = at(STACK_WORDS), .at_call = true};

	(void)state;
	a = compiled(0, 4, 1, 100);
	b = compiled(4, 6, 2, 200);
	name_blob(0, name_stub);
	name_blob(4, name_native);
	frame(0, 4, b + 8, 0);
	frame(4, 6, CALL_STUB, at(20));
	entry(20, 30, 0, 0, 0);
	start.pc = start.ip = a + 8;
	frame_walk(&layout, table, &start, 100, &walk);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_calls(calls, 1);
	assert_int_equal(frame_walk_better(&walk, table), 1);
	/* Whether its frame stands elsewhere nobody knows. */
	start.at_call = false;
	frame_walk(&layout, table, &start, 100, &walk);
	assert_int_equal(walk.end, WALK_CUT);
	assert_int_equal(walk.cut, CUT_STUB);
}

static void what_inlined_code_has_pushed_lies_below_the_frame(void **state)
{
	(void)state;
	two_methods();
	memcpy((void *)(uintptr_t)(b + 3), "\xe8\0\0\0\0", 5); /* of Java code */
	memmove(stack + 2, stack, 20 * sizeof(stack[0]));
	stack[0] = stack[1] = 77;
	stack[2 + 9] = CALL_STUB;
	entry(22, 30, 0, 0, 0);
	stack[2 + 8] = at(22);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.count, 2);
	/* Two such addresses: nobody knows. */
	memcpy((void *)(uintptr_t)(a + 3), "\xe8\0\0\0\0", 5);
	stack[6] = a + 8;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_CUT);
}

/* b is to be deoptimised when a returns: its word 1 has where it would have returned to. */
static void a_frame_that_is_to_be_deoptimised_has_the_place_itself(void **state)
{
	const uint32_t handler = BLOB_BYTES + 100, place = 8;

	(void)state;
	two_methods();
	layout.code.deopt_count = 1;
	layout.code.deopt[0] = DEOPT;
	layout.code.deopt_is_offset = true;
	layout.code.original_pc = ORIGINAL_PC;
	put(blob_at(4) + DEOPT, handler);
	put(blob_at(4) + ORIGINAL_PC, place);
	stack[3] = blob_at(4) + handler;
	stack[5] = b + 8;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.frames[1].key.key, (b + 8) << 1);
	/* In another method's code: it is none. */
	stack[5] = a + 8;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.frames[1].key.key, (blob_at(4) + handler) << 1);
}

static void a_virtual_threads_stack_ends_with_its_first_method(void **state)
{
	uint64_t return_pc;

	(void)state;
	two_methods();
	return_pc = b + 8;
	layout.continuation.return_pc = &return_pc;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.count, 1);
	assert_true(walk.fiber);
	/* Of JDK 21: by its code. */
	layout.continuation.return_pc = NULL;
	layout.continuation.enter_special = blob_at(4);
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.count, 1);
	assert_true(walk.fiber);
	/* The carrier's own. */
	go(b + 8, 4, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_false(walk.fiber);
}

static void frames_that_are_frozen_are_not_missed(void **state)
{
	(void)state;
	two_methods();
	name_blob(0, name_compiled);
	name_blob(4, name_stub);
	layout.code.name_thaw = (uintptr_t)name_stub;
	go(a + 5, 0, 0, 0);
	assert_int_equal(walk.end, WALK_ROOT);
	assert_int_equal(walk.count, 1);
	assert_true(walk.fiber);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_stack_is_recognised_once_the_jvm_has_told_it),
	    TEST(code_that_was_replaced_is_not_taken_for_what_it_was),
	    TEST(a_prologue_that_is_not_understood_ends_a_walk),
	    TEST(an_entry_that_has_not_saved_rbp_leaves_it_to_the_caller),
	    TEST(a_return_into_something_else_ends_a_walk),
	    TEST(a_return_without_debug_information_is_never_learnt),
	    TEST(what_is_in_doubt_is_not_learnt),
	    TEST(the_jvm_settles_what_is_in_doubt),
	    TEST(an_interpreted_frame_is_known_while_its_epoch_lasts),
	    TEST(an_id_that_leads_to_another_method_is_not_used),
	    TEST(java_code_called_by_native_code_called_by_java_code_is_one_stack),
	    TEST(an_answer_that_does_not_fit_teaches_nothing),
	    TEST(edges_are_where_the_thread_stands),
	    TEST(an_interpreted_method_tells_its_place_by_what_it_does),
	    TEST(an_interpreted_method_in_a_state_that_tells_nothing_ends_a_walk),
	    TEST(a_native_method_that_is_interpreted_has_no_bytecodes),
	    TEST(a_native_methods_code_is_that_method),
	    TEST(what_inlined_code_has_pushed_lies_below_the_frame),
	    TEST(a_frame_that_is_to_be_deoptimised_has_the_place_itself),
	    TEST(a_virtual_threads_stack_ends_with_its_first_method),
	    TEST(frames_that_are_frozen_are_not_missed),
	    TEST(a_stub_that_has_called_stands_for_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
