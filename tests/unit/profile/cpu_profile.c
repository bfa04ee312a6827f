#include "tests/unit/support/test.h"
#include <errno.h>

#include "common/clock.h"
#include "profile/cpu_profile.h"
#include "proto/limits.h"

#define UNKNOWN     JXP__CPU_SAMPLE__STATE__UNKNOWN
#define COMPILED    JXP__CPU_SAMPLE__STATE__COMPILED
#define INTERPRETED JXP__CPU_SAMPLE__STATE__INTERPRETED
#define NATIVE      JXP__CPU_SAMPLE__STATE__NATIVE
#define NO_JAVA     JXP__CPU_SAMPLE__STATE__NO_JAVA
#define KERNEL      JXP__CPU_SAMPLE__STATE__KERNEL

static int set_up(void **state)
{
	static struct cpu_profile c;

	c = (struct cpu_profile){0};
	*state = &c;
	return 0;
}

static int tear_down(void **state)
{
	cpu_profile_release(*state);
	return 0;
}

TEST(ticks_are_added_up_by_context_and_code, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	assert_int_equal(cpu_profile_add(c, COMPILED, 7, false, 10), 0);
	assert_int_equal(cpu_profile_add(c, COMPILED, 7, false, 5), 0);
	assert_int_equal(cpu_profile_add(c, NATIVE, 7, false, 1), 0);
	assert_int_equal(cpu_profile_add(c, INTERPRETED, 8, false, 2), 0);
	assert_int_equal(c->context_count, 2);
	assert_int_equal(c->contexts[0].node, 7);
	assert_int_equal(c->contexts[0].code[0].samples, 2);
	assert_float_equal(c->contexts[0].code[0].ns, 15, 0);
	assert_int_equal(c->contexts[0].code[2].samples, 1);
	assert_int_equal(cpu_context_sum(&c->contexts[0]).samples, 3);
	assert_int_equal(c->contexts[1].code[1].samples, 1);
	assert_int_equal(cpu_profile_all(c).samples, 4);
	assert_float_equal(cpu_profile_code(c).ns, 18, 0);
}

TEST(ticks_in_the_kernel_are_of_the_context_that_called_it, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	assert_int_equal(cpu_profile_add(c, COMPILED, 7, false, 10), 0);
	assert_int_equal(cpu_profile_add(c, KERNEL, 7, false, 4), 0);
	assert_int_equal(cpu_profile_add(c, KERNEL, 8, true, 2), 0);
	assert_int_equal(cpu_profile_add(c, JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL, 0, false, 1),
			 0);
	assert_int_equal(c->context_count, 1);
	assert_int_equal(c->contexts[0].code[CPU_KERNEL].samples, 1);
	assert_float_equal(cpu_context_sum(&c->contexts[0]).ns, 14, 0);
	assert_float_equal(c->truncated.ns, 2, 0);
	assert_float_equal(cpu_profile_kernel(c).ns, 7, 0);
	assert_float_equal(cpu_profile_code(c).ns, 16, 0);
	assert_float_equal(cpu_profile_all(c).ns, 17, 0);
}

TEST(what_has_no_whole_context_is_in_none, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	assert_int_equal(cpu_profile_add(c, COMPILED, 7, true, 10), 0);
	assert_int_equal(cpu_profile_add(c, NATIVE, 0, false, 3), 0);
	assert_int_equal(cpu_profile_add(c, NO_JAVA, 0, false, 4), 0);
	assert_int_equal(cpu_profile_add(c, UNKNOWN, 0, false, 5), 0);
	assert_int_equal(c->context_count, 0);
	assert_float_equal(c->truncated.ns, 10, 0);
	assert_float_equal(c->lost.ns, 3, 0);
	assert_float_equal(c->states[NO_JAVA].ns, 4, 0);
	assert_float_equal(c->states[UNKNOWN].ns, 5, 0);
	assert_int_equal(cpu_profile_all(c).samples, 4);
	assert_int_equal(cpu_profile_code(c).samples, 2);
}

