/* Uniform survival, with fixed seeds. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/reservoir/reservoir.h"

TEST(free_registers_are_taken_first)
{
	struct random random;
	struct reservoir r;
	unsigned seen = 0;
	bool replaced;

	random_seed(&random, 1);
	reservoir_init(&r, 4);
	for (unsigned i = 0; i < 4; i++) {
		int reg = reservoir_offer(&r, &random, &replaced);

		assert_in_range(reg, 0, 3);
		assert_false(replaced);
		seen |= 1u << reg;
	}
	assert_int_equal(seen, 0xf);
}

TEST(a_freed_register_is_certain_for_the_next_sample)
{
	struct random random;
	struct reservoir r;
	bool replaced;

	random_seed(&random, 2);
	reservoir_init(&r, 2);
	for (unsigned i = 0; i < 100; i++)
		(void)reservoir_offer(&r, &random, &replaced);
	reservoir_free(&r, 1);
	assert_int_equal(reservoir_offer(&r, &random, &replaced), 1);
	assert_false(replaced);
	assert_int_equal(r.offered[1], 1);
}

TEST(the_second_sample_replaces_with_probability_one_half)
{
	struct random random;
	unsigned kept = 0;

	random_seed(&random, 3);
	for (unsigned i = 0; i < 10000; i++) {
		struct reservoir r;
		bool replaced;

		reservoir_init(&r, 1);
		(void)reservoir_offer(&r, &random, &replaced);
		kept += reservoir_offer(&r, &random, &replaced) < 0;
	}
	/* Binomial(10000, 1/2): 4 standard deviations are 200. */
	assert_in_range(kept, 4800, 5200);
}

/* Offers SAMPLES samples to one register that never traps; which of them it holds in the end must
 * be uniform. */
#define SAMPLES 20u
#define TRIALS  40000u

TEST(survival_is_uniform_over_time)
{
	unsigned held[SAMPLES] = {0};
	double chi_square = 0, expected = (double)TRIALS / SAMPLES;
	struct random random;

	random_seed(&random, 4);
	for (unsigned trial = 0; trial < TRIALS; trial++) {
		struct reservoir r;
		unsigned holder = 0;
		bool replaced;

		reservoir_init(&r, 1);
		for (unsigned s = 0; s < SAMPLES; s++)
			if (reservoir_offer(&r, &random, &replaced) == 0)
				holder = s;
		held[holder]++;
	}
	for (unsigned s = 0; s < SAMPLES; s++)
		chi_square += (held[s] - expected) * (held[s] - expected) / expected;
	/* 19 degrees of freedom: 43.8 is exceeded with probability 0.001. */
	assert_true(chi_square < 43.8);
}

TEST(no_register_is_favoured)
{
	unsigned taken[4] = {0};
	struct random random;
	struct reservoir r;
	double chi_square = 0, expected = 0;

	random_seed(&random, 5);
	for (unsigned trial = 0; trial < 20000; trial++) {
		bool replaced;
		int reg;

		reservoir_init(&r, 4);
		for (unsigned i = 0; i < 4; i++)
			r.offered[i] = 7;
		reg = reservoir_offer(&r, &random, &replaced);
		if (reg >= 0)
			taken[reg]++;
	}
	for (unsigned i = 0; i < 4; i++)
		expected += taken[i] / 4.0;
	for (unsigned i = 0; i < 4; i++)
		chi_square += (taken[i] - expected) * (taken[i] - expected) / expected;
	assert_true(chi_square < 16.3); /* 3 degrees of freedom, probability 0.001 */
}

TEST(clearing_frees_all)
{
	struct random random;
	struct reservoir r;
	bool replaced;

	random_seed(&random, 6);
	reservoir_init(&r, 3);
	for (unsigned i = 0; i < 50; i++)
		(void)reservoir_offer(&r, &random, &replaced);
	reservoir_clear(&r);
	assert_int_equal(reservoir_offer(&r, &random, &replaced), 0);
	assert_false(replaced);
}

/* Listing 2 of the paper: the first loop's loads are repeated by the second, a thousand samples on.
 * The number of pairs that one pass over both loops completes, by the reservoir or by always
 * replacing the oldest. */
#define LOOP_SAMPLES 1000u

static unsigned pairs_of_listing_2(struct random *random, bool replace_oldest)
{
	unsigned element[4] = {0}, oldest = 0, pairs = 0;
	struct reservoir r;

	reservoir_init(&r, 4);
	for (unsigned sample = 0; sample < 2 * LOOP_SAMPLES; sample++) {
		unsigned loaded = sample % LOOP_SAMPLES;
		bool replaced;
		int reg;

		for (unsigned i = 0; i < 4; i++) {
			if (r.offered[i] > 0 && element[i] == loaded) {
				pairs++;
				reservoir_free(&r, i);
			}
		}
		reg = reservoir_offer(&r, random, &replaced);
		if (replace_oldest && r.offered[oldest] > 0 && (reg < 0 || replaced)) {
			reg = (int)oldest;
			oldest = (oldest + 1) % 4;
		}
		if (reg >= 0)
			element[reg] = loaded;
	}
	return pairs;
}

TEST(silent_loads_of_long_distance_are_detected)
{
	unsigned by_reservoir = 0, by_oldest = 0;
	struct random random;

	random_seed(&random, 7);
	for (unsigned trial = 0; trial < 100; trial++) {
		by_reservoir += pairs_of_listing_2(&random, false);
		by_oldest += pairs_of_listing_2(&random, true);
	}
	assert_int_equal(by_oldest, 0);
	/* Of the four samples held at the end of the first loop about half survive the second. */
	assert_in_range(by_reservoir, 150, 400);
}

/* Every second sample completes at once, the others after 30 more samples. Weighted, both types
 * must be found equally often. */
#define LATE 30u

TEST(weights_make_up_for_pairs_that_lost_their_register)
{
	double at_once = 0, late = 0;
	unsigned late_count = 0, due[4] = {0};
	struct random random;
	struct reservoir r;

	random_seed(&random, 8);
	reservoir_init(&r, 4);
	for (unsigned sample = 0; sample < 200000; sample++) {
		bool replaced;
		int reg;

		for (unsigned i = 0; i < 4; i++) {
			if (r.offered[i] > 0 && due[i] == sample) {
				late += reservoir_weight(&r, i);
				late_count++;
				reservoir_free(&r, i);
			}
		}
		reg = reservoir_offer(&r, &random, &replaced);
		if (reg < 0)
			continue;
		if (sample % 2 == 0) {
			at_once += reservoir_weight(&r, (unsigned)reg);
			reservoir_free(&r, (unsigned)reg);
		} else {
			due[reg] = sample + LATE;
		}
	}
	/* 100000 each; unweighted, late ones are several times rarer. */
	assert_in_range(late_count, 1000, 40000);
	assert_in_range((unsigned)at_once, 97000, 103000);
	assert_in_range((unsigned)late, 97000, 103000);
}

TEST(a_sample_that_found_a_register_free_stands_for_itself)
{
	struct random random;
	struct reservoir r;
	bool replaced;

	random_seed(&random, 9);
	reservoir_init(&r, 2);
	assert_int_equal(reservoir_offer(&r, &random, &replaced), 0);
	assert_int_equal(reservoir_offer(&r, &random, &replaced), 1);
	assert_true(reservoir_weight(&r, 0) == 1);
	assert_true(reservoir_weight(&r, 1) == 1);
}
