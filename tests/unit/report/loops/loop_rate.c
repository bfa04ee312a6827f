#include "tests/unit/support/test.h"

#include <math.h>

#include "common/random.h"
#include "report/loops/loop_rate.h"

static double uniform(struct random *r)
{
	return random_next(r) / 4294967296.0;
}

/* Bursts of 256 turns, each with a result by chance; rates of bursts differ by up to a factor. */
static struct loop_counts simulated(struct random *r, double rate, unsigned bursts, double factor)
{
	struct loop_counts c = {0};

	for (unsigned i = 0; i < bursts; i++) {
		/* The mean of 2u is 1. */
		double own = factor > 0 ? rate * (1 - factor + factor * 2 * uniform(r)) : rate;
		unsigned results = 0;

		for (unsigned turn = 0; turn < 256; turn++)
			results += uniform(r) < own;
		loop_counts_burst(&c, 256, results, 1, 1);
	}
	return c;
}

static double coverage(double rate, unsigned bursts, double factor)
{
	const unsigned runs = 400;
	struct random r;
	unsigned held = 0;

	random_seed(&r, 7);
	for (unsigned i = 0; i < runs; i++) {
		struct loop_counts c = simulated(&r, rate, bursts, factor);
		struct loop_rate found = loop_rate_of(&c, 1);

		held += found.ci95.low <= rate && rate <= found.ci95.high;
	}
	return (double)held / runs;
}

TEST(the_interval_holds_as_often_as_it_says)
{
	static const double rates[] = {5e-5, 1.0 / 4096, 1.0 / 64, 0.25};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		assert_true(coverage(rates[i], 40, 0) >= 0.92);
		assert_true(coverage(rates[i], 40, 1) >= 0.92);
	}
}

TEST(without_a_result_the_bound_is_what_chance_allows)
{
	struct loop_counts c = {0};
	struct loop_rate r;

	for (int i = 0; i < 30; i++)
		loop_counts_burst(&c, 2048, 0, 1, 8);
	r = loop_rate_of(&c, 1);
	assert_true(r.known);
	assert_float_equal(r.rate, 0, 0);
	/* An eighth of the places was counted. */
	assert_float_equal(r.seen, 30 * 256, 1e-6);
	assert_float_equal(pow(1 - r.ci95.high, 30 * 256), 0.025, 1e-6);
	assert_true(loop_rate_of(&c, 2).ci95.high < r.ci95.high);
}

TEST(a_rate_of_one_has_a_narrow_interval)
{
	struct loop_counts c = {0};
	struct loop_rate r;

	for (int i = 0; i < 30; i++)
		loop_counts_burst(&c, 256, 256, 1, 1);
	r = loop_rate_of(&c, 1);
	assert_float_equal(r.rate, 1, 1e-12);
	assert_true(r.ci95.low > 0.99 && r.ci95.high < 1.01);
}

TEST(one_burst_says_little)
{
	struct loop_counts c = {0};
	struct loop_rate r;

	assert_false(loop_rate_of(&c, 1).known);
	loop_counts_burst(&c, 256, 16, 1, 1);
	r = loop_rate_of(&c, 1);
	assert_true(r.ci95.low < 0.02 && r.ci95.high > 0.5);
}

TEST(bursts_that_counted_no_place_are_none)
{
	struct loop_counts c = {0};

	loop_counts_burst(&c, 256, 0, 0, 3);
	assert_false(loop_rate_of(&c, 1).known);
}

static struct loop_lengths read_lengths(unsigned count, double turns, double other)
{
	struct loop_lengths l = {0};

	for (unsigned i = 0; i < count; i++) {
		double n = i % 2 ? other : turns;

		l.read++;
		l.turns += n;
		l.squares += n * n;
	}
	return l;
}

TEST(instances_that_are_all_alike_leave_but_a_peeled_turn_open)
{
	struct loop_lengths l = read_lengths(20, 4095, 4095);
	struct loop_length length = loop_length_of(&l);

	assert_true(length.known);
	assert_float_equal(length.turns, 4095, 1e-6);
	assert_float_equal(length.ci95.low, 4095, 1e-6);
	assert_float_equal(length.ci95.high, 4096, 1e-6);
}

TEST(instances_that_differ_have_students_interval)
{
	struct loop_lengths l = read_lengths(16, 90, 110);
	struct loop_length length = loop_length_of(&l);

	assert_float_equal(length.turns, 100, 1e-9);
	/* A deviation of 10.3, 2.13 times a quarter of it. */
	assert_float_equal(length.ci95.low, 100 - 5.5, 0.05);
	assert_float_equal(length.ci95.high, 101 + 5.5, 0.05);
}

TEST(what_a_reading_leaves_open_widens_it)
{
	struct loop_lengths l = read_lengths(10, 100, 100);
	struct loop_length length;

	l.unsure = 10 * 3.5;
	length = loop_length_of(&l);
	assert_float_equal(length.ci95.low, 96.5, 1e-6);
	assert_float_equal(length.ci95.high, 104.5, 1e-6);
}

TEST(few_instances_or_many_that_were_not_told_say_nothing)
{
	struct loop_lengths l = read_lengths(LOOP_LENGTHS_MIN - 1, 100, 100);

	assert_false(loop_length_of(&l).known);
	l = read_lengths(18, 100, 100);
	l.left = 1;
	l.empty = 1;
	assert_true(loop_length_of(&l).known);
	l.left = 2;
	assert_false(loop_length_of(&l).known);
}
