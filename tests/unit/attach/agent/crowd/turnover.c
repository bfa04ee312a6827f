/* Whether threads that start are worth their events. */
#include "tests/unit/support/test.h"

#include "attach/agent/crowd/turnover.h"

static void run(struct turnover *t, unsigned threads, uint64_t ticks)
{
	for (unsigned i = 0; i < threads; i++) {
		turnover_taken(t);
		turnover_ended(t, ticks);
	}
}

TEST(a_few_threads_that_end_at_once_say_nothing)
{
	struct turnover t = {0};

	run(&t, 15, 0);
	assert_false(turnover_is_high(&t));
}

TEST(threads_that_end_without_a_tick_have_the_next_ones_wait)
{
	struct turnover t = {0};

	run(&t, 16, 0);
	assert_true(turnover_is_high(&t));
	run(&t, 1000, 0);
	assert_true(turnover_is_high(&t));
}

TEST(threads_that_work_or_live_on_do_not)
{
	struct turnover t = {0};

	run(&t, 100, 3);
	assert_false(turnover_is_high(&t));
	for (unsigned i = 0; i < 500; i++)
		turnover_taken(&t);
	assert_false(turnover_is_high(&t));
}

TEST(a_phase_of_short_threads_is_forgotten)
{
	struct turnover t = {0};

	run(&t, 1000, 0);
	run(&t, 60, 5);
	assert_false(turnover_is_high(&t));
}
