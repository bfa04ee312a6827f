#include "tests/unit/support/test.h"
#include <stdlib.h>

#include "common/clock.h"
#include "report/problems/loop_problems.h"
#include "tests/unit/support/clock_window.h"

static struct loop row;
static struct report_loop loop;
static struct report_loops loops;

/* A loop of the window's first method, with 1,000 of 10,000 ticks of 5 ms. */
static int set_up(void **state)
{
	struct cct_method m = {.name = 0};

	(void)state;
	clock_window_new(10000);
	row = (struct loop){.within = {.samples = 1000, .ns = 5e9}, .bursts = 100};
	assert_int_equal(cct_add_method(&w->profile.cct, &m, &row.key.method), 0);
	loop = (struct report_loop){
	    .row = &row, .verdict = LOOP_REDUNDANT_INSTANCES, .inclusive_fraction = 0.3};
	loop.again.instance_rate =
	    (struct repeat_rate){.known = true, .rate = 0.8, .ci95 = {.low = 0.7, .high = 0.9}};
	loops = (struct report_loops){.taken = true, .rows = &loop, .count = 1};
	return 0;
}

TEST(a_loop_that_no_problem_has_is_one, set_up, clock_window_free)
{
	struct problems problems = {.count = 1};

	problems.list[0] =
	    (struct problem){.method = 99, .saved = {.known = true, .ci95.low = 0.01}};
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.count, 2);
	assert_ptr_equal(problems.list[0].loop, &loop);
	assert_int_equal(problems.list[0].kind, PROBLEM_REPEATED);
	assert_float_equal(problems.list[0].own.share, 0.1, 1e-9);
	assert_float_equal(problems.list[0].saved.share, 0.08, 1e-9);
	assert_float_equal(problems.list[0].saved_bounds.high, 0.3, 1e-9);
	assert_int_equal(problems.list[1].method, 99);
	assert_null(problems.list[1].loop);
}

TEST(a_loop_without_results_is_a_search, set_up, clock_window_free)
{
	struct problems problems = {.count = 0};

	loop.verdict = LOOP_RESULTLESS;
	loop.results = (struct loop_rate){.known = true, .ci95 = {.high = 0.001}};
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.list[0].kind, PROBLEM_SEARCHED);
	assert_float_equal(problems.list[0].saved.share, 0.1, 1e-9);
}

TEST(a_loop_of_a_problems_operation_is_its_evidence, set_up, clock_window_free)
{
	struct problems problems = {.count = 1};

	problems.list[0].method = row.key.method;
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.count, 1);
	assert_ptr_equal(problems.list[0].loop, &loop);
}

TEST(loops_that_are_not_judged_say_nothing, set_up, clock_window_free)
{
	struct problems problems = {.count = 0};

	loop.verdict = LOOP_UNDECIDED;
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.count, 0);
}

/* The one that could save least goes. */
TEST(there_are_never_too_many, set_up, clock_window_free)
{
	struct problems problems = {.count = PROBLEMS_MAX};

	for (uint32_t i = 0; i < PROBLEMS_MAX; i++)
		problems.list[i] =
		    (struct problem){.method = 90 + i,
				     .saved = {.known = true, .ci95.low = 0.5 - 0.05 * i},
				     .sure = true};
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.count, PROBLEMS_MAX);
	assert_int_equal(problems.list[PROBLEMS_MAX - 1].method, 94);
	/* Nor where it is told by little, and the other one is sure. */
	row.bursts = PROBLEM_SURE - 1;
	problems.list[4].saved.ci95.low = 0.001;
	problems_take_loops(&problems, &loops, w);
	assert_int_equal(problems.list[PROBLEMS_MAX - 1].method, 94);
	row.bursts = PROBLEM_SURE;
	problems_take_loops(&problems, &loops, w);
	assert_ptr_equal(problems.list[PROBLEMS_MAX - 1].loop, &loop);
}
