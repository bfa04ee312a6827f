/* Who may spend what of a budget, and what holds when all want their shares at once. */
#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "proto/ledger.h"

#define EXACT 1e-12

static const struct ledger_row *row(unsigned account)
{
	return &ledger_table[account];
}

TEST(every_account_has_a_share_and_none_more_than_the_one_it_is_within)
{
	for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++) {
		assert_true(row(i)->most > 0 && row(i)->most <= 1);
		assert_true(row(i)->least >= 0 && row(i)->least < row(i)->most);
		assert_true(row(i)->most <= row(row(i)->within)->most);
	}
}

/* Thus what is spent is in one sum or the other, once. */
TEST(every_account_is_in_the_end_one_of_ticks_or_beside_them)
{
	for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++) {
		unsigned top = i;

		for (unsigned steps = 0; row(top)->within != top; steps++) {
			assert_true(steps < LEDGER_ACCOUNTS);
			top = row(top)->within;
		}
		assert_true(top == LEDGER_TICKS || top == LEDGER_BESIDE);
	}
}

TEST(what_is_paid_with_ticks_fits_beside_what_is_not)
{
	double with_ticks = 0;

	for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++)
		if (row(i)->within == LEDGER_TICKS && i != LEDGER_TICKS)
			with_ticks += row(i)->most;
	assert_true(with_ticks + row(LEDGER_BESIDE)->most <= 1 + EXACT);
	assert_true(row(LEDGER_TICKS)->least + row(LEDGER_BESIDE)->most <= 1);
}

TEST(ticks_alone_yield_and_the_session_thread_s_work_alone_waits)
{
	for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++) {
		assert_int_equal(row(i)->when_short == LEDGER_YIELDS, i == LEDGER_TICKS);
		if (row(i)->when_short == LEDGER_WAITS)
			assert_true(i == LEDGER_SESSION || row(i)->within == LEDGER_SESSION);
	}
}

TEST(an_account_may_spend_its_share_and_no_more)
{
	struct ledger l = {
	    .budget = 0.01, .cpu_ns = NS_PER_S, .spent_ns[LEDGER_LOOPS] = 3 * NS_PER_MS};

	assert_float_equal(ledger_most(&l, LEDGER_LOOPS), 0.004, EXACT);
	assert_float_equal(ledger_due_ns(&l, LEDGER_LOOPS), 4e6, 1);
	assert_float_equal(ledger_left_ns(&l, LEDGER_LOOPS), 1e6, 1);
	l.spent_ns[LEDGER_LOOPS] = 5 * NS_PER_MS;
	assert_float_equal(ledger_left_ns(&l, LEDGER_LOOPS), -1e6, 1);
	assert_float_equal(ledger_apart_ns(&l, LEDGER_SCANS, 1000), 1e6, 1);
}

TEST(what_waits_is_put_off_while_the_session_thread_has_spent_its_share)
{
	struct ledger l = {.budget = 0.01};

	assert_false(ledger_affords(&l, LEDGER_IMAGES));
	l.cpu_ns = NS_PER_S;
	assert_true(ledger_affords(&l, LEDGER_IMAGES));
	l.spent_ns[LEDGER_SESSION] = 6 * NS_PER_MS;
	assert_false(ledger_affords(&l, LEDGER_SESSION));
	assert_false(ledger_affords(&l, LEDGER_IMAGES));
	assert_false(ledger_affords(&l, LEDGER_NEWS));
	assert_true(ledger_affords(&l, LEDGER_SCANS));
	assert_true(ledger_affords(&l, LEDGER_LOOPS));
}

/* Of a budget of 1%, after a second of CPU time, in thousandths of the budget. */
static double left_for_ticks(unsigned ticks, unsigned setup, unsigned session, unsigned open)
{
	const struct ledger l = {.budget = 0.01,
				 .cpu_ns = NS_PER_S,
				 .spent_ns = {[LEDGER_TICKS] = ticks * 10000,
					      [LEDGER_SETUP] = setup * 10000,
					      [LEDGER_SESSION] = session * 10000,
					      [LEDGER_OPEN] = open * 10000}};

	return ledger_left_for_ticks(&l) * 100000;
}

TEST(ticks_have_what_the_others_leave)
{
	assert_float_equal(left_for_ticks(700, 100, 100, 100), 700, 1e-6);
	assert_float_equal(left_for_ticks(500, 100, 200, 200), 500, 1e-6);
	/* The others take no more than half from them. */
	assert_float_equal(left_for_ticks(100, 300, 300, 300), 500, 1e-6);
}

TEST(what_was_not_spent_comes_back_a_quarter_at_most)
{
	assert_float_equal(left_for_ticks(800, 0, 100, 0), 1000, 1e-6);
	assert_float_equal(left_for_ticks(100, 0, 100, 0), 1150, 1e-6);
}

TEST(what_was_spent_too_much_is_saved_twice_and_ticks_keep_a_tenth)
{
	assert_float_equal(left_for_ticks(1100, 0, 0, 0), 800, 1e-6);
	assert_float_equal(left_for_ticks(1000, 0, 100, 100), 400, 1e-6);
	assert_float_equal(left_for_ticks(5000, 500, 500, 500), 100, 1e-6);
}
