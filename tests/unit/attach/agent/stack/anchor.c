/* What a thread's anchor says, in a JavaThread that is made up. */
#include "tests/unit/support/test.h"

#include "attach/agent/stack/anchor.h"

#define IN_JAVA   8
#define IN_NATIVE 4

static struct {
	int32_t state;
	uint64_t sp, fp, pc;
} thread;

static const struct anchor_layout layout = {
    .known = true,
    .anchor = offsetof(__typeof__(thread), sp),
    .sp = 0,
    .fp = 8,
    .pc = 16,
    .state = offsetof(__typeof__(thread), state),
    .in_java = IN_JAVA,
};

TEST(an_anchor_is_read_where_the_thread_has_it)
{
	struct anchor a;

	thread.sp = 1000;
	thread.fp = 2000;
	thread.pc = 3000;
	thread.state = IN_NATIVE;
	a = anchor_of(&layout, (uintptr_t)&thread);
	assert_int_equal(a.sp, 1000);
	assert_int_equal(a.fp, 2000);
	assert_int_equal(a.pc, 3000);
	assert_false(a.in_java);
	thread.state = IN_JAVA;
	thread.sp = 0;
	a = anchor_of(&layout, (uintptr_t)&thread);
	assert_int_equal(a.sp, 0);
	assert_true(a.in_java);
}
