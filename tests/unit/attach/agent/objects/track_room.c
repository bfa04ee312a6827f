/* Room for tracked objects that is used up gradually, without bias. */
#include "tests/unit/support/test.h"
#include <math.h>

#include "attach/agent/objects/track_room.h"

#define REFS  1000u
#define WORDS 64000u
#define LARGE 65536u

static struct random seeded(uint64_t seed)
{
	struct random r;

	random_seed(&r, seed);
	return r;
}

static struct track_room empty_room(void)
{
	struct track_room r = {0};

	track_room_limit(&r, REFS, WORDS * sizeof(uint64_t), LARGE);
	return r;
}

TEST(while_half_is_free_every_object_is_taken)
{
	struct track_room r = empty_room();
	struct random random = seeded(1);
	uint32_t stands_for = 0;

	for (unsigned i = 0; i < REFS / 2; i++) {
		assert_true(track_room_draw(&r, &random, 8, &stands_for));
		assert_int_equal(stands_for, 1);
		assert_true(track_room_take_ref(&r));
	}
}

TEST(both_limits_hold)
{
	struct track_room r = empty_room();

	assert_true(track_room_take_words(&r, WORDS));
	assert_false(track_room_take_words(&r, 1));
	for (unsigned i = 0; i < REFS; i++)
		assert_true(track_room_take_ref(&r));
	assert_false(track_room_take_ref(&r));
	track_room_give(&r, WORDS);
	assert_true(track_room_take_ref(&r));
	assert_true(track_room_take_words(&r, 1));
}

/* Allocates until the room is nearly full, then all is collected, again and again: what is taken
 * stands for all that was offered, early or late. */
static void what_is_taken_stands_for_what_was_offered(uint32_t words)
{
	double early = 0, late = 0;
	const unsigned cycles = 400, half = REFS;
	struct random random = seeded(words);

	for (unsigned c = 0; c < cycles; c++) {
		struct track_room r = empty_room();

		for (unsigned i = 0; i < 2 * half; i++) {
			uint32_t stands_for;

			if (!track_room_draw(&r, &random, 8, &stands_for))
				continue;
			assert_true(track_room_take_ref(&r) && track_room_take_words(&r, words));
			*(i < half ? &early : &late) += stands_for;
		}
	}
	if (fabs(early / cycles / half - 1) > 0.02 || fabs(late / cycles / half - 1) > 0.04)
		fail_msg("%g early and %g late stand for %u each", early / cycles, late / cycles,
			 half);
}

TEST(objects_taken_stand_for_those_offered_as_references_run_out)
{
	what_is_taken_stands_for_what_was_offered(1);
}

TEST(objects_taken_stand_for_those_offered_as_bytes_run_out)
{
	what_is_taken_stands_for_what_was_offered(WORDS / 700);
}

TEST(large_objects_are_taken_less_often_and_stand_for_more)
{
	struct track_room r = empty_room();
	struct random random = seeded(3);
	double sum = 0;
	unsigned taken = 0;

	for (unsigned i = 0; i < 100000; i++) {
		uint32_t stands_for;

		if (!track_room_draw(&r, &random, 20 * LARGE - 8, &stands_for))
			continue;
		assert_int_equal(stands_for, 20);
		sum += stands_for;
		taken++;
	}
	if (fabs(sum / 100000 - 1) > 0.05)
		fail_msg("%u of 100000 stand for %g", taken, sum);
}
