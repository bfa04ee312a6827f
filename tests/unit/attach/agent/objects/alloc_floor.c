/* How small an object may be and still be tracked. */
#include "tests/unit/support/test.h"

#include "attach/agent/objects/alloc_floor.h"

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
