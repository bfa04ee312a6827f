/* Instructions that have been executed, in a code heap that is made up. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/executed.h"
#include "tests/unit/support/agent/code_segments.h"

#define SEGMENTS 8u

static uint64_t stack[4];
#define SP ((uint64_t)(uintptr_t)(stack + 1))

static uint8_t code[SEGMENTS << SEGMENT_SHIFT] __attribute__((aligned(128)));
static struct code_layout layout;

/* Two blobs of four segments. */
static int setup(void **state)
{
	(void)state;
	if (safe_read_init() < 0)
		return -1;
	memset(stack, 0, sizeof(stack));
	memset(code, 0x90, sizeof(code));
	layout = (struct code_layout){.heap_count = 1,
				      .heaps = {code_segments_init(code, sizeof(code))},
				      .block_bytes = BLOCK_BYTES,
				      .block_used = BLOCK_USED};
	code_segments_take(0, SEGMENTS / 2);
	code_segments_take(SEGMENTS / 2, SEGMENTS / 2);
	return 0;
}

#define HERE  ((uintptr_t)code + 100)
#define THERE ((uintptr_t)code + sizeof(code) / 2 + 100)

static struct executed executed(const char *bytes, size_t size, uint64_t rip)
{
	memcpy(code + 100, bytes, size);
	return executed_at(&layout, HERE, rip, SP);
}

TEST(behind_an_instruction_the_stack_is_as_there, setup)
{
	struct executed e = executed("\x55", 1, HERE + 1); /* push rbp */

	assert_int_equal(e.ip, HERE + 1);
	assert_int_equal(e.sp, SP);
	e = executed("\x55", 1, HERE); /* not yet */
	assert_int_equal(e.ip, HERE);
	assert_int_equal(e.sp, SP);
	/* Elsewhere: a jump. */
	e = executed("\xff\x63\x50", 3, THERE);
	assert_int_equal(e.ip, HERE);
	assert_int_equal(e.sp, SP);
}

TEST(calls_and_returns_are_taken_back, setup)
{
	struct executed e;

	stack[1] = HERE + 5;
	e = executed("\xe8\0\0\0\0", 5, THERE);
	assert_int_equal(e.ip, HERE);
	assert_int_equal(e.sp, SP + 8);
	stack[1] = HERE + 3;
	e = executed("\xff\x53\x10", 3, HERE - 50); /* call [rbx+16], of itself */
	assert_int_equal(e.ip, HERE);
	assert_int_equal(e.sp, SP + 8);
	stack[0] = THERE;
	e = executed("\xc3", 1, THERE);
	assert_int_equal(e.ip, HERE);
	assert_int_equal(e.sp, SP - 8);
}

TEST(what_is_to_come_is_not_taken_back, setup)
{
	struct executed e = executed("\xff\x53\x10", 3, HERE - 50);

	assert_int_equal(e.ip, HERE - 50);
	assert_int_equal(e.sp, SP);
	e = executed("\xc3", 1, HERE - 50);
	assert_int_equal(e.ip, HERE - 50);
	assert_int_equal(e.sp, SP);
}

TEST(in_other_code_the_registers_count, setup)
{
	struct executed e = executed_at(&layout, 0x1000, 0x1001, SP);

	assert_int_equal(e.ip, 0x1001);
	assert_int_equal(e.sp, SP);
}
