/* Numbers that are given out in order, once for each key. */
#include "tests/unit/support/test.h"

#include "attach/agent/stream/numbering.h"

TEST(ids_count_up_and_are_kept_while_the_map_grows)
{
	struct numbering map;
	bool added;

	numbering_init(&map);
	for (uint64_t i = 1; i <= 10000; i++) {
		assert_int_equal(numbering_intern(&map, (struct numbering_key){i, i * 7}, &added),
				 i);
		assert_true(added);
	}
	for (uint64_t i = 1; i <= 10000; i++) {
		assert_int_equal(numbering_intern(&map, (struct numbering_key){i, i * 7}, &added),
				 i);
		assert_false(added);
	}
	numbering_release(&map);
}

TEST(keys_differ_in_either_half)
{
	struct numbering map;
	bool added;

	numbering_init(&map);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){1, 1}, &added), 1);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){1, 2}, &added), 2);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){2, 1}, &added), 3);
	numbering_release(&map);
}

TEST(a_full_map_gives_no_more_numbers_and_keeps_those_it_gave)
{
	struct numbering map;
	bool added;

	numbering_init(&map);
	for (uint64_t i = 1; i <= NUMBERING_MAX; i++)
		assert_int_equal(numbering_intern(&map, (struct numbering_key){i, 1}, &added), i);
	assert_int_equal(
	    numbering_intern(&map, (struct numbering_key){NUMBERING_MAX + 1, 1}, &added), 0);
	assert_true(numbering_is_full(&map));
	assert_int_equal(numbering_intern(&map, (struct numbering_key){7, 1}, &added), 7);
	assert_int_equal(map.capacity, NUMBERING_CAPACITY_MAX);
	numbering_release(&map);
}
