/* Whose memory an address is. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/region.h"
#include "proto/jxperf.pb-c.h"

TEST(an_address_is_in_the_heap_or_the_jvms_or_other)
{
	struct region_map map = {0};

	assert_true(region_add_heap(&map, 0x1000, 0x2000));
	assert_true(region_add_jvm(&map, 0x3000, 0x4000));
	assert_int_equal(region_find(&map, 0x1000), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x1fff), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x2000), JXP__REGION__REGION_OTHER);
	assert_int_equal(region_find(&map, 0x3abc), JXP__REGION__REGION_JVM);
}

TEST(empty_ranges_and_a_full_table_are_refused)
{
	struct region_map map = {0};

	assert_false(region_add_heap(&map, 0x1000, 0x1000));
	for (unsigned i = 0; i < REGION_RANGES_MAX; i++)
		assert_true(region_add_heap(&map, i * 16 + 16, i * 16 + 32));
	assert_false(region_add_heap(&map, 0x10000, 0x20000));
}

TEST(an_object_has_one_address_in_all_views_of_the_heap)
{
	struct region_map map = {.offset_mask = (UINT64_C(1) << 42) - 1, .view = UINT64_C(1) << 42};

	assert_true(region_add_heap(&map, UINT64_C(1) << 42, UINT64_C(1) << 46));
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 44) | 0x1238),
			 (UINT64_C(1) << 42) | 0x1238);
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 42) | 0x1238),
			 (UINT64_C(1) << 42) | 0x1238);
	assert_int_equal(region_canonical(&map, 0x1238), 0x1238);
}
