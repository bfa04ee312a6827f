/* The agent's smaller tables: ids, method set, regions, and the part of an access that is watched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>

#include "attach/agent/code/region.h"
#include "attach/agent/handler/watchpoint.h"
#include "attach/agent/jvm/method_set.h"
#include "attach/agent/stream/numbering.h"
#include "attach/agent/window/fd_allowance.h"
#include "proto/jxperf.pb-c.h"

static void ids_count_up_and_are_kept_while_the_map_grows(void **state)
{
	struct numbering map;
	bool added;

	(void)state;
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

static void keys_differ_in_either_half(void **state)
{
	struct numbering map;
	bool added;

	(void)state;
	numbering_init(&map);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){1, 1}, &added), 1);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){1, 2}, &added), 2);
	assert_int_equal(numbering_intern(&map, (struct numbering_key){2, 1}, &added), 3);
	numbering_release(&map);
}

static void the_method_set_remembers_until_cleared(void **state)
{
	(void)state;
	method_set_clear();
	for (uint64_t m = 0x1000; m < 0x1000 + 8 * 5000; m += 8)
		method_set_add(m);
	for (uint64_t m = 0x1000; m < 0x1000 + 8 * 5000; m += 8)
		assert_true(method_set_has(m));
	assert_false(method_set_has(0x999));
	method_set_clear();
	assert_false(method_set_has(0x1000));
}

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

static void the_watched_part_is_aligned_inside_the_access_and_holds_the_byte(void **state)
{
	(void)state;
	for (uint64_t address = 0x1000; address < 0x1010; address++) {
		for (uint32_t size = 1; size <= 64; size++) {
			for (uint32_t offset = 0; offset < size; offset++) {
				uint64_t start;
				struct extent e = extent_whole(address, size);
				unsigned length = watchpoint_part(&e, offset, &start);

				assert_true(length == 1 || length == 2 || length == 4 ||
					    length == 8);
				assert_int_equal(start % length, 0);
				assert_true(start >= address && start + length <= address + size);
				assert_true(start <= address + offset &&
					    address + offset < start + length);
			}
		}
	}
}

static void an_aligned_access_of_up_to_eight_bytes_is_watched_whole(void **state)
{
	struct extent whole = extent_whole(0x1008, 8), half = extent_whole(0x1004, 4),
		      quarter = extent_whole(0x1002, 2);
	uint64_t start;

	(void)state;
	assert_int_equal(watchpoint_part(&whole, 5, &start), 8);
	assert_int_equal(start, 0x1008);
	assert_int_equal(watchpoint_part(&half, 3, &start), 4);
	assert_int_equal(watchpoint_part(&quarter, 0, &start), 2);
}

static void bytes_that_are_masked_out_are_not_watched(void **state)
{
	struct extent e = extent_whole(0x1000, 32);
	uint64_t start;

	(void)state;
	e.active = 0xfff0; /* 4 to 15 */
	assert_int_equal(watchpoint_part(&e, 5, &start), 4);
	assert_int_equal(start, 0x1004);
	assert_int_equal(watchpoint_part(&e, 9, &start), 8);
	assert_int_equal(start, 0x1008);
}

static void half_of_the_free_descriptors_may_be_taken(void **state)
{
	(void)state;
	assert_int_equal(fd_allowance_of(1024, 24), 500);
	assert_int_equal(fd_allowance_of(20, 30), 0);
	assert_int_equal(fd_allowance_of(ULONG_MAX, 0), UINT_MAX);
	assert_true(fd_allowance() > 0);
}

static void a_full_map_gives_no_more_numbers_and_keeps_those_it_gave(void **state)
{
	struct numbering map;
	bool added;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_full_map_gives_no_more_numbers_and_keeps_those_it_gave),
	    cmocka_unit_test(ids_count_up_and_are_kept_while_the_map_grows),
	    cmocka_unit_test(keys_differ_in_either_half),
	    cmocka_unit_test(the_method_set_remembers_until_cleared),
	    cmocka_unit_test(an_address_is_in_the_heap_or_the_jvms_or_other),
	    cmocka_unit_test(empty_ranges_and_a_full_table_are_refused),
	    cmocka_unit_test(half_of_the_free_descriptors_may_be_taken),
	    cmocka_unit_test(the_watched_part_is_aligned_inside_the_access_and_holds_the_byte),
	    cmocka_unit_test(an_aligned_access_of_up_to_eight_bytes_is_watched_whole),
	    cmocka_unit_test(bytes_that_are_masked_out_are_not_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
