/* A window with loops of 600 and 200 of its ticks, compared with one of before. */
#include "tests/unit/support/test.h"

#include "report/loops/loop_growth.h"
#include "tests/unit/support/sample_window.h"

#define SUM  2u /* methods; their nodes have bytecode index 4 */
#define MAIN 1u

struct fixture {
	struct window_result *now, *before;
	struct report_loops found;
};

static struct window_result *window_of(unsigned number)
{
	struct window_result *w = sample_window_empty(number, "shop");
	uint32_t main;

	if (number == 3) /* Its ids are others. */
		(void)sample_window_node(w, 0, "other", 7);
	main = sample_window_node(w, 0, "main", 10);
	w->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	sample_window_cpu(w, main, main, sample_window_node(w, main, "sum", 31));
	return w;
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.now = window_of(5), .before = window_of(3)};
	(void)sample_window_loop(f.now, SUM, 40, 33, 0, LOOP_EVERY, 600);
	(void)sample_window_loop(f.now, SUM, 80, 38, 0, LOOP_EVERY, 200);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	report_loops_release(&f->found);
	window_result_free(f->now);
	window_result_free(f->before);
	return 0;
}

static const struct report_loop *compared(struct fixture *f, size_t rank)
{
	report_loops_release(&f->found);
	assert_int_equal(report_loops_init(&f->found, f->now), 0);
	assert_int_equal(report_loops_compare(&f->found, f->now, f->before), 0);
	assert_string_equal(f->found.baseline, "w3");
	assert_true(f->found.count > rank);
	return &f->found.rows[rank];
}

static void before(struct fixture *f, uint32_t header, int32_t line, unsigned ticks)
{
	(void)sample_window_loop(f->before, SUM + 1, header, line, 0, LOOP_EVERY, ticks);
}

TEST(one_that_has_grown_comes_first, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct report_loop *first;

	before(f, 40, 33, 600);
	before(f, 80, 38, 30);
	first = compared(f, 0);
	assert_int_equal(first->row->key.header, 80);
	assert_true(first->growth.significant && first->growth.known);
	assert_float_equal(first->growth.baseline, 30 * 5e6 / f->found.whole_ns, 0.001);
	assert_float_equal(first->growth.growth, 170 * 5e6 / f->found.whole_ns, 0.001);
	assert_true(first->growth.ci95.low > 0.04 && first->growth.ci95.high < 0.13);
	assert_false(f->found.rows[1].growth.significant);
	assert_float_equal(f->found.rows[1].growth.growth, 0, 1e-9);
}

TEST(the_interval_over_all_loops_decides, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_growth *growth;

	before(f, 40, 33, 600);
	before(f, 80, 38, 150);
	growth = &compared(f, 1)->growth;
	assert_false(growth->significant);
	assert_true(growth->ci95.low > 0);
	assert_true(growth->among_all.low < 0);
	assert_true(growth->among_all.high > growth->ci95.high);
}

/* Windows vary; an average of many varies less. */
TEST(a_baseline_of_many_windows_says_more, set_up, tear_down)
{
	struct fixture *f = *state;
	double one, many;

	before(f, 40, 33, 600);
	before(f, 80, 38, 200);
	f->before->merged = window_merged_new();
	assert_non_null(f->before->merged);
	f->before->merged->windows = 1;
	one = compared(f, 0)->growth.among_all.high;
	f->before->merged->windows = 100;
	many = compared(f, 0)->growth.among_all.high;
	assert_true(many < 0.99 * one);
}

TEST(one_that_takes_less_keeps_its_place, set_up, tear_down)
{
	struct fixture *f = *state;

	before(f, 40, 33, 1200);
	before(f, 80, 38, 200);
	assert_int_equal(compared(f, 0)->row->key.header, 40);
	assert_true(compared(f, 0)->growth.significant);
	assert_true(compared(f, 0)->growth.growth < 0);
}

TEST(one_that_was_not_known_has_to_be_well_above_what_is_looked_at, set_up, tear_down)
{
	struct fixture *f = *state;

	before(f, 40, 33, 600);
	assert_int_equal(compared(f, 0)->row->key.header, 80);
	assert_true(compared(f, 0)->growth.significant);
	assert_false(compared(f, 0)->growth.known);
	f->now->loops.rows[1].own = (struct cpu_sum){50, 50 * 5e6};
	assert_int_equal(compared(f, 1)->row->key.header, 80);
	assert_false(compared(f, 1)->growth.significant);
}

TEST(overloads_are_told_apart_where_lines_are_the_same, set_up, tear_down)
{
	struct fixture *f = *state;

	before(f, 40, 33, 600);
	before(f, 40, 133, 300);
	before(f, 80, 1038, 200); /* of another build */
	assert_float_equal(compared(f, 0)->growth.growth, 0, 1e-9);
	assert_int_equal(compared(f, 1)->row->key.header, 80);
	assert_float_equal(compared(f, 1)->growth.growth, 0, 1e-9);
}

TEST(one_that_calls_is_compared_with_what_it_calls, set_up, tear_down)
{
	struct fixture *f = *state;
	struct cpu_context *context = &f->before->cpu.contexts[0];

	(void)sample_window_loop(f->now, MAIN, 2, 9, 0, LOOP_EVERY, 0);
	before(f, 40, 33, 600);
	before(f, 80, 38, 200);
	assert_int_equal(compared(f, 2)->row->key.method, MAIN);
	assert_true(compared(f, 2)->calls && compared(f, 2)->growth.known);
	assert_false(compared(f, 2)->growth.significant);
	assert_float_equal(compared(f, 2)->growth.baseline, compared(f, 2)->inclusive_fraction,
			   0.001);
	/* As if most had come elsewhere then. */
	f->before->cpu.context_count = 1;
	context->code[0] = (struct cpu_sum){100, 100 * 5e6};
	assert_int_equal(compared(f, 0)->row->key.method, MAIN);
	assert_true(compared(f, 0)->growth.significant);
}
