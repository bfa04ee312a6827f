#include "tests/unit/support/test.h"

#include <math.h>
#include <string.h>

#include "report/loops/loop_findings.h"
#include "tests/unit/support/sample_window.h"

struct fixture {
	struct window_result *window;
	struct loop *row; /* of a loop with a third of the ticks */
	struct report_loops found;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct window_result *w = sample_window_empty(5, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 10);

	w->request = (struct window_request){.kinds[JXP__KIND__KIND_LOOPS] = true,
					     .duration_ns = 12 * NS_PER_S};
	sample_window_cpu(w, main, sample_window_node(w, main, "fill", 21),
			  sample_window_node(w, main, "sum", 31));
	f = (struct fixture){.window = w,
			     .row = sample_window_loop(w, 2, 4, 22, main, LOOP_SOME, 600)};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	report_loops_release(&f->found);
	window_result_free(f->window);
	return 0;
}

static void set_type(struct fixture *f, enum loop_type type)
{
	memset(f->row->type_ns, 0, sizeof(f->row->type_ns));
	f->row->type_ns[type] = f->row->within.ns;
}

static void doubt(struct fixture *f, enum loop_doubt which)
{
	f->row->doubt_ns[__builtin_ctz(which)] = f->row->within.ns;
}

static const struct report_loop *judged(struct fixture *f)
{
	report_loops_release(&f->found);
	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_int_equal(f->found.count, 1);
	return &f->found.rows[0];
}

static void assert_verdict(struct fixture *f, enum loop_verdict verdict)
{
	assert_string_equal(loop_verdict_name(judged(f)->verdict), loop_verdict_name(verdict));
}

TEST(types_without_counts, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_null(judged(f)->advice[0]);
	set_type(f, LOOP_NEVER);
	assert_verdict(f, LOOP_RESULTLESS);
	assert_string_equal(judged(f)->advice[0]->strategy, "delete");
	f->row->within.ns *= 2;
	f->row->type_ns[LOOP_NEVER] *= 2;
	assert_verdict(f, LOOP_UNDECIDED);
	f->row->within.ns /= 2;
	doubt(f, LOOP_DOUBT_CODE);
	assert_verdict(f, LOOP_UNDECIDED);
	set_type(f, LOOP_TYPE_UNKNOWN);
	assert_verdict(f, LOOP_UNDECIDED);
	set_type(f, LOOP_SOME);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_float_equal(judged(f)->needs_s, 0, 0); /* At what pace? */
}

TEST(the_type_is_that_of_most_of_the_time, set_up, tear_down)
{
	struct fixture *f = *state;

	f->row->type_ns[LOOP_EVERY] = 0.4 * f->row->within.ns;
	f->row->type_ns[LOOP_SOME] = 0.6 * f->row->within.ns;
	assert_int_equal(judged(f)->type, LOOP_SOME);
}

TEST(few_results_are_resultless_and_many_are_not, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_window_bursts(f->row, &f->row->results, 60, 0);
	assert_verdict(f, LOOP_RESULTLESS);
	assert_string_equal(judged(f)->advice[0]->strategy, "skip");
	for (int i = 0; i < 60; i++)
		loop_counts_burst(&f->row->results, 2048, 32, 1, 1);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_null(judged(f)->advice[0]);
}

TEST(few_bursts_or_turns_do_not_suffice, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_window_bursts(f->row, &f->row->results, LOOP_BURSTS_MIN - 1, 0);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_true(judged(f)->needs_s > 12 && judged(f)->needs_s < 24);
	f->row->results = (struct loop_counts){0};
	for (int i = 0; i < 60; i++) /* A tenth of the places was counted. */
		loop_counts_burst(&f->row->results, 880, 0, 1, 10);
	assert_verdict(f, LOOP_UNDECIDED);
	loop_counts_burst(&f->row->results, 500, 0, 1, 1);
	assert_verdict(f, LOOP_RESULTLESS);
}

