#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "daemon/combine/share.h"
#include "tests/unit/support/random_program.h"

/* n observations of one size, of which so many are in the part. */
static void plain(struct share_part *part, struct share_whole *whole, double n, double in_part)
{
	*whole = (struct share_whole){.sum = n, .squares = n, .windows = UINT32_MAX};
	*part = (struct share_part){.sum = in_part, .squares = in_part, .products = in_part};
}

static void observations_of_one_size_make_the_fourfold_tables_test(void **state)
{
	struct share_whole whole[2];
	struct share_part part[2];
	struct share_comparison c;

	(void)state;
	plain(&part[0], &whole[0], 1000, 60);
	plain(&part[1], &whole[1], 1000, 30);
	share_compare(part, whole, &c);
	assert_float_equal(c.difference, -0.03, 1e-12);
	/* Yates: (|60 * 970 - 30 * 940| - 1000)^2 * 2000 / (90 * 1910 * 1000 * 1000) */
	assert_float_equal(pow((0.03 - c.correction) / c.standard_error, 2), 9.785, 0.001);
	assert_float_equal(c.p, 0.00176, 5e-5);
}

/* As a merge's beside a window's: what an observation counts is a matter of scale. */
static void sides_of_other_scales_are_compared_alike(void **state)
{
	struct share_whole whole[2];
	struct share_part part[2];
	struct share_comparison c, scaled;

	(void)state;
	plain(&part[0], &whole[0], 1000, 960);
	plain(&part[1], &whole[1], 1000, 930);
	share_compare(part, whole, &c);
	whole[1].sum *= 50;
	whole[1].squares *= 2500;
	part[1].sum *= 50;
	part[1].squares *= 2500;
	part[1].products *= 2500;
	share_compare(part, whole, &scaled);
	assert_float_equal(scaled.difference, c.difference, 1e-12);
	assert_float_equal(scaled.ci95.low, c.ci95.low, 1e-9);
	assert_float_equal(scaled.correction, c.correction, 1e-9);
	assert_float_equal(scaled.p, c.p, 1e-9);
}

static void what_was_never_seen_on_a_side_is_not_certain_there(void **state)
{
	struct share_whole whole[2];
	struct share_part part[2];
	struct share_comparison c;

	(void)state;
	plain(&part[0], &whole[0], 1500, 3);
	plain(&part[1], &whole[1], 1500, 0);
	share_compare(part, whole, &c);
	assert_true(c.p > 0.2);
	assert_true(c.ci95.low < 0 && c.ci95.high > 0);
}

/* Sampling alone, without what is allowed for drift: the tests keep to their level by themselves.
 */
static void tests_of_shares_keep_to_their_level(void **state)
{
	unsigned alarms[2] = {0}; /* At 5% and at 1% */
	uint64_t seed = 8;

	(void)state;
	for (unsigned run = 0; run < 4000; run++) {
		struct share_whole whole[2] = {0};
		struct share_part part[2] = {0};
		struct share_comparison c;

		for (unsigned side = 0; side < 2; side++) {
			whole[side].windows = UINT32_MAX; /* Which do not drift. */
			for (unsigned n = 0; n < (side ? 300 : 1500); n++) {
				double x = 1 << (unsigned)(4 * draw(&seed));

				whole[side].sum += x;
				whole[side].squares += x * x;
				if (draw(&seed) >= 0.03)
					continue;
				part[side].sum += x;
				part[side].squares += x * x;
				part[side].products += x * x;
			}
		}
		share_compare(part, whole, &c);
		alarms[0] += c.p <= 0.05;
		alarms[1] += c.p <= 0.01;
	}
	print_message("%.1f%% at 5%%, %.1f%% at 1%%\n", alarms[0] / 40., alarms[1] / 40.);
	assert_in_range(alarms[0], 40, 200);
	assert_in_range(alarms[1], 4, 52);
}

static void adjusted_probabilities_are_holms(void **state)
{
	double p[] = {0.001, 0.01, 0.012, 0.4, 0.9};
	const double adjusted[] = {0.005, 0.04, 0.04, 0.8, 0.9};

	(void)state;
	share_adjust(p, 5);
	for (size_t i = 0; i < 5; i++)
		assert_float_equal(p[i], adjusted[i], 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(observations_of_one_size_make_the_fourfold_tables_test),
	    cmocka_unit_test(sides_of_other_scales_are_compared_alike),
	    cmocka_unit_test(what_was_never_seen_on_a_side_is_not_certain_there),
	    cmocka_unit_test(tests_of_shares_keep_to_their_level),
	    cmocka_unit_test(adjusted_probabilities_are_holms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
