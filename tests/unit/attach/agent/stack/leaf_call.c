/* C code that compiled code called, in a code heap that is made up. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/leaf_call.h"
#include "tests/unit/support/agent/code_segments.h"

#define SEGMENTS 8u
#define WORDS    700u

enum { FRAME_SIZE = 0, ID = 8, NAME = 16 }; /* offsets in a blob */

static uint8_t code[SEGMENTS << SEGMENT_SHIFT] __attribute__((aligned(128)));
static uint64_t stack[WORDS];
static struct code_layout layout;
static const char name[] = "nmethod";

/* What runs: neither a push nor a return. */
static const uint8_t library[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};

static uint64_t blob_at(unsigned i)
{
	return (uintptr_t)code + (i * SEGMENTS / 2 << SEGMENT_SHIFT) + BLOCK_BYTES;
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)&stack[word];
}

/* Two nmethods, whose frames have four words. */
static int setup(void **state)
{
	(void)state;
	if (safe_read_init() < 0)
		return -1;
	memset(code, 0x90, sizeof(code));
	memset(stack, 0, sizeof(stack));
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t words = 4;
		uint64_t address = (uintptr_t)name;

		memcpy((void *)(uintptr_t)(blob_at(i) + FRAME_SIZE), &words, sizeof(words));
		memcpy((void *)(uintptr_t)(blob_at(i) + NAME), &address, sizeof(address));
	}
	layout = (struct code_layout){.heap_count = 1,
				      .heaps = {code_segments_init(code, sizeof(code))},
				      .block_bytes = BLOCK_BYTES,
				      .block_used = BLOCK_USED,
				      .frame_size = FRAME_SIZE,
				      .compile_id = ID,
				      .name = NAME,
				      .name_compiled = (uintptr_t)name,
				      .name_native = 1};
	code_segments_take(0, SEGMENTS / 2);
	code_segments_take(SEGMENTS / 2, SEGMENTS / 2);
	return 0;
}

/* Calls in a blob, at this offset; where they return to. */
static uint64_t library_call(unsigned blob, unsigned offset)
{
	static const uint8_t load[] = {0x49, 0xba}, call[] = {0x41, 0xff, 0xd2};
	uint64_t target = (uintptr_t)library;
	uint8_t *to = (uint8_t *)(uintptr_t)(blob_at(blob) + offset);

	memcpy(to, load, sizeof(load));
	memcpy(to + 2, &target, sizeof(target));
	memcpy(to + 10, call, sizeof(call));
	return (uintptr_t)to + 13;
}

static uint64_t java_call(unsigned blob, unsigned offset)
{
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
	uint8_t *to = (uint8_t *)(uintptr_t)(blob_at(blob) + offset);

	memcpy(to, call, sizeof(call));
	return (uintptr_t)to + sizeof(call);
}

static bool leave(const uint8_t *pc, unsigned sp, uint64_t fp, struct stub_frame *f)
{
	*f = (struct stub_frame){.pc = (uintptr_t)pc, .sp = at(sp), .fp = fp};
	return leaf_call_leave(&layout, at(WORDS), f);
}

TEST(a_function_that_begins_has_the_address_on_top, setup)
{
	static const uint8_t begins[] = {0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90};
	struct stub_frame f;

	stack[3] = library_call(0, 100);
	assert_true(leave(begins + 1, 3, 7, &f));
	assert_int_equal(f.pc, stack[3]);
	assert_int_equal(f.sp, at(4));
	assert_int_equal(f.fp, 7);
	stack[2] = 9; /* and then its caller's rbp */
	assert_true(leave(begins + 2, 2, 7, &f));
	assert_int_equal(f.pc, stack[3]);
	assert_int_equal(f.sp, at(4));
	assert_int_equal(f.fp, 9);
	stack[3] = java_call(0, 100);
	assert_false(leave(begins + 1, 3, 7, &f));
	assert_false(leave(begins + 2, 2, 7, &f));
}

TEST(frame_pointers_lead_to_the_call, setup)
{
	struct stub_frame f;

	stack[1] = library_call(1, 150); /* left by an earlier call */
	stack[4] = at(8);
	stack[5] = (uintptr_t)library + 2;
	stack[8] = 77;
	stack[9] = library_call(0, 100);
	assert_true(leave(library + 1, 0, at(4), &f));
	assert_int_equal(f.pc, stack[9]);
	assert_int_equal(f.sp, at(10));
	assert_int_equal(f.fp, 77);
}

/* rbp is an interpreted frame's: its return address is that of another call. */
TEST(frame_pointers_that_lead_past_the_call_are_none, setup)
{
	struct stub_frame f;

	stack[20] = at(30);
	stack[21] = java_call(1, 100);
	assert_false(leave(library + 1, 0, at(20), &f));
}

TEST(without_frame_pointers_it_is_the_only_such_address, setup)
{
	struct stub_frame f;

	stack[3] = library_call(0, 100);
	stack[7] = java_call(1, 100); /* behind four words */
	assert_true(leave(library + 1, 0, 5, &f));
	assert_int_equal(f.pc, stack[3]);
	assert_int_equal(f.sp, at(4));
	/* One whose frame does not fit is none. */
	stack[5] = library_call(0, 150);
	assert_true(leave(library + 1, 0, 5, &f));
	assert_int_equal(f.pc, stack[3]);
	/* Two that fit: one was left by an earlier call. */
	stack[9] = stack[7];
	assert_false(leave(library + 1, 0, 5, &f));
	stack[9] = 0;
	/* Java code's own address is before it. */
	stack[2] = java_call(0, 200);
	assert_false(leave(library + 1, 0, 5, &f));
}

TEST(a_stub_whose_frame_nobody_knows_is_left_likewise, setup)
{
	struct stub_frame f = {.pc = blob_at(1) + 60, .sp = at(0), .fp = 5};
	uint8_t *call = (uint8_t *)(uintptr_t)(blob_at(0) + 100);
	int32_t distance = (int32_t)(blob_at(1) + 50 - (blob_at(0) + 105));

	call[0] = 0xe8;
	memcpy(call + 1, &distance, sizeof(distance));
	stack[3] = (uintptr_t)call + 5;
	stack[7] = java_call(1, 100);
	assert_true(leaf_call_leave_stub(&layout, blob_at(1), at(WORDS), &f));
	assert_int_equal(f.pc, (uintptr_t)call + 5);
	assert_int_equal(f.sp, at(4));
	/* Of another one. */
	f.sp = at(0);
	assert_false(leaf_call_leave_stub(&layout, blob_at(0), at(WORDS), &f));
	/* Twice. */
	stack[5] = stack[3];
	stack[9] = stack[7];
	assert_false(leaf_call_leave_stub(&layout, blob_at(1), at(WORDS), &f));
}
