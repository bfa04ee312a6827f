#include "tests/unit/support/test.h"

#include <math.h>

#include "common/random.h"
#include "profile/repeats/repeat_rate.h"

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

#define NAIVE_MAX 6

/* As it is defined. */
static unsigned naive(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	unsigned change, insert, delete;

	if (a_count == 0 || b_count == 0)
		return (unsigned)(a_count + b_count);
	change = naive(a + 1, a_count - 1, b + 1, b_count - 1) + (a[0] != b[0]);
	insert = naive(a, a_count, b + 1, b_count - 1) + 1;
	delete = naive(a + 1, a_count - 1, b, b_count) + 1;
	if (insert < change)
		change = insert;
	return delete < change ? delete : change;
}

static size_t draw(struct random *random, uint32_t *values)
{
	size_t count = random_below(random, NAIVE_MAX + 1);

	for (size_t i = 0; i < count; i++)
		values[i] = random_below(random, 3);
	return count;
}

TEST(distances_are_as_defined)
{
	struct random random;

	random_seed(&random, 5);
	for (int i = 0; i < 2000; i++) {
		uint32_t a[NAIVE_MAX], b[NAIVE_MAX];
		size_t a_count = draw(&random, a), b_count = draw(&random, b);
		unsigned distance = sequence_distance(a, a_count, b, b_count);
		double repeated = sequence_repeated(a, a_count, b, b_count);

		assert_int_equal(distance, naive(a, a_count, b, b_count));
		assert_int_equal(distance, sequence_distance(b, b_count, a, a_count));
		assert_true(repeated >= 0 && repeated <= 1);
	}
}

TEST(what_has_grown_is_all_there_again)
{
	static const uint32_t before[] = {1, 2, 3, 4}, after[] = {1, 2, 3, 4, 5, 6},
			      half[] = {1, 2, 8, 9};

	assert_float_equal(sequence_repeated(before, 4, after, 6), 1, 0);
	assert_float_equal(sequence_repeated(after, 6, before, 4), 1, 0);
	assert_float_equal(sequence_repeated(before, 4, half, 4), 0.5, 1e-12);
	assert_float_equal(sequence_repeated(before, 2, half + 2, 2), 0, 0);
}

TEST(a_sequence_of_nothing_is_only_in_another_one_of_nothing)
{
	static const uint32_t one[] = {1};

	assert_float_equal(sequence_repeated(one, 0, one, 0), 1, 0);
	assert_float_equal(sequence_repeated(one, 1, one, 0), 0, 0);
	assert_float_equal(sequence_repeated(one, 0, one, 1), 0, 0);
}

TEST(few_values_are_there_again_by_chance)
{
	enum { N = LIMIT_TRACE_VALUES, TIMES = 1000 };
	uint32_t a[N], b[N];
	struct random random;
	double part, sum = 0;

	random_seed(&random, 7);
	for (int i = 0; i < TIMES; i++) {
		for (unsigned k = 0; k < N; k++) {
			a[k] = random_below(&random, 4) == 0;
			b[k] = random_below(&random, 4) == 0;
		}
		assert_true(sequence_repeated(a, N, b, N) > 0.4);
		assert_true(sequence_repeated_beyond_chance(a, N, b, N, &part));
		assert_true(part >= 0 && part <= 1);
		sum += part;
		/* The same again is the same again, of however few values. */
		assert_true(sequence_repeated_beyond_chance(a, N, a, N, &part));
		assert_float_equal(part, 1, 0);
	}
	assert_true(sum / TIMES < 0.15);
	for (unsigned k = 0; k < N; k++) {
		a[k] = random_below(&random, UINT32_MAX);
		b[k] = k < N / 2 ? a[k] : random_below(&random, UINT32_MAX);
	}
	assert_true(sequence_repeated_beyond_chance(a, N, b, N, &part));
	assert_float_equal(part, 0.5, 0.05);
}

TEST(values_that_are_all_alike_say_nothing)
{
	static const uint32_t alike[] = {7, 7, 7, 7, 7, 7, 7, 7},
			      others[] = {8, 8, 8, 8, 8, 8, 8, 8};
	double part;

	assert_false(sequence_repeated_beyond_chance(alike, 8, alike, 8, &part));
	assert_true(sequence_repeated_beyond_chance(alike, 8, others, 8, &part));
	assert_float_equal(part, 0, 0);
	/* One value is as good as a value that the instance begins with. */
	assert_true(sequence_repeated_beyond_chance(alike, 1, alike, 1, &part));
	assert_float_equal(part, 1, 0);
	assert_true(sequence_repeated_beyond_chance(alike, 8, alike, 0, &part));
	assert_float_equal(part, 0, 0);
}

TEST(the_longest_fit)
{
	uint32_t a[LIMIT_TRACE_VALUES], b[LIMIT_TRACE_VALUES];

	for (uint32_t i = 0; i < LIMIT_TRACE_VALUES; i++) {
		a[i] = i;
		b[i] = i + 1;
	}
	assert_int_equal(sequence_distance(a, LIMIT_TRACE_VALUES, b, LIMIT_TRACE_VALUES), 2);
}