TEST(a_rate_near_the_threshold_stays_undecided, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_window_bursts(f->row, &f->row->results, 60, 2); /* 1 of 4,096, */
	f->row->results.events *= 4;                           /* or of 1,024 */
	f->row->results.products *= 4;
	f->row->results.events_squares *= 16;
	assert_verdict(f, LOOP_UNDECIDED);
	assert_true(judged(f)->needs_s > 60 || judged(f)->needs_s == 0);
}

TEST(a_search_is_bounded_by_its_entries, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_LAST);
	sample_window_bursts(f->row, &f->row->entries, 90, 3);
	assert_verdict(f, LOOP_RESULTLESS);
	assert_string_equal(judged(f)->advice[0]->strategy, "data_structure");
	assert_true(judged(f)->results.bound);
	/* Of one that is short nothing is known without counted results, */
	f->row->entries.events *= 200;
	f->row->entries.products *= 200;
	f->row->entries.events_squares *= 40000;
	assert_verdict(f, LOOP_UNDECIDED);
	/* which it has once for each instance at most. */
	for (int i = 0; i < 90; i++)
		loop_counts_burst(&f->row->results, 2048, 60, 1, 1);
	assert_verdict(f, LOOP_VERDICT_NONE);
}

TEST(entries_say_nothing_of_a_loop_with_some_results, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_window_bursts(f->row, &f->row->entries, 90, 3);
	assert_verdict(f, LOOP_UNDECIDED);
}

TEST(results_that_cannot_all_be_counted_make_no_loop_resultless, set_up, tear_down)
{
	struct fixture *f = *state;

	doubt(f, LOOP_DOUBT_CONDITIONAL_MOVE);
	sample_window_bursts(f->row, &f->row->results, 90, 0);
	assert_verdict(f, LOOP_UNDECIDED);
	for (int i = 0; i < 60; i++)
		loop_counts_burst(&f->row->results, 2048, 32, 1, 1);
	assert_verdict(f, LOOP_VERDICT_NONE);
}

TEST(turns_that_may_be_more_make_no_loop_harmless, set_up, tear_down)
{
	struct fixture *f = *state;

	doubt(f, LOOP_DOUBT_UNROLL);
	f->row->bursts_least = f->row->bursts = 60;
	for (int i = 0; i < 60; i++)
		loop_counts_burst(&f->row->results, 2048, 32, 1, 1);
	assert_verdict(f, LOOP_UNDECIDED);
	f->row->results = (struct loop_counts){0};
	sample_window_bursts(f->row, &f->row->results, 60, 0);
	assert_verdict(f, LOOP_RESULTLESS);
}

TEST(copies_that_were_not_counted_make_no_doubt, set_up, tear_down)
{
	struct fixture *f = *state;

	doubt(f, LOOP_DOUBT_UNROLL);
	f->row->bursts = 60;
	for (int i = 0; i < 60; i++)
		loop_counts_burst(&f->row->results, 2048, 32, 1, 1);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_int_equal(judged(f)->doubts, 0);
}

TEST(minor_loops_are_not_judged, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_NEVER);
	f->row->own.ns *= 0.03;
	f->row->within.ns *= 0.03;
	f->row->key.mapped = false; /* Nor do contexts say that it takes more. */
	assert_verdict(f, LOOP_NOT_JUDGED);
}

/* As of a queue whose work is in a loop of what is inlined. */
TEST(a_loop_around_those_that_take_the_time_is_judged, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	f->row->own.ns *= 0.03;
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_true(judged(f)->around);
	assert_true(judged(f)->fraction < LOOP_CPU_MIN);
	assert_true(judged(f)->inclusive_fraction > LOOP_CPU_MIN);
}

TEST(loops_that_wait_are_said_to, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_NEVER);
	f->row->waits_ns = f->row->within.ns;
	assert_verdict(f, LOOP_WAITING);
}

/* ---------------------------------------------------------------- what is done again */

