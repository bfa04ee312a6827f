/* When ticks are due, what they stand for, and when their event comes. */
#include "tests/unit/support/test.h"

#include "attach/agent/reservoir/patience.h"
#include "attach/agent/ticks/tick_plan.h"

#define PERIOD_NS (40 * NS_PER_MS)

static struct random generator;

static int seed(void **state)
{
	(void)state;
	random_seed(&generator, 1);
	return 0;
}

TEST(ticks_are_a_period_apart_on_average_and_never_alike_for_long)
{
	uint64_t last, sum = 0, least = UINT64_MAX, most = 0;
	struct tick_plan p;

	tick_plan_begin(&p, &generator, PERIOD_NS, 0);
	last = p.due_ns;
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t ns;

		assert_int_equal(tick_plan_tick(&p, &generator, PERIOD_NS, p.due_ns), PERIOD_NS);
		ns = p.due_ns - last;
		last = p.due_ns;
		sum += ns;
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_float_equal((double)sum / 40000, (double)PERIOD_NS, 0.01 * (double)PERIOD_NS);
	assert_in_range(least, PERIOD_NS / 2, PERIOD_NS * 6 / 10);
	assert_in_range(most, PERIOD_NS * 14 / 10, PERIOD_NS * 3 / 2);
}

/* Also those of threads that end before their first tick. */
TEST(threads_that_live_for_less_than_a_period_are_told_by_some)
{
	const uint64_t life = PERIOD_NS / 4;
	double told = 0;

	for (unsigned i = 0; i < 40000; i++) {
		struct tick_plan p;

		tick_plan_begin(&p, &generator, PERIOD_NS, NS_PER_S);
		if (p.due_ns <= NS_PER_S + life)
			told += (double)tick_plan_tick(&p, &generator, PERIOD_NS, p.due_ns);
	}
	assert_float_equal(told / 40000, (double)life, 0.03 * (double)life);
}

/* However late they come, and however often the period changes. */
TEST(what_ticks_stand_for_is_the_cpu_time)
{
	uint64_t told = 0, now = NS_PER_S;
	struct tick_plan p;

	tick_plan_begin(&p, &generator, PERIOD_NS, now);
	for (unsigned i = 0; i < 20000; i++) {
		now += PERIOD_NS * random_below(&generator, 1u << 16) >> (i % 50 ? 14 : 9);
		told += tick_plan_tick(&p, &generator, PERIOD_NS * (1 + i / 1000 % 3), now);
	}
	assert_float_equal((double)told, (double)(now - NS_PER_S), 0.01 * (double)now);
}

TEST(an_event_that_comes_long_before_the_tick_is_none)
{
	struct tick_plan p;
	uint64_t due;

	tick_plan_begin(&p, &generator, PERIOD_NS, 0);
	(void)tick_plan_tick(&p, &generator, PERIOD_NS, p.due_ns);
	due = p.due_ns;
	assert_int_equal(tick_plan_tick(&p, &generator, PERIOD_NS, due - p.length_ns * 3 / 4), 0);
	assert_int_equal(p.due_ns, due);
	assert_int_equal(tick_plan_tick(&p, &generator, PERIOD_NS, due - p.length_ns / 4),
			 PERIOD_NS);
}

static struct tick_plan due_at(uint64_t ns)
{
	return (struct tick_plan){.due_ns = ns, .length_ns = PERIOD_NS, .period_ns = PERIOD_NS};
}

TEST(a_look_comes_first_and_the_tick_when_it_would_have)
{
	struct tick_plan p = due_at(NS_PER_S + PERIOD_NS);
	uint64_t now = NS_PER_S;

	assert_int_equal(tick_plan_next(&p, now, true), now + PATIENCE_NS);
	now += PATIENCE_NS + 5000;
	assert_true(tick_plan_is_look(&p, now));
	assert_int_equal(tick_plan_next(&p, now, false), NS_PER_S + PERIOD_NS);
	assert_false(tick_plan_is_look(&p, now));
}

TEST(a_look_that_comes_late_is_the_tick)
{
	struct tick_plan p = due_at(NS_PER_S + PERIOD_NS);

	(void)tick_plan_next(&p, NS_PER_S, true);
	assert_false(tick_plan_is_look(&p, p.due_ns));
	assert_false(tick_plan_is_look(&p, p.due_ns + PERIOD_NS * 5));
}

TEST(ticks_that_are_near_look_themselves)
{
	struct tick_plan p = due_at(NS_PER_S + PATIENCE_NS);

	assert_int_equal(tick_plan_next(&p, NS_PER_S, true), p.due_ns);
	assert_false(p.look);
}

TEST(a_tick_that_was_due_comes_at_once)
{
	struct tick_plan p = due_at(NS_PER_S);

	assert_int_equal(tick_plan_next(&p, NS_PER_S + 7, false), NS_PER_S + 7);
}

int main(void)
{
	return tests_run(seed, NULL);
}
