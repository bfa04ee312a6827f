#include "tests/unit/support/test.h"

#include <math.h>

#include "common/random.h"
#include "daemon/repeats/repeat_rate.h"

#define LOADS    3
#define SCALARS  2
#define WINDOWS  400
#define HELD_MIN 360

struct sums {
	struct repeat_sum loads[LOADS], scalars[SCALARS], together;
};

static double uniform(struct random *random)
{
	return random_next(random) / 0x1p32;
}

static struct repeat_rate rate_of(const struct sums *s, double times)
{
	struct repeat_inputs in = {0};

	for (int i = 0; i < LOADS; i++)
		repeat_inputs_load(&in, &s->loads[i], times);
	for (int i = 0; i < SCALARS; i++)
		repeat_inputs_scalar(&in, &s->scalars[i]);
	return repeat_inputs_rate(&in, &s->together, times);
}

/* A pair in which each value is there again with probability part, all of them at once or each for
 * itself; of the last load half as many. */
static void pair(struct random *random, struct sums *s, double part, bool at_once, unsigned loads,
		 unsigned scalars)
{
	unsigned load = random_below(random, loads), same = 0;
	double u = uniform(random), values = 0;

	for (int i = 0; i < 32; i++)
		values += (at_once ? u : uniform(random)) < (load == 2 ? part / 2 : part);
	repeat_sum_add(&s->loads[load], values / 32);
	for (unsigned i = 0; i < scalars; i++) {
		bool is_same = (at_once ? u : uniform(random)) < part;

		repeat_sum_add(&s->scalars[i], is_same);
		same += is_same;
	}
	if (scalars)
		repeat_sum_add(&s->together, same / (double)scalars);
}

static void check(struct random *random, double part, bool at_once, unsigned loads,
		  unsigned scalars, unsigned pairs)
{
	double truth = part * (loads - (loads == 3 ? 0.5 : 0) + scalars) / (loads + scalars);
	unsigned held = 0;

	for (int i = 0; i < WINDOWS; i++) {
		struct sums s = {0};
		struct repeat_rate r;

		for (unsigned j = 0; j < pairs; j++)
			pair(random, &s, part, at_once, loads, scalars);
		r = rate_of(&s, 1);
		assert_true(r.known);
		assert_true(r.ci95.high - r.ci95.low > 0.01);
		assert_float_equal(r.traces, pairs, 0);
		held += r.ci95.low <= truth + 1e-9 && truth <= r.ci95.high + 1e-9;
	}
	assert_true(held >= HELD_MIN);
}

TEST(intervals_hold)
{
	static const double parts[] = {0, 0.1, 0.3, 0.5, 0.9, 0.99, 1};
	struct random random;

	random_seed(&random, 7);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (unsigned pairs = 30; pairs <= 120; pairs *= 2) {
			check(&random, parts[i], false, 1, 0, pairs);
			check(&random, parts[i], true, 1, 0, pairs);
			check(&random, parts[i], true, 2, 0, pairs);
			check(&random, parts[i], true, 2, 2, pairs);
			check(&random, parts[i], false, 3, 2, pairs);
			check(&random, parts[i], true, 3, 1, pairs);
		}
}

TEST(each_input_counts_once)
{
	struct sums s = {0};
	struct repeat_rate r;

	for (int i = 0; i < 90; i++) {
		repeat_sum_add(&s.loads[0], 1);
		repeat_sum_add(&s.scalars[0], 0.5);
		repeat_sum_add(&s.together, 0.5);
	}
	for (int i = 0; i < 10; i++)
		repeat_sum_add(&s.loads[1], 0);
	r = rate_of(&s, 1);
	assert_float_equal(r.rate, 0.5, 1e-12);
	assert_float_equal(r.traces, 100, 0);
}

TEST(few_pairs_that_are_alike_are_not_certain)
{
	struct sums s = {0};

	assert_false(rate_of(&s, 1).known);
	repeat_sum_add(&s.loads[0], 1);
	assert_true(rate_of(&s, 1).ci95.low < 0.25);
	for (int i = 0; i < 29; i++)
		repeat_sum_add(&s.loads[0], 1);
	assert_float_equal(rate_of(&s, 1).ci95.low, 0.886, 0.001);
	assert_true(rate_of(&s, 4).ci95.low > 0.96);
	repeat_sum_add(&s.loads[1], 1); /* Of another one next to nothing is known. */
	assert_true(rate_of(&s, 1).ci95.low < 0.6);
}
