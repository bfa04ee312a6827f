#include "tests/unit/support/test.h"

#include <math.h>
#include <time.h>

#include "common/label.h"
#include "compare/work.h"
#include "tests/unit/support/compare_side_fixture.h"

/* Of methods with so many ticks on each side, beside one with what is left of all. */
static struct compare_work work_of_all(const double (*ticks)[2], unsigned count, double all)
{
	struct compare_side sides[2] = {side_of(1, all), side_of(2, all)};
	struct change_whole whole[2] = {{.amount = sides[0].whole_ns, .ticks = all, .windows = 1},
					{.amount = sides[1].whole_ns, .ticks = all, .windows = 1}};
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

static struct compare_work work_of(const double (*ticks)[2], unsigned count)
{
	return work_of_all(ticks, count, 2000);
}

TEST(methods_that_rise_alike_say_that_the_work_takes_less)
{
	static const double ticks[][2] = {
	    {1000, 0}, {400, 800}, {300, 600}, {200, 400}, {100, 200}};
	struct compare_work w = work_of(ticks, 5);

	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_float_equal(w.estimate, 0.5, 1e-9);
	assert_true(w.shown && w.high < 0.65 && w.low > 0.38);
	assert_int_equal(w.methods, 4);
	assert_float_equal(w.share[0], 0.5, 1e-9);
	assert_float_equal(w.factor.factor, 0.5, 1e-9);
}

/* It may be the one that has changed, or all the others. */
TEST(one_method_with_most_of_the_time_does_not_decide)
{
	double ticks[15][2] = {{1580, 1160}};
	struct compare_work w;

	for (int i = 1; i < 15; i++) {
		ticks[i][0] = 30;
		ticks[i][1] = 60;
	}
	w = work_of(ticks, 15);
	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_float_equal(w.estimate, 0.5, 0.02);
	assert_int_equal(w.methods, 14);
}

/* By what its share drifts from window to window, all others' shares have another ratio. */
TEST(a_drift_of_the_method_with_most_of_the_time_is_no_change_of_the_work)
{
	double ticks[33][2] = {{64000, 67200}};
	struct compare_work w;

	for (int i = 1; i < 33; i++) {
		ticks[i][0] = 500;
		ticks[i][1] = 400;
	}
	w = work_of_all(ticks, 33, 80000);
	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_int_equal(w.methods, 32);
	assert_float_equal(w.estimate, 1.25, 1e-9);
	assert_false(w.shown);
}

/* As many as reports have; the search was quadratic once. */
TEST(many_methods_are_compared_in_no_time)
{
	enum { MANY = 40960 };
	struct compare_method *methods = calloc(MANY + 1, sizeof(*methods));
	struct compare_tree tree = {.methods = methods, .method_count = MANY + 1};
	struct change_whole whole[2] = {
	    {.amount = MANY * 100.0, .ticks = MANY * 100.0, .windows = 1},
	    {.amount = MANY * 100.0, .ticks = MANY * 100.0, .windows = 1}};
	struct compare_work w;
	clock_t begin = clock();

	methods[0].name = METHOD_UNKNOWN;
	for (size_t i = 1; i <= MANY; i++) {
		double ticks[2] = {100, i % 4 == 0 ? 25 : 125};

		methods[i].name = "method";
		for (int s = 0; s < 2; s++)
			methods[i].own[s] = (struct compare_sums){ticks[s], ticks[s], ticks[s]};
	}
	assert_int_equal(compare_work_of_methods(&w, &tree, whole), 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1);
	assert_int_equal(w.methods, MANY * 3 / 4);
	assert_float_equal(w.estimate, 0.8, 1e-3);
	free(methods);
}

TEST(where_methods_do_not_agree_nothing_is_said)
{
	static const double ticks[][2] = {{400, 200}, {400, 200}, {400, 200}, {200, 400},
					  {200, 400}, {200, 400}, {200, 200}};
	struct compare_work w = work_of(ticks, 7);

	assert_int_equal(w.basis, COMPARE_BY_SHARES);
	assert_false(w.shown);
	assert_float_equal(w.factor.factor, 1, 0);
	assert_float_equal(w.factor.error, 0, 0);
}

TEST(two_methods_are_too_few)
{
	static const double ticks[][2] = {{1500, 1000}, {250, 500}, {250, 500}};
	struct compare_work w = work_of(ticks, 3);

	assert_int_equal(w.basis, COMPARE_BY_SHARES);
	assert_float_equal(w.low, 0, 0);
	assert_true(isinf(w.high));
}

TEST(a_program_that_does_not_change_has_factor_one_exactly)
{
	static const double ticks[][2] = {
	    {1000, 960}, {400, 420}, {300, 330}, {200, 190}, {100, 100}};
	struct compare_work w = work_of(ticks, 5);

	assert_int_equal(w.basis, COMPARE_BY_METHODS);
	assert_false(w.shown);
	assert_float_equal(w.factor.factor, 1, 0);
	assert_float_equal(w.factor.error, 0, 0);
	assert_true(w.low < 1 && w.high > 1);
}

TEST(operations_say_what_one_takes)
{
	struct change_whole whole[2] = {{.amount = 8e9, .ticks = 1600, .windows = 1},
					{.amount = 6e9, .ticks = 1200, .windows = 1}};
	struct compare_work w =
	    compare_work_of_operations(whole, (const double[]){10, 10}, (const double[]){100, 150});
	double half = exp(2.8070 * WORK_OPERATIONS_DRIFT * sqrt(2));

	assert_int_equal(w.basis, COMPARE_BY_OPERATIONS);
	assert_float_equal(w.estimate, 0.5, 1e-9);
	assert_float_equal(w.high, 0.5 * half, 1e-3);
	assert_true(w.shown);
	whole[0].windows = whole[1].windows = 100;
	w = compare_work_of_operations(whole, (const double[]){10, 10}, (const double[]){100, 76});
	assert_float_equal(w.estimate, 0.987, 1e-3);
	assert_true(w.shown);
}
