#include "tests/unit/support/test.h"

#include <math.h>
#include <stdbool.h>

#include "fleet/total.h"

TEST(all_of_them_are_the_total)
{
	struct fleet_total t = {0};

	fleet_total_add(&t, 3, 1);
	fleet_total_add(&t, 4, 1);
	fleet_total_end_host(&t, 1);
	fleet_total_end_host(&t, 1); /* A host without any changes nothing. */
	assert_true(t.estimate == 7);
	assert_true(t.variance == 0);
	assert_int_equal(t.hosts, 1);
	assert_int_equal(t.jvms, 2);
}

TEST(each_stands_for_those_left_out)
{
	struct fleet_total t = {0};

	fleet_total_add(&t, 3, 0.5);
	fleet_total_end_host(&t, 0.25);
	assert_true(t.estimate == 24);
	/* 12 * 6^2 + 4 * 2 * 3^2 */
	assert_true(fabs(t.variance - 504) < 1e-9);
	assert_true(fabs(fleet_total_error95(&t) - 1.959964 * sqrt(504)) < 1e-9);
}

/* Two hosts of two JVMs: over all 64 samples, with their probabilities, estimate and variance
 * are right on average. */
TEST(nothing_is_biased)
{
	static const double y[2][2] = {{1, 2}, {3, 5}};
	const double p_host = 0.4, p_jvm = 0.3, truth = 11;
	double mean = 0, spread = 0, estimated = 0;

	for (unsigned sample = 0; sample < 64; sample++) {
		struct fleet_total t = {0};
		double probability = 1;

		for (unsigned h = 0; h < 2; h++) {
			bool host = sample >> h & 1;

			probability *= host ? p_host : 1 - p_host;
			for (unsigned j = 0; j < 2; j++) {
				bool jvm = sample >> (2 + 2 * h + j) & 1;

				probability *= jvm ? p_jvm : 1 - p_jvm;
				if (host && jvm)
					fleet_total_add(&t, y[h][j], p_jvm);
			}
			fleet_total_end_host(&t, p_host);
		}
		mean += probability * t.estimate;
		spread += probability * (t.estimate - truth) * (t.estimate - truth);
		estimated += probability * t.variance;
	}
	assert_true(fabs(mean - truth) < 1e-9);
	assert_true(fabs(estimated - spread) < 1e-9);
}