static void set_effect(struct fixture *f, enum loop_effect effect)
{
	memset(f->row->effect_ns, 0, sizeof(f->row->effect_ns));
	f->row->effect_ns[effect] = f->row->within.ns;
}

/* pairs of which that part is there again, each of them alike. */
static void compare(struct fixture *f, unsigned pairs, double part)
{
	struct loop_profile *p = &f->window->loops;
	struct loop_compared load = {.bci = 45, .line = 45};
	uint32_t at;

	assert_int_equal(loop_profile_input(p, &load, &at), 0);
	p->inputs[at].same = (struct repeat_sum){0};
	for (unsigned i = 0; i < pairs; i++)
		repeat_sum_add(&p->inputs[at].same, part);
	f->row->pairs = pairs;
}

/* Of a thousand turns so many are different, a tenth more or less. */
static void compare_turns(struct fixture *f, unsigned traces, double different)
{
	f->row->turns = (struct turn_sums){.traces = traces,
					   .tuples = 30 * traces,
					   .distinct = 5,
					   .turns = 1000,
					   .estimated = different,
					   .low = different * 0.9,
					   .high = different * 1.1};
}

static void assert_advice(struct fixture *f, const char *first, const char *second)
{
	const struct report_loop *l = judged(f);

	assert_int_equal(l->advice_count, (first != NULL) + (second != NULL));
	if (first)
		assert_string_equal(l->advice[0]->strategy, first);
	if (second)
		assert_string_equal(l->advice[1]->strategy, second);
}

TEST(instances_that_are_alike_are_redundant, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	compare(f, LOOP_TRACES_MIN, 0.9);
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
	assert_advice(f, "memoize", NULL);
	set_effect(f, LOOP_EFFECT_GROWS);
	assert_advice(f, "batch", NULL);
	compare(f, 60, 0.2);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_advice(f, NULL, NULL);
}

/* As a scan of the same table. */
TEST(instances_for_another_key_are_not_redundant, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_profile *p = &f->window->loops;
	struct loop_compared key = {.scalar = true, .bci = -1, .line = -1};
	uint32_t at;

	set_type(f, LOOP_EVERY);
	compare(f, 200, 1);
	assert_int_equal(loop_profile_input(p, &key, &at), 0);
	for (int i = 0; i < 200; i++) {
		repeat_sum_add(&p->inputs[at].same, i % 5 == 0);
		repeat_sum_add(&f->row->together, i % 5 == 0);
	}
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_true(judged(f)->again.instance_rate.ci95.low > LOOP_REDUNDANT_RATE);
	assert_true(judged(f)->again.sameness == LOOP_SAME_NOT);
	p->inputs[at].same = (struct repeat_sum){0};
	for (int i = 0; i < 200; i++)
		repeat_sum_add(&p->inputs[at].same, i % 2); /* Now and then. */
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
}

/* As an expression that is matched with another text: most of its loads are of the expression. */
TEST(instances_with_other_data_are_not_redundant, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_profile *p = &f->window->loops;
	struct loop_compared load = {.bci = -1, .line = -1};
	uint32_t at;

	set_type(f, LOOP_EVERY);
	for (load.at = 1; load.at <= 10; load.at++) {
		assert_int_equal(loop_profile_input(p, &load, &at), 0);
		for (int i = 0; i < 3; i++)
			repeat_sum_add(&p->inputs[at].same, load.at < 10);
	}
	f->row->pairs = 30;
	assert_true(judged(f)->again.instance_rate.ci95.low > LOOP_REDUNDANT_RATE);
	assert_verdict(f, LOOP_UNDECIDED); /* Of the last one there are three pairs. */
	assert_float_equal(judged(f)->needs_s, 48, 1e-9);
	repeat_sum_add(&p->inputs[at].same, 0);
	assert_verdict(f, LOOP_VERDICT_NONE);
	p->inputs[at].same.sum = 3;
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
}

