/* How the calling context of a sample was told, or why it was not: counted once. */
#include "tests/unit/support/test.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/handler/thread.h"
#include "tests/unit/support/agent/one_frame.h"
#include "tests/unit/support/agent/own_thread.h"

static int set_up(void **state)
{
	(void)state;
	one_frame_result = STACK_OK;
	one_frame_witness = WITNESS_NONE;
	return (handlers.contexts ? 0 : own_process_init()) < 0 || own_thread_init() < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	thread_recycle(t);
	return 0;
}

static const Jxp__Counter counters[] = {
    JXP__COUNTER__COUNTER_CONTEXTS_RECOGNISED,
    JXP__COUNTER__COUNTER_CONTEXTS_WALKED,
    JXP__COUNTER__COUNTER_CONTEXTS_DIFFER,
    JXP__COUNTER__COUNTER_CUT_INTERPRETER,
    JXP__COUNTER__COUNTER_CUT_STUB,
    JXP__COUNTER__COUNTER_CUT_EDGE,
    JXP__COUNTER__COUNTER_CUT_NATIVE,
    JXP__COUNTER__COUNTER_CUT_UNKNOWN,
    JXP__COUNTER__COUNTER_CUT_OTHER,
    JXP__COUNTER__COUNTER_TRUNCATED,
    JXP__COUNTER__COUNTER_UNWALKABLE,
    JXP__COUNTER__COUNTER_CONTEXTS_FULL,
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* Captures one, and holds the counters that go up by one against those expected, which end with 0.
 */
static void expect(bool captured, const Jxp__Counter *expected)
{
	uint64_t before[COUNTERS];
	struct sample_maker maker;

	for (unsigned i = 0; i < COUNTERS; i++)
		before[i] = t->counters[counters[i]];
	assert_int_equal(sample_capture(t, &uc, 0x1000, &maker), captured);
	assert_int_equal(maker.context != 0, captured);
	for (unsigned i = 0; i < COUNTERS; i++) {
		bool is_expected = false;

		for (const Jxp__Counter *e = expected; *e; e++)
			is_expected |= *e == counters[i];
		assert_int_equal(t->counters[counters[i]] - before[i], is_expected);
	}
}

#define EXPECT(captured, ...) expect(captured, (const Jxp__Counter[]){__VA_ARGS__, 0})
#define C(name)               JXP__COUNTER__COUNTER_##name

TEST(a_context_is_told, set_up, tear_down)
{
	EXPECT(true, C(CONTEXTS_RECOGNISED));
	one_frame_result = STACK_TRUNCATED;
	EXPECT(true, C(CONTEXTS_RECOGNISED), C(TRUNCATED));
	/* It is told, and lost. */
	one_frame_result = STACK_TABLE_FULL;
	EXPECT(false, C(CONTEXTS_RECOGNISED), C(CONTEXTS_FULL));
}

TEST(a_thread_without_java_frames_has_none_that_is_told, set_up, tear_down)
{
	one_frame_result = STACK_NO_JAVA;
	EXPECT(false, C(UNWALKABLE));
}

TEST(a_cut_is_counted_by_its_reason, set_up, tear_down)
{
	one_frame_result = STACK_UNWALKABLE;
	one_frame_cut = CUT_INTERPRETER;
	EXPECT(false, C(UNWALKABLE), C(CUT_INTERPRETER));
	one_frame_cut = CUT_STUB;
	EXPECT(false, C(UNWALKABLE), C(CUT_STUB));
	one_frame_cut = CUT_EDGE;
	EXPECT(false, C(UNWALKABLE), C(CUT_EDGE));
	one_frame_cut = CUT_CODE;
	EXPECT(false, C(UNWALKABLE), C(CUT_NATIVE));
	one_frame_cut = CUT_METHOD;
	EXPECT(false, C(UNWALKABLE), C(CUT_UNKNOWN));
	one_frame_cut = CUT_STACK;
	EXPECT(false, C(UNWALKABLE), C(CUT_OTHER));
	one_frame_cut = CUT_ENTRY;
	EXPECT(false, C(UNWALKABLE), C(CUT_OTHER));
}

TEST(what_the_jvm_was_asked_for_as_well_is_counted_beside, set_up, tear_down)
{
	one_frame_witness = WITNESS_AGREES;
	EXPECT(true, C(CONTEXTS_RECOGNISED), C(CONTEXTS_WALKED));
	one_frame_witness = WITNESS_DIFFERS;
	EXPECT(true, C(CONTEXTS_RECOGNISED), C(CONTEXTS_WALKED), C(CONTEXTS_DIFFER));
}
