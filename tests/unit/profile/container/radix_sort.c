#include "tests/unit/support/test.h"

#include "profile/container/radix_sort.h"

#define ITEMS 3000

static struct radix_item items[ITEMS], scratch[ITEMS];

static void assert_sorted(uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		/* The values were the places before: equal keys kept their order. */
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].value < items[i].value);
	}
}

TEST(keys_of_any_width_are_sorted_stably)
{
	uint32_t random = 1;

	for (unsigned int shift = 0; shift < 32; shift++) {
		uint64_t before = 0, after = 0;

		for (uint32_t i = 0; i < ITEMS; i++) {
			random = random * 1664525 + 1013904223;
			items[i] = (struct radix_item){.key = random >> shift, .value = i};
			before += (uint64_t)items[i].key * (i + 1);
		}
		radix_sort(items, scratch, ITEMS);
		assert_sorted(ITEMS);
		for (uint32_t i = 0; i < ITEMS; i++)
			after += (uint64_t)items[i].key * (items[i].value + 1);
		assert_int_equal(after, before);
	}
}

TEST(an_odd_number_of_digits_ends_in_the_callers_array)
{
	items[0] = (struct radix_item){.key = 2, .value = 0};
	items[1] = (struct radix_item){.key = 1, .value = 1};
	radix_sort(items, scratch, 2);
	assert_int_equal(items[0].value, 1);
	assert_int_equal(items[1].value, 0);
}

TEST(nothing_and_one_are_sorted_already)
{
	radix_sort(NULL, NULL, 0);
	items[0] = (struct radix_item){.key = 7, .value = 3};
	radix_sort(items, scratch, 1);
	assert_int_equal(items[0].key, 7);
	assert_int_equal(items[0].value, 3);
}
