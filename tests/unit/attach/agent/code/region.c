/* Whose memory an address is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/code/region.h"
#include "proto/jxperf.pb-c.h"

static void an_address_is_in_the_heap_or_the_jvms_or_other(void **state)
{
	struct region_map map = {0};

	(void)state;
	assert_true(region_add_heap(&map, 0x1000, 0x2000));
	assert_true(region_add_jvm(&map, 0x3000, 0x4000));
	assert_int_equal(region_find(&map, 0x1000), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x1fff), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x2000), JXP__REGION__REGION_OTHER);
	assert_int_equal(region_find(&map, 0x3abc), JXP__REGION__REGION_JVM);
}

static void empty_ranges_and_a_full_table_are_refused(void **state)
{
	struct region_map map = {0};

	(void)state;
	assert_false(region_add_heap(&map, 0x1000, 0x1000));
	for (unsigned i = 0; i < REGION_RANGES_MAX; i++)
		assert_true(region_add_heap(&map, i * 16 + 16, i * 16 + 32));
	assert_false(region_add_heap(&map, 0x10000, 0x20000));
}

static void an_object_has_one_address_in_all_views_of_the_heap(void **state)
{
	struct region_map map = {.offset_mask = (UINT64_C(1) << 42) - 1, .view = UINT64_C(1) << 42};

	(void)state;
	assert_true(region_add_heap(&map, UINT64_C(1) << 42, UINT64_C(1) << 46));
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 44) | 0x1238),
			 (UINT64_C(1) << 42) | 0x1238);
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 42) | 0x1238),
			 (UINT64_C(1) << 42) | 0x1238);
	assert_int_equal(region_canonical(&map, 0x1238), 0x1238);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_address_is_in_the_heap_or_the_jvms_or_other),
	    cmocka_unit_test(empty_ranges_and_a_full_table_are_refused),
	    cmocka_unit_test(an_object_has_one_address_in_all_views_of_the_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
