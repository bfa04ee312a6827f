#include "tests/unit/support/test.h"

#include <math.h>

#include "profile/combine/batches.h"

TEST(batches_are_of_windows_that_follow_each_other)
{
	struct batch_clock clock = {0};
	double sums[MERGED_BATCHES] = {0};
	unsigned batch = 0;
	bool fold;

	assert_int_equal(batch_count(&clock), 0);
	clock = batch_clock_of(0);
	assert_int_equal(batch_count(&clock), 0);
	clock = batch_clock_of(UINT32_MAX);
	assert_int_equal(batch_count(&clock), MERGED_BATCHES);
	clock = (struct batch_clock){0};
	for (unsigned i = 0; i < 1000; i++) {
		unsigned before = batch;

		batch = batch_next(&clock, &fold);
		if (fold)
			batches_fold(sums);
		else
			assert_in_range(batch, before, before + 1);
		assert_in_range(batch, 0, MERGED_BATCHES - 1);
		sums[batch] += 1;
		assert_int_equal(batch_count(&clock), batch + 1);
		assert_int_equal(batch_clock_of(i + 1).capacity, clock.capacity);
		assert_int_equal(batch_clock_of(i + 1).windows, clock.windows);
	}
	/* 64 in each, and what is left in the last. */
	for (unsigned i = 0; i < 15; i++)
		assert_float_equal(sums[i], 64, 0);
	assert_float_equal(sums[15], 40, 0);
}

TEST(equal_batches_have_the_textbooks_variance)
{
	double part[MERGED_BATCHES], whole[MERGED_BATCHES], mean = 0, squares = 0;
	const unsigned n = 10;

	for (unsigned i = 0; i < n; i++) {
		whole[i] = 300;
		part[i] = 30 + 7 * (i % 3);
		mean += part[i] / n;
	}
	for (unsigned i = 0; i < n; i++)
		squares += (part[i] - mean) * (part[i] - mean);
	assert_float_equal(batches_variance(part, whole, n),
			   n / (n - 1.0) * squares / (3000. * 3000), 1e-12);
}

TEST(a_large_batch_is_not_taken_for_certain)
{
	double part[MERGED_BATCHES] = {900}, whole[MERGED_BATCHES] = {3000};

	for (unsigned i = 1; i < 8; i++) {
		whole[i] = 100;
		part[i] = 10 + 5 * (i % 2);
	}
	/* It draws the mean to itself; without it the fraction is 0.12. */
	assert_true(sqrt(batches_variance(part, whole, 8)) > 0.1);
}

TEST(one_batch_says_nothing)
{
	double part[MERGED_BATCHES] = {1, 2}, whole[MERGED_BATCHES] = {9, 9};

	assert_float_equal(batches_variance(part, whole, 1), 0, 0);
	assert_float_equal(batches_variance(part, whole, 0), 0, 0);
	whole[1] = part[1] = 0;
	assert_float_equal(batches_variance(part, whole, 2), 0, 0); /* The other one is empty. */
}

TEST(few_batches_need_a_wider_interval)
{
	assert_float_equal(sqrt(batches_inflation(1)), 12.706 / 1.960, 1e-3);
	assert_float_equal(sqrt(batches_inflation(7)), 2.365 / 1.960, 1e-3);
	assert_float_equal(sqrt(batches_inflation(15)), 2.131 / 1.960, 1e-3);
}

TEST(unequal_batches_have_the_freedom_of_fewer)
{
	double equal[] = {5, 5, 5, 5}, one[] = {100, 1, 1, 1}, some[] = {2, 1, 1, 1};

	assert_float_equal(batches_freedom(equal, 4), 3, 1e-9);
	assert_float_equal(batches_freedom(one, 4), 1, 1e-9);
	assert_float_equal(batches_freedom(some, 4), 25 / 7.0 - 1, 1e-9);
}

TEST(only_what_batches_differ_beyond_sampling_counts)
{
	double part[] = {10, 30}, whole[] = {100, 100};
	double variance = batches_variance(part, whole, 2);
	struct merged_spread s = batches_spread(part, whole, 2, 2 * variance);

	assert_float_equal(s.excess, 0, 0);
	assert_float_equal(s.effect, 1, 0);
	s = batches_spread(part, whole, 2, variance / 3);
	assert_float_equal(s.excess, 2, 1e-9);
	assert_float_equal(s.freedom, 1, 0);
	assert_float_equal(s.effect, 1 + 2 * batches_inflation(1), 1e-6);
}
