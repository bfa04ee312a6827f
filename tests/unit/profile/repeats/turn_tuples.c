#include "tests/unit/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/random.h"
#include "profile/repeats/turn_tuples.h"

#define TURNS    1000000u
#define WINDOWS  60
#define LENGTH   32u
#define HELD_MIN 52

/* What a turn goes by, in a program that makes TURNS of them. */
typedef uint64_t program(uint32_t turn);

/* Scattered, and the same each time. */
static uint32_t scatter(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static uint64_t all_different(uint32_t turn)
{
	return turn;
}

static uint64_t few_keys(uint32_t turn)
{
	return scatter(turn) % 5;
}

/* 10,000 values, each 100 times, */
static uint64_t often(uint32_t turn)
{
	return scatter(turn) % 10000;
}

/* in order. */
static uint64_t in_order(uint32_t turn)
{
	return turn % 10000;
}

static uint64_t twice_in_a_row(uint32_t turn)
{
	return turn / 2;
}

static uint64_t eight_in_a_row(uint32_t turn)
{
	return turn / 8;
}

/* Seven of ten turns have one of ten keys. */
static uint64_t mostly_few(uint32_t turn)
{
	return scatter(turn) % 10 < 7 ? scatter(turn) / 16 % 10 : 1000 + turn;
}

/* Three of ten. */
static uint64_t few_at_times(uint32_t turn)
{
	return scatter(turn) % 10 < 3 ? scatter(turn) / 16 % 10 : 1000 + turn;
}

/* By phases of the program. */
static uint64_t phases(uint32_t turn)
{
	return turn / 5000 % 4 ? turn % 10 : 1000 + turn;
}

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static double truth_of(program *p)
{
	uint64_t *all = malloc(TURNS * sizeof(*all));
	double different = 1;

	assert_non_null(all);
	for (uint32_t i = 0; i < TURNS; i++)
		all[i] = p(i);
	qsort(all, TURNS, sizeof(*all), by_value);
	for (uint32_t i = 1; i < TURNS; i++)
		different += all[i] != all[i - 1];
	free(all);
	return 1 - different / TURNS;
}

/* No turn is in two traces. */
static uint32_t begin(struct random *random, uint32_t *taken, unsigned count)
{
	for (;;) {
		uint32_t first = random_below(random, TURNS - LENGTH);
		bool is_free = true;

		for (unsigned i = 0; i < count; i++)
			is_free &= first + LENGTH <= taken[i] || taken[i] + LENGTH <= first;
		if (is_free)
			return taken[count] = first;
	}
}

static struct repeat_rate window(struct random *random, program *p, unsigned traces)
{
	struct turn_tuples *t = calloc(1, sizeof(*t));
	uint32_t taken[TURN_TRACES_MAX];
	struct turn_counts counts;
	struct turn_sums sums;

	assert_non_null(t);
	for (unsigned i = 0; i < traces; i++) {
		uint32_t first = begin(random, taken, i);
		uint64_t tuples[LENGTH];

		for (uint32_t j = 0; j < LENGTH; j++)
			tuples[j] = p(first + j);
		assert_true(turn_tuples_add(t, tuples, LENGTH, 1000 + 10 * (double)i));
	}
	assert_int_equal(turn_tuples_count(t, &counts), 0);
	sums = turn_counts_sums(&counts, TURNS * counts.turn_ns);
	assert_float_equal(sums.turns, TURNS, 1e-3);
	free(t);
	return turn_sums_rate(&sums);
}

static program *const programs[] = {
    all_different,  few_keys,   often,        in_order, twice_in_a_row,
    eight_in_a_row, mostly_few, few_at_times, phases,
};

/* Of windows with so many traces each interval is one of 95%, as far as can be seen of so few
 * windows: fewer than 52 of 60 would be one in ninety. The rate is within a tenth in most. */
static void check(unsigned traces, unsigned near_min)
{
	struct random random;

	random_seed(&random, traces);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		double truth = truth_of(programs[i]);
		unsigned held = 0, near = 0;

		for (unsigned j = 0; j < WINDOWS; j++) {
			struct repeat_rate r = window(&random, programs[i], traces);

			assert_true(r.known);
			assert_true(r.ci95.low < r.ci95.high);
			held += r.ci95.low <= truth + 1e-9 && truth <= r.ci95.high + 1e-9;
			near += fabs(r.rate - truth) < 0.1;
		}
		assert_true(held >= HELD_MIN);
		assert_true(near >= near_min);
	}
}

TEST(intervals_hold)
{
	check(30, 40);
	check(60, 50);
	check(128, 57);
}

TEST(what_is_sampled_alone_would_say_little)
{
	struct random random;
	struct repeat_rate r;

	random_seed(&random, 3);
	r = window(&random, often, TURN_TRACES_MAX);
	assert_float_equal(r.rate, 0.99, 0.005);
}

TEST(there_are_no_fewer_turns_than_were_seen)
{
	static const uint64_t tuples[] = {1, 2, 1, 3};
	struct turn_tuples *t = calloc(1, sizeof(*t));
	struct turn_counts counts;
	struct turn_sums sums;

	assert_non_null(t);
	assert_true(turn_tuples_add(t, tuples, 4, 0));
	assert_true(turn_tuples_add(t, tuples, 0, 50));
	assert_int_equal(turn_tuples_count(t, &counts), 0);
	assert_float_equal(counts.turn_ns, 50, 0);
	sums = turn_counts_sums(&counts, 10);
	assert_int_equal(sums.traces, 1);
	assert_int_equal(sums.distinct, 3);
	assert_float_equal(sums.turns, 4, 0);
	assert_float_equal(sums.estimated, 3, 0);
	assert_float_equal(turn_sums_rate(&sums).rate, 0.25, 1e-12);
	free(t);
}

TEST(of_nothing_nothing_is_known)
{
	struct turn_tuples *t = calloc(1, sizeof(*t));
	struct turn_counts counts;
	struct turn_sums sums;

	assert_non_null(t);
	assert_int_equal(turn_tuples_count(t, &counts), 0);
	sums = turn_counts_sums(&counts, 1e9);
	assert_false(turn_sums_rate(&sums).known);
	free(t);
}

TEST(no_more_traces_are_kept_than_there_is_room_for)
{
	struct turn_tuples *t = calloc(1, sizeof(*t));
	uint64_t tuples[LIMIT_TRACE_VALUES] = {0};

	assert_non_null(t);
	for (unsigned i = 0; i < TURN_TRACES_MAX; i++)
		assert_true(turn_tuples_add(t, tuples, LIMIT_TRACE_VALUES, 1));
	assert_false(turn_tuples_add(t, tuples, LIMIT_TRACE_VALUES, 1));
	free(t);
}
