#include "tests/unit/support/test.h"

#include "report/content/cpu_findings.h"
#include "tests/unit/support/sample_window.h"

#define COMPILED JXP__CPU_SAMPLE__STATE__COMPILED

static struct window_result *ticks_window(void)
{
	struct window_result *w = sample_window_empty(1, "shop");

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	return w;
}

static const char *name_of(const struct window_result *w, uint32_t method)
{
	return strings_get(&w->profile.strings, cct_method(&w->profile.cct, method)->name);
}

TEST(a_method_that_calls_itself_counts_once)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t walk = sample_window_node(w, main, "walk", 20);
	uint32_t again = sample_window_node(w, walk, "walk", 20);
	struct report_cpu c;

	sample_window_ticks(w, main, COMPILED, 1);
	sample_window_ticks(w, again, COMPILED, 3);
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_int_equal(c.ranking.by_own_count, 2);
	assert_string_equal(name_of(w, c.ranking.by_own[0].method), "walk");
	assert_int_equal(c.ranking.by_own[0].own.samples, 3);
	assert_int_equal(c.ranking.by_own[0].total.samples, 3);
	assert_int_equal(c.ranking.by_total_count, 2);
	assert_string_equal(name_of(w, c.ranking.by_total[0].method), "main");
	assert_int_equal(c.ranking.by_total[0].total.samples, 4);
	assert_int_equal(c.ranking.context_count, 2);
	assert_int_equal(c.ranking.contexts[0].node, again);
	report_cpu_release(&c);
	window_result_free(w);
}

TEST(interpreted_and_compiled_frames_are_one_path)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10), other = 0;
	struct cct_node node = *cct_node(&w->profile.cct, main);
	struct report_cpu c;

	node.tier = JXP__TIER__TIER_INTERPRETED;
	assert_int_equal(cct_add_node(&w->profile.cct, &node, &other), 0);
	sample_window_ticks(w, main, COMPILED, 1);
	sample_window_ticks(w, other, JXP__CPU_SAMPLE__STATE__INTERPRETED, 2);
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_int_equal(c.ranking.context_count, 1);
	assert_int_equal(c.ranking.contexts[0].code[0].samples, 1);
	assert_int_equal(c.ranking.contexts[0].code[1].samples, 2);
	report_cpu_release(&c);
	window_result_free(w);
}

TEST(kernel_ticks_are_own_time_of_the_method_that_called)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t read = sample_window_node(w, main, "read", 20);
	struct report_cpu c;

	sample_window_ticks(w, main, COMPILED, 2);
	sample_window_ticks(w, read, JXP__CPU_SAMPLE__STATE__KERNEL, 3);
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_string_equal(name_of(w, c.ranking.by_own[0].method), "read");
	assert_int_equal(c.ranking.by_own[0].own.samples, 3);
	assert_int_equal(c.ranking.by_total[0].total.samples, 5);
	report_cpu_release(&c);
	window_result_free(w);
}

TEST(threads_with_ticks_are_ranked_by_their_time)
{
	struct window_result *w = ticks_window();
	struct report_cpu c;

	sample_window_ticks(w, sample_window_node(w, 0, "main", 10), COMPILED, 5);
	sample_window_thread(w, 7, "idle", COMPILED, 0);
	sample_window_thread(w, 8, "some", COMPILED, 2);
	sample_window_thread(w, 9, "most", COMPILED, 3);
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_int_equal(c.ranking.thread_count, 2);
	assert_string_equal(c.ranking.threads[0].name, "most");
	assert_int_equal(c.ranking.threads[1].tid, 8);
	report_cpu_release(&c);
	window_result_free(w);
}

/* One thread that did everything, but what the kernel did for profiling: of 5 s that its ticks
 * stand for, 0.2. */
TEST(what_the_kernel_did_for_profiling_is_no_threads)
{
	struct window_result *w = ticks_window();
	struct report_cpu c;

	w->cpu_ns = 5 * NS_PER_S;
	w->overhead_ns = 200 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 5 * NS_PER_S;
	sample_window_ticks(w, sample_window_node(w, 0, "main", 10), COMPILED, 900);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__KERNEL, 100);
	sample_window_thread(w, 7, "all", COMPILED, 900);
	sample_window_thread(w, 7, "all", JXP__CPU_SAMPLE__STATE__KERNEL, 100);
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_int_equal(c.ranking.thread_count, 1);
	assert_float_equal(c.whole_ns, 4.8 * NS_PER_S, 1);
	assert_float_equal(c.ranking.threads[0].ticks.ns, 4.8 * NS_PER_S, 1);
	assert_float_equal(c.ranking.threads[0].kernel.ns, 0.3 * NS_PER_S, 1);
	report_cpu_release(&c);
	window_result_free(w);
}

/* 12 s, of which the JVM's own threads were watched for 6: with them, ticks tell of 5 s. */
TEST(fractions_are_of_all_cpu_time_and_add_up)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10);
	struct report_cpu c;

	w->cpu_ns = 7 * NS_PER_S;
	w->overhead_ns = 750 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_SESSION_NS] = w->overhead_ns;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 3 * NS_PER_S;
	sample_window_ticks(w, main, COMPILED, 400);
	sample_window_ticks(w, main, JXP__CPU_SAMPLE__STATE__NATIVE, 100);
	sample_window_ticks(w, main, JXP__CPU_SAMPLE__STATE__KERNEL, 30);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL, 20);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__NO_JAVA, 50);
	w->cpu.beside = (struct cpu_beside){
	    .span_ns = 6 * NS_PER_S, .gc_ns = 0.75 * NS_PER_S, .jit_ns = 0.25 * NS_PER_S};
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_true(c.taken && c.beside_known);
	assert_int_equal(c.samples, 600);
	assert_float_equal(c.whole_ns, 6.25 * NS_PER_S, 1);
	assert_float_equal(c.compiled, 0.32, 1e-9);
	assert_float_equal(c.native, 0.08, 1e-9);
	assert_float_equal(c.kernel, 0.04, 1e-9);
	assert_float_equal(c.no_java, 0.04, 1e-9);
	assert_float_equal(c.gc, 0.24, 1e-9);
	assert_float_equal(c.jit, 0.08, 1e-9);
	assert_float_equal(c.other, 0.2, 1e-9);
	assert_float_equal(c.lost, 0, 1e-9);
	report_cpu_release(&c);
	window_result_free(w);
}

TEST(the_whole_is_never_less_than_its_parts)
{
	struct window_result *w = ticks_window();
	struct report_cpu c;

	w->cpu_ns = 2 * NS_PER_S;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 0;
	sample_window_ticks(w, sample_window_node(w, 0, "main", 10), COMPILED, 400);
	w->cpu.beside = (struct cpu_beside){.span_ns = 12 * NS_PER_S, .gc_ns = 0.5 * NS_PER_S};
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_float_equal(c.whole_ns, 2.5 * NS_PER_S, 1);
	assert_float_equal(c.compiled, 0.8, 1e-9);
	assert_float_equal(c.other, 0, 1e-9);
	report_cpu_release(&c);
	window_result_free(w);
}

TEST(a_window_without_ticks_has_no_such_part)
{
	struct window_result *w = ticks_window();
	struct report_cpu c;

	w->cpu.beside = (struct cpu_beside){.span_ns = 1, .gc_ns = 1};
	assert_int_equal(report_cpu_init(&c, w), 0);
	assert_false(c.taken);
	report_cpu_release(&c);
	window_result_free(w);
}
