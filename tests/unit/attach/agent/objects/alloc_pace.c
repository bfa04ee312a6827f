/* How densely allocations are sampled. */
#include "tests/unit/support/test.h"

#include "attach/agent/jvmti/alloc_sampling.h"
#include "attach/agent/objects/alloc_pace.h"

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
