#include "tests/unit/support/test.h"

#include "profile/combine/merge.h"
#include "profile/combine/window_side.h"
#include "tests/unit/support/sample_window.h"

#define TICK_NS (5 * NS_PER_MS)

/* One of 1,000 ticks, so many of them in first, which calls itself. */
static struct window_result *window_of(unsigned number, unsigned first)
{
	struct window_result *w = sample_window_empty(number, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t once = sample_window_node(w, main, "first", 20);
	uint32_t again = sample_window_node(w, once, "first", 20);
	uint32_t second = sample_window_node(w, main, "second", 30);

	for (int kind = 0; kind < KIND_VALUES; kind++)
		w->request.kinds[kind] = kind == JXP__KIND__KIND_CPU;
	w->overhead_ns = 0;
	w->cpu_ns = 1000 * TICK_NS;
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = w->counters[JXP__COUNTER__COUNTER_TICKS] =
	    1000;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = w->cpu_ns;
	w->counters[JXP__COUNTER__COUNTER_THREADS] = 1;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED,
						 i < first ? (i % 2 ? once : again) : second, false,
						 TICK_NS),
				 0);
	return w;
}

/* Ticks in first of window N are firsts[N / same % 2]. */
static struct compare_side side_of_windows(unsigned count, const unsigned firsts[2], unsigned same)
{
	struct compare_side s;
	struct window_result *w = NULL;
	struct merge m = {0};
	struct err err = {""};

	for (unsigned i = 0; i < count; i++) {
		struct window_result *one = window_of(i + 1, firsts[i / same % 2]);

		assert_int_equal(merge_add(&m, one), 0);
		window_result_free(one);
	}
	if (merge_finish(&m, &w, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(window_side_init(&s, w), 0);
	window_result_free(w);
	return s;
}

static double excess_of(const struct compare_side *s, const char *name)
{
	for (size_t i = 0; i < s->method_count; i++)
		if (strstr(s->methods[i], name))
			return s->excess[i + 1];
	fail_msg("no method %s", name);
	return 0;
}

/* 200 and 400 of 1,000 ticks: the variance of the mean of eight is 0.1^2 / 7, by the ticks' 0.3 *
 * 0.7 / 8,000. All that varies is first and what first leaves, so that r^2 is theirs, too. */
TEST(what_windows_differ_by_is_a_multiple_of_what_ticks_do)
{
	static const unsigned firsts[] = {200, 400};
	struct compare_side s = side_of_windows(8, firsts, 1);
	double own = 0.01 / 7 / (0.21 / 8000) - 1;

	assert_float_equal(s.freedom, 7 + 4, 1e-9);
	assert_true(excess_of(&s, "first") >= 7 * own / 11 - 1);
	assert_true(excess_of(&s, "first") <= 1.2 * own);
	assert_float_equal(excess_of(&s, "main"), 0, 1e-9);
	compare_side_release(&s);
}

TEST(windows_that_are_alike_differ_by_nothing)
{
	static const unsigned firsts[] = {300, 300};
	struct compare_side s = side_of_windows(5, firsts, 1);

	assert_float_equal(excess_of(&s, "first"), 0, 0);
	assert_float_equal(excess_of(&s, "second"), 0, 0);
	compare_side_release(&s);
}

/* 32 windows are 16 batches of two, and what changes from one to the next is in none of them. */
TEST(windows_that_follow_each_other_are_one_batch)
{
	static const unsigned firsts[] = {200, 400};
	struct compare_side s = side_of_windows(32, firsts, 1);

	assert_float_equal(s.freedom, 15 + 4, 1e-9);
	assert_float_equal(excess_of(&s, "first"), 0, 0);
	compare_side_release(&s);
	s = side_of_windows(32, firsts, 2);
	assert_true(excess_of(&s, "first") > 10);
	compare_side_release(&s);
}

/* A second of a window's six, or a fifth of one. */
TEST(the_collector_differs_as_methods_do)
{
	struct compare_side s;
	struct window_result *w = NULL;
	struct merge m = {0};
	struct err err = {""};

	for (unsigned i = 0; i < 6; i++) {
		struct window_result *one = window_of(i + 1, 300);

		one->cpu.beside = (struct cpu_beside){.span_ns = window_result_elapsed_ns(one),
						      .gc_ns = i % 2 ? NS_PER_S : NS_PER_S / 5.0};
		one->cpu_ns += (uint64_t)one->cpu.beside.gc_ns;
		assert_int_equal(merge_add(&m, one), 0);
		window_result_free(one);
	}
	if (merge_finish(&m, &w, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(window_side_init(&s, w), 0);
	assert_true(excess_of(&s, COMPARE_GC) > 3);
	compare_side_release(&s);
	window_result_free(w);
}

TEST(one_window_tells_nothing)
{
	static const unsigned firsts[] = {300, 300};
	struct compare_side s = side_of_windows(1, firsts, 1);

	assert_null(s.excess);
	assert_float_equal(s.freedom, 0, 0);
	compare_side_release(&s);
}
