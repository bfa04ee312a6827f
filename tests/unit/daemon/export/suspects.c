#include "tests/unit/support/test.h"

#include <string.h>

#include "daemon/export/suspects.h"

#define PATIENCE_MS UINT64_C(900000)

/* Tries of a batch, a minute apart, until it is not simply tried again. Returns how many. */
static unsigned fail_until_searched(struct suspects *s, size_t windows, unsigned number,
				    uint64_t *now_ms)
{
	unsigned tries = 1;

	while (suspects_failed(s, windows, number, PATIENCE_MS, *now_ms) == SUSPECTS_TRY_AGAIN) {
		*now_ms += 60000;
		assert_true(++tries < 100);
	}
	return tries;
}

/* One window that fails alone, set aside. */
static uint64_t set_aside(struct suspects *s, unsigned number)
{
	uint64_t now_ms = 0;

	(void)fail_until_searched(s, 1, number, &now_ms);
	return now_ms;
}

TEST(a_batch_is_searched_after_enough_tries_and_enough_time)
{
	struct suspects s = {0};
	uint64_t now_ms = 5000;

	assert_int_equal(fail_until_searched(&s, 100, 7, &now_ms), 16);
	assert_int_equal(now_ms, 5000 + PATIENCE_MS);
	memset(&s, 0, sizeof(s));
	for (unsigned i = 1; i < SUSPECTS_TRIES; i++)
		assert_int_equal(suspects_failed(&s, 100, 7, PATIENCE_MS, i * PATIENCE_MS),
				 SUSPECTS_TRY_AGAIN);
	assert_int_equal(suspects_failed(&s, 100, 7, PATIENCE_MS, 100 * PATIENCE_MS),
			 SUSPECTS_HALVE);
	assert_int_equal(suspects_failed(&s, 50, 7, PATIENCE_MS, 100 * PATIENCE_MS),
			 SUSPECTS_HALVE);
}

TEST(what_is_taken_begins_the_tries_anew_but_not_the_search)
{
	struct suspects s = {0};
	uint64_t now_ms = 0;

	for (unsigned i = 0; i < SUSPECTS_TRIES; i++)
		(void)suspects_failed(&s, 100, 7, PATIENCE_MS, now_ms);
	suspects_taken(&s, 1, true);
	assert_int_equal(suspects_failed(&s, 100, 7, PATIENCE_MS, 2 * PATIENCE_MS),
			 SUSPECTS_TRY_AGAIN);
	(void)fail_until_searched(&s, 100, 7, &now_ms);
	suspects_taken(&s, 50, true); /* The first half; the second one has it. */
	assert_int_equal(suspects_failed(&s, 50, 57, PATIENCE_MS, now_ms), SUSPECTS_HALVE);
	suspects_taken(&s, 50, false);
	assert_int_equal(suspects_failed(&s, 50, 57, PATIENCE_MS, now_ms), SUSPECTS_TRY_AGAIN);
}

TEST(a_window_alone_is_tried_some_times_before_it_is_set_aside)
{
	struct suspects s = {0};
	uint64_t now_ms = 0;

	(void)fail_until_searched(&s, 2, 7, &now_ms);
	for (unsigned i = 1; i < SUSPECTS_ALONE; i++)
		assert_int_equal(suspects_failed(&s, 1, 7, PATIENCE_MS, now_ms),
				 SUSPECTS_TRY_AGAIN);
	assert_int_equal(suspects_failed(&s, 1, 7, PATIENCE_MS, now_ms), SUSPECTS_SET_ASIDE);
	assert_int_equal(s.count, 1);
	assert_int_equal(suspects_failed(&s, 1, 8, PATIENCE_MS, now_ms), SUSPECTS_TRY_AGAIN);
}

TEST(one_that_is_set_aside_is_tried_later_each_time)
{
	static const uint64_t minutes[] = {5, 10, 20, 40, 60, 60};
	struct suspects s = {0};
	uint64_t now_ms = set_aside(&s, 7);

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		assert_int_equal(suspects_next_ms(&s, now_ms), minutes[i] * 60000);
		assert_int_equal(suspects_due(&s, now_ms + minutes[i] * 60000 - 1), 0);
		now_ms += minutes[i] * 60000;
		assert_int_equal(suspects_due(&s, now_ms), 7);
		assert_int_equal(suspects_next_ms(&s, now_ms), 0);
		assert_false(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
	}
}

TEST(a_server_that_takes_nothing_costs_no_window)
{
	struct suspects s = {0};
	uint64_t now_ms = set_aside(&s, 7);

	for (unsigned i = 0; i < 1000; i++)
		assert_false(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
	/* One success does not count for all the failures before and after. */
	suspects_taken(&s, 1000, true);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
}

TEST(it_is_given_up_once_others_were_taken_before_each_of_its_failures)
{
	struct suspects s = {0};
	uint64_t now_ms = set_aside(&s, 7);

	for (unsigned i = 1; i < SUSPECTS_AGAIN; i++) {
		suspects_taken(&s, 1, true);
		assert_false(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
	}
	suspects_taken(&s, 1, true);
	/* The server was away: that is no failure of the window. */
	assert_false(suspects_postpone(&s, 7, false, PATIENCE_MS, now_ms));
	assert_true(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
	suspects_forget(&s, 7);
	assert_int_equal(s.count, 0);
	assert_true(suspects_next_ms(&s, now_ms) == UINT64_MAX);
	assert_false(suspects_postpone(&s, 7, true, PATIENCE_MS, now_ms));
}

TEST(no_more_than_so_many_are_set_aside)
{
	struct suspects s = {0};
	uint64_t now_ms = 0;

	for (unsigned i = 1; i <= SUSPECTS_MAX; i++) {
		assert_int_equal(suspects_wait_max_ms(&s, PATIENCE_MS), PATIENCE_MS / 8);
		(void)set_aside(&s, i);
	}
	assert_int_equal(s.count, SUSPECTS_MAX);
	assert_true(suspects_wait_max_ms(&s, PATIENCE_MS) == UINT64_MAX);
	for (unsigned i = 0; i < 100; i++, now_ms += PATIENCE_MS)
		assert_int_equal(suspects_failed(&s, 1, 1000, PATIENCE_MS, now_ms),
				 SUSPECTS_TRY_AGAIN);
	suspects_forget(&s, 3);
	assert_int_equal(suspects_failed(&s, 2, 1000, PATIENCE_MS, now_ms), SUSPECTS_HALVE);
}
