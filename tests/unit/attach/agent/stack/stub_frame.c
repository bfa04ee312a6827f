/* Stubs in a code heap that is made up, and who called them. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/stack/stub_frame.h"
#include "tests/unit/support/agent/code_segments.h"

#define SEGMENTS      16u
#define BLOB_SEGMENTS 4u
#define WORDS         400u

static uint8_t code[SEGMENTS << SEGMENT_SHIFT] __attribute__((aligned(128)));
static uint64_t stack[WORDS];
static struct code_layout layout;

static uint64_t blob_at(unsigned segment)
{
	return (uintptr_t)code + (segment << SEGMENT_SHIFT) + BLOCK_BYTES;
}

static uint64_t at(unsigned word)
{
	return (uintptr_t)&stack[word];
}

/* Two blobs: a stub, and who calls it. */
static int setup(void **state)
{
	(void)state;
	memset(code, 0x90, sizeof(code));
	memset(stack, 0, sizeof(stack));
	layout = (struct code_layout){.heap_count = 1,
				      .heaps = {code_segments_init(code, sizeof(code))},
				      .block_bytes = BLOCK_BYTES,
				      .block_used = BLOCK_USED};
	code_segments_take(0, BLOB_SEGMENTS);
	code_segments_take(BLOB_SEGMENTS, BLOB_SEGMENTS);
	return 0;
}

#define STUB   blob_at(0)
#define CALLER blob_at(BLOB_SEGMENTS)

/* A call at the place in the caller; returns where it returns to. */
static uint64_t near_call(uint64_t target)
{
	uint8_t *to = (uint8_t *)(uintptr_t)(CALLER + 100);
	int32_t distance = (int32_t)(target - (CALLER + 105));

	to[0] = 0xe8;
	memcpy(to + 1, &distance, sizeof(distance));
	return CALLER + 105;
}

static uint64_t far_call(uint64_t target)
{
	static const uint8_t move[] = {0x49, 0xba}, call[] = {0x41, 0xff, 0xd2};
	uint8_t *to = (uint8_t *)(uintptr_t)(CALLER + 200);

	memcpy(to, move, sizeof(move));
	memcpy(to + 2, &target, sizeof(target));
	memcpy(to + 10, call, sizeof(call));
	return CALLER + 213;
}

static bool leave(struct stub_frame *f, unsigned sp, uint64_t fp)
{
	*f = (struct stub_frame){.pc = STUB + 60, .sp = at(sp), .fp = fp};
	return stub_frame_leave(&layout, STUB, at(WORDS), f);
}

TEST(a_stub_without_a_frame_has_the_return_address_on_top, setup)
{
	struct stub_frame f;

	stack[3] = near_call(STUB + 50);
	assert_true(leave(&f, 3, 7));
	assert_int_equal(f.pc, CALLER + 105);
	assert_int_equal(f.sp, at(4));
	assert_int_equal(f.fp, 7);
	stack[3] = far_call(STUB + 50);
	assert_true(leave(&f, 3, 7));
	assert_int_equal(f.pc, CALLER + 213);
}

TEST(a_stub_with_a_frame_pointer_has_it_behind_that, setup)
{
	struct stub_frame f;

	stack[3] = near_call(STUB + 50);
	stack[4] = 1234;
	stack[5] = far_call(STUB + 50);
	stack[3] = 99;
	assert_true(leave(&f, 3, at(4)));
	assert_int_equal(f.pc, CALLER + 213);
	assert_int_equal(f.sp, at(6));
	assert_int_equal(f.fp, 1234);
}

TEST(what_no_call_of_the_stub_stands_before_is_no_return_address, setup)
{
	struct stub_frame f;

	stack[3] = near_call(CALLER + 50); /* of something else */
	assert_false(leave(&f, 3, 0));
	stack[3] = CALLER + 110; /* no call */
	assert_false(leave(&f, 3, 0));
	stack[3] = CALLER + 2; /* nothing of the blob's is before it */
	assert_false(leave(&f, 3, 0));
	stack[3] = 0x1234;
	assert_false(leave(&f, 3, 0));
}

TEST(what_lies_beyond_the_stack_is_not_read, setup)
{
	struct stub_frame f;

	stack[WORDS - 1] = near_call(STUB + 50);
	assert_false(leave(&f, WORDS - 1, 0));
	assert_false(leave(&f, WORDS - 3, at(WORDS - 2)));
	/* A frame pointer that is not the stub's. */
	stack[390] = near_call(STUB + 50);
	assert_false(leave(&f, 3, at(389)));
	assert_false(leave(&f, 3, at(2)));
	assert_false(leave(&f, 3, at(100) + 4));
}