TEST(few_comparisons_do_not_suffice, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	compare(f, LOOP_TRACES_MIN - 1, 1);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_true(judged(f)->needs_s > 12 && judged(f)->needs_s < 24);
	compare(f, 4, 0); /* That much is not there again, few can say. */
	assert_verdict(f, LOOP_VERDICT_NONE);
	compare(f, 2, 0);
	assert_verdict(f, LOOP_UNDECIDED);
	compare(f, 60, 0.55);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_float_equal(judged(f)->needs_s, 0, 0); /* Nor would as many as are taken say. */
	compare(f, 60, 0.6);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_true(judged(f)->needs_s > 12 && judged(f)->needs_s < 30);
	compare(f, LOOP_TRACES_ENOUGH, 0.45); /* There will be no more of them. */
	assert_verdict(f, LOOP_VERDICT_NONE);
	compare(f, 0, 0);
	assert_verdict(f, LOOP_VERDICT_NONE);
}

TEST(turns_that_are_alike_are_redundant, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	compare_turns(f, LOOP_TRACES_MIN, 200);
	assert_verdict(f, LOOP_REDUNDANT_ITERATIONS);
	assert_advice(f, "memoize", NULL);
	compare_turns(f, LOOP_TRACES_MIN, 700);
	assert_verdict(f, LOOP_VERDICT_NONE);
	compare_turns(f, LOOP_TRACES_MIN, 490);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_float_equal(judged(f)->needs_s, 48, 1e-9);
	compare_turns(f, LOOP_TRACES_ENOUGH, 490);
	assert_verdict(f, LOOP_UNDECIDED);
	assert_float_equal(judged(f)->needs_s, 0, 0);
	compare_turns(f, LOOP_TRACES_MIN - 1, 5);
	assert_verdict(f, LOOP_UNDECIDED);
}

/* The instances first: that is the larger part. */
TEST(a_loop_may_be_redundant_twice, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	compare(f, 60, 0.9);
	compare_turns(f, 60, 200);
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
	assert_advice(f, "memoize", NULL);
	set_effect(f, LOOP_EFFECT_GROWS);
	assert_advice(f, "batch", "memoize");
	compare_turns(f, 10, 200); /* Undecided, which is told by no verdict then. */
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
}

TEST(a_resultless_loop_is_told_first, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_LAST);
	sample_window_bursts(f->row, &f->row->results, 90, 0);
	compare(f, 60, 0.9);
	assert_verdict(f, LOOP_RESULTLESS);
	assert_advice(f, "data_structure", "memoize");
	compare(f, 10, 0.9);
	assert_verdict(f, LOOP_RESULTLESS);
	assert_advice(f, "data_structure", NULL);
}

TEST(redundant_is_more_than_undecided, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_verdict(f, LOOP_UNDECIDED); /* Nothing was counted. */
	compare(f, 60, 0.9);
	assert_verdict(f, LOOP_REDUNDANT_INSTANCES);
	compare(f, 60, 0.1);
	assert_verdict(f, LOOP_UNDECIDED);
	set_type(f, LOOP_TYPE_UNKNOWN);
	compare_turns(f, 60, 100);
	assert_verdict(f, LOOP_REDUNDANT_ITERATIONS);
}

TEST(input_and_output_in_each_turn_is_for_a_batch, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	set_effect(f, LOOP_EFFECT_IO);
	assert_verdict(f, LOOP_REDUNDANT_ITERATIONS);
	assert_advice(f, "batch", NULL);
	set_type(f, LOOP_SOME); /* In some turns only. */
	assert_verdict(f, LOOP_UNDECIDED);
	set_type(f, LOOP_EVERY);
	f->row->own.ns *= 0.03;
	f->row->within.ns *= 0.03;
	f->row->key.mapped = false; /* Nor do contexts say that it takes more. */
	assert_verdict(f, LOOP_NOT_JUDGED);
	assert_advice(f, NULL, NULL);
}

