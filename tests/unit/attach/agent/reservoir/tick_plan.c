/* When the clock's event comes, and what for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/reservoir/patience.h"
#include "attach/agent/reservoir/tick_plan.h"

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
	uint64_t sum = 0, least = UINT64_MAX, most = 0;
	struct tick_plan p = {0};

	(void)state;
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t ns = tick_plan_next(&p, &generator, PERIOD_NS, i * PERIOD_NS, false);

		assert_false(p.look);
		sum += ns;
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_float_equal((double)sum / 40000, (double)PERIOD_NS, 0.01 * (double)PERIOD_NS);
	assert_in_range(least, PERIOD_NS / 2, PERIOD_NS * 6 / 10);
	assert_in_range(most, PERIOD_NS * 14 / 10, PERIOD_NS * 3 / 2);
}

static void a_look_comes_first_and_the_tick_when_it_would_have(void **state)
{
	uint64_t now = NS_PER_S;
	struct tick_plan p = {0};

	(void)state;
	assert_int_equal(tick_plan_next(&p, &generator, PERIOD_NS, now, true), PATIENCE_NS);
	now += PATIENCE_NS + 5000;
	assert_true(tick_plan_is_look(&p, now));
	assert_int_equal(tick_plan_end_look(&p, now), NS_PER_S + p.length_ns - now);
	assert_false(tick_plan_is_look(&p, NS_PER_S + p.length_ns));
}

static void a_look_that_comes_late_is_the_tick(void **state)
{
	struct tick_plan p = {0};

	(void)state;
	(void)tick_plan_next(&p, &generator, PERIOD_NS, NS_PER_S, true);
	assert_false(tick_plan_is_look(&p, NS_PER_S + p.length_ns));
	assert_false(tick_plan_is_look(&p, NS_PER_S + p.length_ns * 5));
}

static void the_event_never_comes_over_and_over(void **state)
{
	struct tick_plan p = {0};

	(void)state;
	(void)tick_plan_next(&p, &generator, PERIOD_NS, NS_PER_S, true);
	assert_int_equal(tick_plan_end_look(&p, NS_PER_S + p.length_ns * 5), PATIENCE_NS);
	(void)tick_plan_next(&p, &generator, PERIOD_NS, NS_PER_S, true);
	assert_int_equal(tick_plan_refused(&p, PERIOD_NS), p.length_ns);
	assert_false(p.look);
}

static void ticks_that_are_near_look_themselves(void **state)
{
	struct tick_plan p = {0};

	(void)state;
	assert_true(tick_plan_next(&p, &generator, PATIENCE_NS, NS_PER_S, true) < 2 * PATIENCE_NS);
	assert_false(p.look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ticks_are_a_period_apart_on_average_and_never_alike_for_long),
	    cmocka_unit_test(a_look_comes_first_and_the_tick_when_it_would_have),
	    cmocka_unit_test(a_look_that_comes_late_is_the_tick),
	    cmocka_unit_test(the_event_never_comes_over_and_over),
	    cmocka_unit_test(ticks_that_are_near_look_themselves),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
