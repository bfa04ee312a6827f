#include "tests/unit/support/test.h"

#include <math.h>

#include "compare/change.h"

/* Windows so many that none drifts. */
#define STILL (1u << 31)

static const struct change_factor one = {1, 0};

static void of_ticks(struct compare_sums *part, struct change_whole *whole, double n, double ticks)
{
	*whole = (struct change_whole){.amount = n, .ticks = n, .windows = STILL};
	*part = (struct compare_sums){ticks, ticks, ticks};
}

TEST(ticks_are_two_proportions)
{
	struct change_whole whole[2];
	struct compare_sums part[2];
	double pa = 301 / 1002.0, pb = 201 / 1002.0;
	double half = 3 * sqrt(pa * (1 - pa) / 1002 + pb * (1 - pb) / 1002);
	struct change c;

	of_ticks(&part[0], &whole[0], 1000, 300);
	of_ticks(&part[1], &whole[1], 1000, 200);
	c = change_of(part, whole, &one, 3);
	assert_float_equal(c.difference, -0.1, 1e-12);
	assert_float_equal(c.low, pb - pa - half, 1e-6);
	assert_float_equal(c.high, pb - pa + half, 1e-6);
	assert_true(c.shown);
}

/* Each observation being ten ticks, ten times less is known. */
TEST(heavy_observations_say_less)
{
	struct change_whole whole[2];
	struct compare_sums part[2];
	struct change light, heavy;

	of_ticks(&part[0], &whole[0], 1000, 300);
	of_ticks(&part[1], &whole[1], 1000, 200);
	light = change_of(part, whole, &one, 2);
	for (int i = 0; i < 2; i++) {
		part[i].squares *= 10;
		part[i].count /= 10;
	}
	heavy = change_of(part, whole, &one, 2);
	assert_true(light.high - light.low < 0.5 * (heavy.high - heavy.low));
	assert_true(light.shown);
	assert_false(heavy.shown);
}

TEST(what_was_never_seen_on_a_side_is_not_certain_there)
{
	struct change_whole whole[2];
	struct compare_sums part[2];

	of_ticks(&part[0], &whole[0], 1000, 0);
	of_ticks(&part[1], &whole[1], 1000, 6);
	assert_false(change_of(part, whole, &one, change_quantile(100)).shown);
	of_ticks(&part[1], &whole[1], 1000, 60);
	assert_true(change_of(part, whole, &one, change_quantile(100)).shown);
}

TEST(more_that_is_looked_at_has_wider_intervals)
{
	assert_float_equal(change_quantile(1), 2.8070, 1e-3);
	assert_float_equal(change_quantile(100), 4.0556, 1e-3);
}

TEST(shown_is_what_excludes_zero)
{
	struct change_whole whole[2];
	struct compare_sums part[2];
	unsigned shown = 0;

	for (int a = 0; a <= 1000; a += 25)
		for (int b = 0; b <= 1000; b += 25) {
			struct change c;

			of_ticks(&part[0], &whole[0], 1000, a);
			of_ticks(&part[1], &whole[1], 1000, b);
			whole[0].windows = whole[1].windows = 1;
			c = change_of(part, whole, &(struct change_factor){0.9, 0.02}, 4);
			assert_int_equal(c.shown, c.low > 0 || c.high < 0);
			assert_true(c.low <= c.difference && c.difference <= c.high);
			shown += c.shown;
		}
	assert_true(shown > 100 && shown < 1600);
}

TEST(bs_time_is_for_the_same_work)
{
	struct change_whole whole[2];
	struct compare_sums part[2];
	struct change c;

	of_ticks(&part[0], &whole[0], 1000, 300);
	of_ticks(&part[1], &whole[1], 1000, 600); /* of half the time */
	c = change_of(part, whole, &(struct change_factor){0.5, 0.01}, 2);
	assert_float_equal(c.share[1], 0.3, 1e-12);
	assert_false(c.shown);
}

/* Of windows that differ by three times what sampling makes them. */
static bool shown_of_windows(double freedom_a, double freedom_b, double b)
{
	struct change_whole whole[2];
	struct compare_sums part[2];

	of_ticks(&part[0], &whole[0], 1000, 300);
	of_ticks(&part[1], &whole[1], 1000, b);
	for (int i = 0; i < 2; i++) {
		whole[i].excess = 3;
		whole[i].freedom = i == 0 ? freedom_a : freedom_b;
	}
	return change_of(part, whole, &one, change_quantile(2)).shown;
}

TEST(windows_that_differ_show_less_the_fewer_they_are)
{
	assert_true(shown_of_windows(15, 15, 150));
	assert_false(shown_of_windows(15, 15, 220)); /* Shown of windows that are alike. */
	assert_false(shown_of_windows(2, 2, 150));
	assert_false(shown_of_windows(1, 1, 1));
}

TEST(time_behind_the_last_ticks_may_be_anybodys)
{
	struct change_whole whole[2];
	struct compare_sums part[2];

	of_ticks(&part[0], &whole[0], 1000, 980);
	of_ticks(&part[1], &whole[1], 1000, 700);
	assert_true(change_of(part, whole, &one, 3).shown);
	whole[1].after = 0.3;
	assert_false(change_of(part, whole, &one, 3).shown);
}

TEST(a_few_ticks_show_nothing)
{
	struct change_whole whole[2];
	struct compare_sums part[2];

	of_ticks(&part[0], &whole[0], 1000, 1000);
	of_ticks(&part[1], &whole[1], 9, 0);
	assert_false(change_of(part, whole, &one, 3).shown);
	of_ticks(&part[1], &whole[1], 10, 0);
	assert_true(change_of(part, whole, &one, 3).shown);
}