TEST(contexts_beyond_the_limit_are_in_the_sums_and_counted, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	for (uint32_t node = 1; node <= LIMIT_CPU_CONTEXTS; node++)
		assert_int_equal(cpu_profile_add(c, COMPILED, node, false, 1), 0);
	assert_int_equal(c->refused, 0);
	assert_int_equal(cpu_profile_add(c, COMPILED, LIMIT_CPU_CONTEXTS + 1, false, 1), 0);
	assert_int_equal(cpu_profile_add(c, COMPILED, 1, false, 1), 0);
	assert_int_equal(c->context_count, LIMIT_CPU_CONTEXTS);
	assert_int_equal(c->refused, 1);
	assert_int_equal(cpu_profile_all(c).samples, LIMIT_CPU_CONTEXTS + 2);
	assert_true(row_table_memory_bytes(&c->context_table, &cpu_context_layout) < 16u << 20);
}

TEST(where_there_is_no_room_ticks_are_not_moved, set_up, tear_down)
{
	const struct cpu_sum one = {.samples = 1, .ns = 1};
	struct cpu_profile *c = *state;

	for (uint32_t node = 1; node <= LIMIT_CPU_CONTEXTS; node++)
		assert_int_equal(cpu_profile_add(c, COMPILED, node, false, 1), 0);
	assert_int_equal(cpu_profile_move(c, 1, LIMIT_CPU_CONTEXTS + 1, CPU_COMPILED, &one),
			 -ENOSPC);
	assert_int_equal(cpu_profile_settle(c), 0);
	assert_int_equal(c->context_count, LIMIT_CPU_CONTEXTS);
}

static void watch(struct cpu_profile *c, uint64_t time_ns, uint64_t gc_ns, uint64_t jit_ns,
		  bool running)
{
	Jxp__WatchRecord record = JXP__WATCH_RECORD__INIT;

	record.time_ns = time_ns;
	record.gc_cpu_ns = gc_ns;
	record.jit_cpu_ns = jit_ns;
	cpu_profile_watch(c, &record, running);
}

TEST(the_jvms_own_threads_count_from_when_the_window_began, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	watch(c, 1000, 500, 50, false);
	watch(c, 2000, 600, 60, false);
	assert_int_equal(c->beside.span_ns, 0);
	watch(c, 3000, 900, 70, true);
	watch(c, 4000, 1000, 90, true);
	assert_int_equal(c->beside.span_ns, 2000);
	assert_float_equal(c->beside.gc_ns, 400, 0);
	assert_float_equal(c->beside.jit_ns, 30, 0);
}

TEST(sums_that_fall_are_passed_over, set_up, tear_down)
{
	struct cpu_profile *c = *state;

	watch(c, 1000, 500, 50, true);
	watch(c, 2000, 600, 40, true);
	watch(c, 900, 600, 60, true);
	assert_int_equal(c->beside.span_ns, 0);
	watch(c, 3000, 600, 60, true);
	assert_int_equal(c->beside.span_ns, 2000);
}

TEST(ticks_are_moved_to_another_context, set_up, tear_down)
{
	const struct cpu_sum two = {.samples = 2, .ns = 15}, one = {.samples = 1, .ns = 1};
	struct cpu_profile *c = *state;

	assert_int_equal(cpu_profile_add(c, COMPILED, 7, false, 10), 0);
	assert_int_equal(cpu_profile_add(c, COMPILED, 7, false, 5), 0);
	assert_int_equal(cpu_profile_add(c, NATIVE, 8, false, 1), 0);
	assert_int_equal(cpu_profile_move(c, 7, 9, CPU_COMPILED, &two), 0);
	/* What is not there stays. */
	assert_int_equal(cpu_profile_move(c, 8, 9, CPU_COMPILED, &one), 0);
	assert_int_equal(cpu_profile_move(c, 6, 9, CPU_COMPILED, &one), 0);
	assert_int_equal(cpu_profile_all(c).samples, 3);
	assert_int_equal(cpu_profile_settle(c), 0);
	assert_int_equal(c->context_count, 2);
	assert_int_equal(c->contexts[0].node, 8);
	assert_int_equal(c->contexts[1].node, 9);
	assert_int_equal(c->contexts[1].code[CPU_COMPILED].samples, 2);
	assert_float_equal(c->contexts[1].code[CPU_COMPILED].ns, 15, 0);
	/* They are found. */
	assert_int_equal(cpu_profile_add(c, COMPILED, 9, false, 5), 0);
	assert_int_equal(c->context_count, 2);
}
