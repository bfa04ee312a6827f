/* What part of the budget allocations get, by what they bring. */
#include "tests/unit/support/test.h"

#include "attach/agent/objects/alloc_share.h"
#include "proto/ledger.h"

#define MOST  ledger_table[LEDGER_ALLOCATIONS].most
#define LEAST ledger_table[LEDGER_ALLOCATIONS].least

static double after(struct alloc_share *s, uint64_t accesses, uint64_t met)
{
	return alloc_share_next(s, s->last_accesses + accesses, s->last_met + met);
}

TEST(objects_alone_have_the_largest_share_whatever_they_bring)
{
	struct alloc_share s;

	alloc_share_init(&s, true);
	assert_true(s.share == MOST);
	assert_true(after(&s, 10000, 0) == MOST);
}

TEST(beside_pairs_they_begin_with_a_third_of_it)
{
	struct alloc_share s;

	alloc_share_init(&s, false);
	assert_float_equal(s.share, MOST / 3, 0.001);
}

TEST(accesses_that_meet_nothing_take_it_down_to_the_least)
{
	struct alloc_share s;
	double before;

	alloc_share_init(&s, false);
	before = s.share;
	assert_true(after(&s, 100, 0) < before);
	for (unsigned i = 0; i < 20; i++)
		(void)after(&s, 100, 0);
	assert_true(s.share == LEAST);
}

TEST(accesses_that_meet_objects_raise_it_to_the_largest)
{
	struct alloc_share s;

	alloc_share_init(&s, false);
	assert_true(after(&s, 30, 1) > 0.8 * MOST);
	assert_true(after(&s, 100, 5) == MOST);
}

/* At the least share one in 50 would be one in 16 at the largest. */
TEST(a_small_share_is_no_reason_for_a_small_share)
{
	struct alloc_share s;

	alloc_share_init(&s, false);
	for (unsigned i = 0; i < 50; i++)
		(void)after(&s, 100, 0);
	assert_true(s.share == LEAST);
	for (unsigned i = 0; i < 40; i++)
		(void)after(&s, 50, 1);
	assert_true(s.share > 2 * LEAST);
}

TEST(what_was_long_ago_is_forgotten)
{
	struct alloc_share s;

	alloc_share_init(&s, false);
	(void)after(&s, 100000, 50000);
	assert_true(s.share == MOST);
	for (unsigned i = 0; i < 200; i++)
		(void)after(&s, 400, 0);
	assert_true(s.share == LEAST);
}

TEST(what_cannot_be_totals_changes_nothing)
{
	struct alloc_share s;
	double before;

	alloc_share_init(&s, false);
	before = alloc_share_next(&s, 100, 1);
	assert_true(alloc_share_next(&s, 100, 1) == before);
	assert_true(alloc_share_next(&s, 50, 1) == before);
	assert_true(alloc_share_next(&s, 200, 0) == before);
	assert_true(alloc_share_next(&s, 101, 50) == before);
	assert_true(alloc_share_next(&s, UINT64_MAX, UINT64_MAX) == before);
	assert_int_equal(s.last_accesses, 100);
}
