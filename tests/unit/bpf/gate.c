#include "tests/unit/support/test.h"

#include <pthread.h>

#include "bpf/gate.h"

#define THREADS     4
#define TRIES       20000
#define TOKENS      1000
#define SHORT_BURST 3

/* At a time that is far from both ends of the clock. */
#define NOW (UINT64_C(1) << 50)

static struct gate gate(uint64_t interval_ns, uint64_t burst_ns)
{
	return (struct gate){.limits = {.window_end_ns = UINT64_MAX,
					.interval_ns = interval_ns,
					.burst_ns = burst_ns}};
}

TEST(a_full_bucket_lets_a_burst_pass_and_no_more)
{
	struct gate g = gate(10, SHORT_BURST * 10);

	for (int i = 0; i < SHORT_BURST; i++)
		assert_int_equal(gate_admit(&g, NOW), GATE_PASSED);
	assert_int_equal(gate_admit(&g, NOW), GATE_BUDGET_SPENT);
}

TEST(a_token_comes_back_every_interval)
{
	struct gate g = gate(10, SHORT_BURST * 10);

	for (int i = 0; i <= SHORT_BURST; i++)
		(void)gate_admit(&g, NOW);
	assert_int_equal(gate_admit(&g, NOW + 9), GATE_BUDGET_SPENT);
	assert_int_equal(gate_admit(&g, NOW + 10), GATE_PASSED);
	assert_int_equal(gate_admit(&g, NOW + 10), GATE_BUDGET_SPENT);
}

TEST(a_long_rest_fills_the_bucket_only_once)
{
	struct gate g = gate(10, SHORT_BURST * 10);
	uint64_t later = NOW + 1000000;

	assert_int_equal(gate_admit(&g, NOW), GATE_PASSED);
	for (int i = 0; i < SHORT_BURST; i++)
		assert_int_equal(gate_admit(&g, later), GATE_PASSED);
	assert_int_equal(gate_admit(&g, later), GATE_BUDGET_SPENT);
}

TEST(a_sample_that_is_dropped_costs_no_token)
{
	struct gate g = gate(10, 10);

	assert_int_equal(gate_admit(&g, NOW), GATE_PASSED);
	for (int i = 0; i < 100; i++)
		assert_int_equal(gate_admit(&g, NOW + 9), GATE_BUDGET_SPENT);
	assert_int_equal(gate_admit(&g, NOW + 10), GATE_PASSED);
}

TEST(nothing_passes_once_the_window_is_over)
{
	struct gate g = gate(1, 1000);

	g.limits.window_end_ns = NOW;
	assert_int_equal(gate_admit(&g, NOW - 1), GATE_PASSED);
	assert_int_equal(gate_admit(&g, NOW), GATE_WINDOW_OVER);
	g.limits.window_end_ns = 0;
	assert_int_equal(gate_admit(&g, 0), GATE_WINDOW_OVER);
}

TEST(the_longest_times_do_not_overflow)
{
	struct gate g = gate(GATE_TIME_MAX_NS, GATE_TIME_MAX_NS);
	uint64_t last = UINT64_MAX - 2 * GATE_TIME_MAX_NS; /* in the year 2554 */

	assert_int_equal(gate_admit(&g, last), GATE_PASSED);
	assert_int_equal(gate_admit(&g, last), GATE_BUDGET_SPENT);
	assert_int_equal(gate_admit(&g, last + GATE_TIME_MAX_NS), GATE_PASSED);
}

/* On a CPU whose clock is a little behind. */
TEST(a_clock_that_is_behind_gets_no_token_twice)
{
	struct gate g = gate(10, 10);

	assert_int_equal(gate_admit(&g, NOW), GATE_PASSED);
	assert_int_equal(gate_admit(&g, NOW - 5), GATE_BUDGET_SPENT);
}

struct taker {
	pthread_t thread;
	struct gate *gate;
	uint64_t outcomes[GATE_OUTCOMES];
};

static void *take(void *arg)
{
	struct taker *t = arg;

	for (int i = 0; i < TRIES; i++)
		t->outcomes[gate_admit(t->gate, NOW)]++;
	return NULL;
}

TEST(threads_together_take_exactly_the_tokens_there_are)
{
	struct gate g = gate(10, TOKENS * 10);
	struct taker takers[THREADS] = {{0}};
	uint64_t sums[GATE_OUTCOMES] = {0};

	for (int i = 0; i < THREADS; i++) {
		takers[i].gate = &g;
		assert_int_equal(pthread_create(&takers[i].thread, NULL, take, &takers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
		for (int o = 0; o < GATE_OUTCOMES; o++)
			sums[o] += takers[i].outcomes[o];
	}
	assert_int_equal(sums[GATE_PASSED], TOKENS);
	assert_int_equal(sums[GATE_BUDGET_SPENT] + sums[GATE_CONTENDED], THREADS * TRIES - TOKENS);
}
