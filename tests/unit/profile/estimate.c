#include "tests/unit/support/test.h"

#include "profile/estimate.h"

/* Reference values: Wilson's formula evaluated by hand with z = 1.959963985. */
#define TOLERANCE 0.00005F

TEST(no_observation_says_nothing)
{
	struct interval ci = estimate_ci95(0, 0, 0);

	assert_float_equal(ci.low, 0, 0);
	assert_float_equal(ci.high, 1, 0);
	assert_float_equal(estimate_fraction(0, 0), 0, 0);
}

TEST(zero_of_ten_has_an_upper_bound_of_28_percent)
{
	struct interval ci = estimate_ci95(0, 10, 10);

	assert_float_equal(ci.low, 0, 0.000001F);
	assert_float_equal(ci.high, 0.27753, TOLERANCE); /* z^2 / (n + z^2) */
}

TEST(ten_of_ten_mirrors_zero_of_ten)
{
	struct interval ci = estimate_ci95(10, 10, 10);

	assert_float_equal(ci.low, 0.72247, TOLERANCE);
	assert_float_equal(ci.high, 1, 0.000001F);
}

TEST(half_of_a_hundred_is_wilsons_textbook_interval)
{
	struct interval ci = estimate_ci95(50, 100, 100);

	assert_float_equal(ci.low, 0.40383, TOLERANCE);
	assert_float_equal(ci.high, 0.59617, TOLERANCE);
}

TEST(equal_weights_do_not_change_the_interval)
{
	struct interval ones = estimate_ci95(50, 100, 100);
	struct interval eights = estimate_ci95(8 * 50, 8 * 100, 64 * 100);

	assert_float_equal(ones.low, eights.low, 0.000001F);
	assert_float_equal(ones.high, eights.high, 0.000001F);
}

TEST(mixed_widths_count_as_fewer_observations)
{
	/* 50 of 8 bytes and 50 of 1 byte: sum 450, squares 3250, effective n 62.3. */
	struct interval mixed = estimate_ci95(225, 450, 3250);
	struct interval even = estimate_ci95(50, 100, 100);

	assert_true(mixed.low < even.low);
	assert_true(mixed.high > even.high);
	assert_float_equal(mixed.high - 0.5, 0.12052, TOLERANCE);
}