TEST(loops_that_wait_are_not_redundant, set_up, tear_down)
{
	struct fixture *f = *state;

	f->row->waits_ns = f->row->within.ns;
	compare(f, 60, 1);
	compare_turns(f, 60, 1);
	assert_verdict(f, LOOP_WAITING);
	assert_advice(f, NULL, NULL);
}

TEST(a_recursion_is_told_by_its_calls_alone, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_TYPE_UNKNOWN);
	f->row->key.recursion = true;
	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_int_equal(f->found.count, 0);
	compare_turns(f, 60, 100);
	assert_verdict(f, LOOP_REDUNDANT_ITERATIONS);
	compare_turns(f, 60, 800);
	assert_verdict(f, LOOP_VERDICT_NONE);
}

/* An evaluator of an expression, on another row each time. */
TEST(what_reads_more_than_was_compared_gets_no_advice_to_keep_it, set_up, tear_down)
{
	struct fixture *f = *state;

	set_type(f, LOOP_EVERY);
	doubt(f, LOOP_DOUBT_READS);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_int_equal(judged(f)->doubts, 0); /* Nothing seems to be done again. */
	compare(f, 60, 0.9);
	compare_turns(f, 60, 100);
	assert_verdict(f, LOOP_VERDICT_NONE);
	assert_advice(f, NULL, NULL);
	assert_int_equal(judged(f)->doubts, LOOP_DOUBT_READS);
	assert_float_equal(judged(f)->needs_s, 0, 0); /* No longer window tells. */
	f->row->key.recursion = true;
	assert_verdict(f, LOOP_VERDICT_NONE);
	f->row->key.recursion = false;
	set_effect(f, LOOP_EFFECT_IO);
	assert_verdict(f, LOOP_REDUNDANT_ITERATIONS);
	assert_advice(f, "batch", NULL);
}

/* A second loop, of main, without ticks of its own; there are 1,600 in what it calls. */
static struct loop *add_calling_loop(struct fixture *f)
{
	struct loop *row = sample_window_loop(f->window, 1, 2, 9, 0, LOOP_EVERY, 0);

	f->row = &f->window->loops.rows[0];
	row->type_ns[LOOP_EVERY] = 1600 * 5.0 * (double)NS_PER_MS;
	return row;
}

TEST(a_loop_that_calls_what_takes_the_time_is_told_behind_the_others, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop *row = add_calling_loop(f);
	const struct report_loop *l;

	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_int_equal(f->found.count, 2);
	l = &f->found.rows[1];
	assert_ptr_equal(l->row, row);
	assert_true(l->calls);
	assert_float_equal(l->fraction, 0, 0);
	assert_true(l->inclusive_fraction > 0.8 && l->inclusive_fraction <= 1);
	assert_true(l->nearest_fraction < l->inclusive_fraction);
	assert_int_equal(l->verdict, LOOP_VERDICT_NONE);
	assert_false(f->found.rows[0].calls);
}

TEST(one_that_calls_and_never_has_results_itself_is_not_judged, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop *row = add_calling_loop(f);

	row->type_ns[LOOP_NEVER] = 2 * row->type_ns[LOOP_EVERY];
	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_int_equal(f->found.rows[1].type, LOOP_NEVER);
	assert_int_equal(f->found.rows[1].verdict, LOOP_UNDECIDED);
}

TEST(of_one_that_calls_instances_that_load_the_same_say_little, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)add_calling_loop(f);
	sample_window_instances(f->window, 1, 9, 54, 0.97);
	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_true(f->found.rows[1].again.instance_rate.known);
	assert_int_equal(f->found.rows[1].verdict, LOOP_VERDICT_NONE);
	assert_int_equal(f->found.rows[1].advice_count, 0);
}

TEST(one_without_ticks_around_little_is_left_out, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop *row = add_calling_loop(f);

	row->latch_bci = 3; /* Its frames are at 4. */
	assert_int_equal(report_loops_init(&f->found, f->window), 0);
	assert_int_equal(f->found.count, 1);
}
