/* How densely allocations are sampled, what part of the budget they get, and how small an object
 * may be and still be tracked. */
#include "tests/unit/support/test.h"

#include "attach/agent/jvmti/alloc_sampling.h"
#include "attach/agent/objects/alloc_pace.h"
#include "proto/ledger.h"

#define MS UINT64_C(1000000)

TEST(cheap_sampling_gets_denser_to_a_limit)
{
	struct alloc_pace p;
	uint32_t interval = 0;

	alloc_pace_init(&p, 0.0025);
	assert_int_equal(p.interval, ALLOC_SAMPLING_DEFAULT);
	assert_int_equal(alloc_pace_next(&p, 0, 100 * MS, true), ALLOC_SAMPLING_DEFAULT / 2);
	for (unsigned i = 2; i < 20; i++)
		interval = alloc_pace_next(&p, 0, i * 100 * MS, true);
	assert_int_equal(interval, ALLOC_INTERVAL_MIN);
}

TEST(dear_sampling_gets_thinner)
{
	struct alloc_pace p;

	alloc_pace_init(&p, 0.0025);
	/* 1% of the CPU time, where a quarter of 1% is allowed. */
	assert_int_equal(alloc_pace_next(&p, 1 * MS, 100 * MS, true), 4 * ALLOC_SAMPLING_DEFAULT);
	/* 0.5%. */
	assert_int_equal(alloc_pace_next(&p, 3 * MS / 2, 200 * MS, true),
			 8 * ALLOC_SAMPLING_DEFAULT);
}

TEST(so_few_samples_that_they_say_little_make_it_thinner_by_steps)
{
	struct alloc_pace p;

	alloc_pace_init(&p, 0.00001);
	assert_int_equal(alloc_pace_next(&p, MS / 4, 100 * MS, true), 8 * ALLOC_SAMPLING_DEFAULT);
}

TEST(a_cost_that_tells_by_itself_is_not_waited_with)
{
	struct alloc_pace p;
	uint64_t dear;

	alloc_pace_init(&p, 0.0025);
	dear = alloc_pace_dear_ns(&p);
	/* 4 of the first 16 ms, which is a hundred times what is allowed. */
	assert_int_equal(alloc_pace_next(&p, 4 * MS, 16 * MS, true), 128 * ALLOC_SAMPLING_DEFAULT);
	assert_int_equal(alloc_pace_dear_ns(&p), dear + 4 * MS);
	/* The next span begins there; nothing in it tells anything yet. */
	assert_int_equal(alloc_pace_next(&p, dear + 4 * MS - 1, 20 * MS, true),
			 128 * ALLOC_SAMPLING_DEFAULT);
	/* A process whose clock has not moved. */
	assert_int_equal(alloc_pace_next(&p, dear + 4 * MS, 16 * MS, true),
			 128 * ALLOC_SAMPLING_DEFAULT);
}

TEST(only_the_cost_since_the_last_change_counts)
{
	struct alloc_pace p;

	alloc_pace_init(&p, 0.0025);
	(void)alloc_pace_next(&p, 1 * MS, 100 * MS, true);
	assert_int_equal(alloc_pace_next(&p, 1 * MS, 200 * MS, true), 2 * ALLOC_SAMPLING_DEFAULT);
}

TEST(without_room_for_objects_sampling_does_not_get_denser)
{
	struct alloc_pace p;

	alloc_pace_init(&p, 0.0025);
	assert_int_equal(alloc_pace_next(&p, 0, 100 * MS, false), ALLOC_SAMPLING_DEFAULT);
}

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

TEST(where_most_allocations_are_small_small_ones_are_tracked)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, true);
	assert_int_equal(alloc_floor_next(&f, 100, 51, true), 256);
	assert_int_equal(alloc_floor_next(&f, 200, 151, true), 64);
	assert_int_equal(alloc_floor_next(&f, 300, 251, true), 0);
	assert_int_equal(alloc_floor_next(&f, 400, 251, true), 0);
}

TEST(where_half_of_them_are_large_nothing_changes)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, true);
	assert_int_equal(alloc_floor_next(&f, 100, 50, true), 1024);
	/* Since the last decision, not since the window began. */
	assert_int_equal(alloc_floor_next(&f, 200, 101, true), 256);
}

TEST(few_allocations_decide_nothing)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, true);
	assert_int_equal(alloc_floor_next(&f, ALLOC_FLOOR_SAMPLES - 1, 19, true), 1024);
	assert_int_equal(alloc_floor_next(&f, ALLOC_FLOOR_SAMPLES, 19, true), 256);
}

TEST(where_accesses_go_to_smaller_objects_these_are_tracked)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, true);
	assert_int_equal(alloc_floor_accessed(&f, 0, true), 1024); /* Nobody knows. */
	assert_int_equal(alloc_floor_accessed(&f, 4096, true), 1024);
	assert_int_equal(alloc_floor_accessed(&f, 128, false), 1024); /* No room for more. */
	assert_int_equal(alloc_floor_accessed(&f, 128, true), 128);
	assert_int_equal(alloc_floor_accessed(&f, 512, true), 128);
	assert_int_equal(alloc_floor_accessed(&f, 32, true), 0);
	alloc_floor_init(&f, 1024, false);
	assert_int_equal(alloc_floor_accessed(&f, 32, true), 1024);
}

TEST(a_size_that_was_asked_for_stays)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, false);
	assert_int_equal(alloc_floor_next(&f, 1000, 1000, true), 1024);
}

TEST(without_room_for_objects_it_stays)
{
	struct alloc_floor f;

	alloc_floor_init(&f, 1024, true);
	assert_int_equal(alloc_floor_next(&f, 1000, 1000, false), 1024);
}
