/* When ticks are due, what they stand for, and when their event comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void ticks_are_a_period_apart_on_average_and_never_alike_for_long(void **state)
{
	uint64_t last, sum = 0, least = UINT64_MAX, most = 0;
	struct tick_plan p;

	(void)state;
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
static void threads_that_live_for_less_than_a_period_are_told_by_some(void **state)
{
	const uint64_t life = PERIOD_NS / 4;
	double told = 0;

	(void)state;
	for (unsigned i = 0; i < 40000; i++) {
		struct tick_plan p;

		tick_plan_begin(&p, &generator, PERIOD_NS, NS_PER_S);
		if (p.due_ns <= NS_PER_S + life)
			told += (double)tick_plan_tick(&p, &generator, PERIOD_NS, p.due_ns);
	}
	assert_float_equal(told / 40000, (double)life, 0.03 * (double)life);
}

/* However late they come, and however often the period changes. */
static void what_ticks_stand_for_is_the_cpu_time(void **state)
{
	uint64_t told = 0, now = NS_PER_S;
	struct tick_plan p;

	(void)state;
	tick_plan_begin(&p, &generator, PERIOD_NS, now);
	for (unsigned i = 0; i < 20000; i++) {
		now += PERIOD_NS * random_below(&generator, 1u << 16) >> (i % 50 ? 14 : 9);
		told += tick_plan_tick(&p, &generator, PERIOD_NS * (1 + i / 1000 % 3), now);
	}
	assert_float_equal((double)told, (double)(now - NS_PER_S), 0.01 * (double)now);
}

static void an_event_that_comes_long_before_the_tick_is_none(void **state)
{
	struct tick_plan p;
	uint64_t due;

	(void)state;
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

static void a_look_comes_first_and_the_tick_when_it_would_have(void **state)
{
	struct tick_plan p = due_at(NS_PER_S + PERIOD_NS);
	uint64_t now = NS_PER_S;

	(void)state;
	assert_int_equal(tick_plan_next(&p, now, true), now + PATIENCE_NS);
	now += PATIENCE_NS + 5000;
	assert_true(tick_plan_is_look(&p, now));
	assert_int_equal(tick_plan_next(&p, now, false), NS_PER_S + PERIOD_NS);
	assert_false(tick_plan_is_look(&p, now));
}

static void a_look_that_comes_late_is_the_tick(void **state)
{
	struct tick_plan p = due_at(NS_PER_S + PERIOD_NS);

	(void)state;
	(void)tick_plan_next(&p, NS_PER_S, true);
	assert_false(tick_plan_is_look(&p, p.due_ns));
	assert_false(tick_plan_is_look(&p, p.due_ns + PERIOD_NS * 5));
}

static void ticks_that_are_near_look_themselves(void **state)
{
	struct tick_plan p = due_at(NS_PER_S + PATIENCE_NS);

	(void)state;
	assert_int_equal(tick_plan_next(&p, NS_PER_S, true), p.due_ns);
	assert_false(p.look);
}

static void a_tick_that_was_due_comes_at_once(void **state)
{
	struct tick_plan p = due_at(NS_PER_S);

	(void)state;
	assert_int_equal(tick_plan_next(&p, NS_PER_S + 7, false), NS_PER_S + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ticks_are_a_period_apart_on_average_and_never_alike_for_long),
	    cmocka_unit_test(threads_that_live_for_less_than_a_period_are_told_by_some),
	    cmocka_unit_test(what_ticks_stand_for_is_the_cpu_time),
	    cmocka_unit_test(an_event_that_comes_long_before_the_tick_is_none),
	    cmocka_unit_test(a_look_comes_first_and_the_tick_when_it_would_have),
	    cmocka_unit_test(a_look_that_comes_late_is_the_tick),
	    cmocka_unit_test(ticks_that_are_near_look_themselves),
	    cmocka_unit_test(a_tick_that_was_due_comes_at_once),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
