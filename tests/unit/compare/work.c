#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "compare/work.h"
#include "tests/unit/support/compare_side_fixture.h"

/* Of methods with so many ticks on each side, beside one with what is left of 2,000. */
static struct compare_work work_of(const double (*ticks)[2], unsigned count)
{
	struct compare_side sides[2] = {side_of(1, 2000), side_of(2, 2000)};
	struct change_whole whole[2] = {{sides[0].whole_ns, 2000, 1}, {sides[1].whole_ns, 2000, 1}};
	struct compare_tree tree;
	struct compare_work w;
	char path[32];

	for (unsigned i = 0; i < count; i++)
		for (int s = 0; s < 2; s++) {
			(void)snprintf(path, sizeof(path), "main m%u", i);
			side_ticks(&sides[s], path, ticks[i][s]);
		}
	assert_int_equal(compare_tree_init(&tree, sides), 0);
	assert_int_equal(compare_work_of_methods(&w, &tree, whole), 0);
	compare_tree_release(&tree);
	compare_side_release(&sides[0]);
	compare_side_release(&sides[1]);
	return w;
}

static void methods_that_rise_alike_say_that_the_work_takes_less(void **state)
{
	static const double ticks[][2] = {
	    {1000, 0}, {400, 800}, {300, 600}, {200, 400}, {100, 200}};
	struct compare_work w = work_of(ticks, 5);

	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_float_equal(w.estimate, 0.5, 1e-9);
	assert_true(w.shown && w.high < 0.6 && w.low > 0.4);
	assert_int_equal(w.methods, 4);
	assert_float_equal(w.share[0], 0.5, 1e-9);
	assert_float_equal(w.factor.factor, 0.5, 1e-9);
}

/* It may be the one that has changed, or all the others. */
static void one_method_with_most_of_the_time_does_not_decide(void **state)
{
	double ticks[15][2] = {{1580, 1160}};
	struct compare_work w;

	for (int i = 1; i < 15; i++) {
		ticks[i][0] = 30;
		ticks[i][1] = 60;
	}
	w = work_of(ticks, 15);
	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_float_equal(w.estimate, 0.5, 0.02);
	assert_int_equal(w.methods, 14);
}

static void where_methods_do_not_agree_nothing_is_said(void **state)
{
	static const double ticks[][2] = {{400, 200}, {400, 200}, {400, 200}, {200, 400},
					  {200, 400}, {200, 400}, {200, 200}};
	struct compare_work w = work_of(ticks, 7);

	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_SHARES);
	assert_false(w.shown);
	assert_float_equal(w.factor.factor, 1, 0);
	assert_float_equal(w.factor.error, 0, 0);
}

static void two_methods_are_too_few(void **state)
{
	static const double ticks[][2] = {{1500, 1000}, {250, 500}, {250, 500}};
	struct compare_work w = work_of(ticks, 3);

	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_SHARES);
	assert_float_equal(w.low, 0, 0);
	assert_true(isinf(w.high));
}

static void a_program_that_does_not_change_has_factor_one_exactly(void **state)
{
	static const double ticks[][2] = {
	    {1000, 960}, {400, 420}, {300, 330}, {200, 190}, {100, 100}};
	struct compare_work w = work_of(ticks, 5);

	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_false(w.shown);
	assert_float_equal(w.factor.factor, 1, 0);
	assert_float_equal(w.factor.error, 0, 0);
	assert_true(w.low < 1 && w.high > 1);
}

static void operations_say_what_one_takes(void **state)
{
	struct change_whole whole[2] = {{8e9, 1600, 1}, {6e9, 1200, 1}};
	struct compare_work w =
	    compare_work_of_operations(whole, (const double[]){10, 10}, (const double[]){100, 150});
	double half = exp(2.5758 * WORK_OPERATIONS_DRIFT * sqrt(2));

	(void)state;
	assert_int_equal(w.basis, COMPARE_BY_OPERATIONS);
	assert_float_equal(w.estimate, 0.5, 1e-9);
	assert_float_equal(w.high, 0.5 * half, 1e-3);
	assert_true(w.shown);
	whole[0].windows = whole[1].windows = 100;
	w = compare_work_of_operations(whole, (const double[]){10, 10}, (const double[]){100, 76});
	assert_float_equal(w.estimate, 0.987, 1e-3);
	assert_true(w.shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(methods_that_rise_alike_say_that_the_work_takes_less),
	    cmocka_unit_test(one_method_with_most_of_the_time_does_not_decide),
	    cmocka_unit_test(where_methods_do_not_agree_nothing_is_said),
	    cmocka_unit_test(two_methods_are_too_few),
	    cmocka_unit_test(a_program_that_does_not_change_has_factor_one_exactly),
	    cmocka_unit_test(operations_say_what_one_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
