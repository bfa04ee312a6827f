/* Whether threads that start are worth their events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/crowd/turnover.h"

static void run(struct turnover *t, unsigned threads, uint64_t ticks)
{
	for (unsigned i = 0; i < threads; i++) {
		turnover_taken(t);
		turnover_ended(t, ticks);
	}
}

static void a_few_threads_that_end_at_once_say_nothing(void **state)
{
	struct turnover t = {0};

	(void)state;
	run(&t, 15, 0);
	assert_false(turnover_is_high(&t));
}

static void threads_that_end_without_a_tick_have_the_next_ones_wait(void **state)
{
	struct turnover t = {0};

	(void)state;
	run(&t, 16, 0);
	assert_true(turnover_is_high(&t));
	run(&t, 1000, 0);
	assert_true(turnover_is_high(&t));
}

static void threads_that_work_or_live_on_do_not(void **state)
{
	struct turnover t = {0};

	(void)state;
	run(&t, 100, 3);
	assert_false(turnover_is_high(&t));
	for (unsigned i = 0; i < 500; i++)
		turnover_taken(&t);
	assert_false(turnover_is_high(&t));
}

static void a_phase_of_short_threads_is_forgotten(void **state)
{
	struct turnover t = {0};

	(void)state;
	run(&t, 1000, 0);
	run(&t, 60, 5);
	assert_false(turnover_is_high(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_few_threads_that_end_at_once_say_nothing),
	    cmocka_unit_test(threads_that_end_without_a_tick_have_the_next_ones_wait),
	    cmocka_unit_test(threads_that_work_or_live_on_do_not),
	    cmocka_unit_test(a_phase_of_short_threads_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
