/* What the JVM's own tables tell of it. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vmstructs.h"
#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

static bool on = true, off = false;

static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	return safe_read_init();
}

TEST(a_jvm_without_the_tables_rows_tells_nothing, set_up)
{
	uint64_t low = 77, high = 77;
	int32_t value = 77;

	assert_false(vmstructs_available());
	assert_false(vmstructs_code_cache(&low, &high));
	assert_false(vmstructs_offset("Universe", "_heap", &low));
	assert_false(vmstructs_int_constant("Something", &value));
	assert_int_equal(low, 77);
	assert_int_equal(high, 77);
	assert_int_equal(value, 77);
	assert_string_equal(vmstructs_gc(), "");
	assert_int_equal(vmstructs_max_heap(), 0);
	assert_false(vmstructs_always_pretouch());
}

TEST(the_collector_is_the_one_whose_flag_is_set, set_up)
{
	fake_flag("UseG1GC", &off);
	fake_flag("UseSerialGC", &on);
	assert_string_equal(vmstructs_gc(), "Serial");
}

TEST(flags_have_values, set_up)
{
	static uint64_t heap = UINT64_C(3) << 30;

	fake_flag("MaxHeapSize", &heap);
	fake_flag("AlwaysPreTouch", &on);
	assert_int_equal(vmstructs_max_heap(), heap);
	assert_true(vmstructs_always_pretouch());
}

TEST(a_code_cache_ends_behind_its_beginning, set_up)
{
	static uint64_t bounds[2] = {0x7f0000000000, 0x7f0000100000};
	uint64_t low, high;

	fake_static("CodeCache", "_low_bound", &bounds[0]);
	fake_static("CodeCache", "_high_bound", &bounds[1]);
	assert_true(vmstructs_code_cache(&low, &high));
	assert_int_equal(low, bounds[0]);
	assert_int_equal(high, bounds[1]);
	bounds[1] = bounds[0];
	assert_false(vmstructs_code_cache(&low, &high));
}

TEST(heap_code_cache_and_card_table_are_regions, set_up)
{
	static uint64_t bounds[2] = {0x7f0000000000, 0x7f0000100000};
	static struct {
		uint64_t something;
		struct {
			uint64_t start, words;
		} reserved;
	} heap = {.reserved = {0x80000000, 0x1000}};
	static struct {
		uint64_t map, size;
	} cards = {0x7e0000000000, 0x1000};
	static void *barrier_set[] = {&cards};
	static void *heap_at = &heap, *barrier_set_at = barrier_set;
	struct region_map map;

	fake_flag("UseSerialGC", &on);
	fake_static("CodeCache", "_low_bound", &bounds[0]);
	fake_static("CodeCache", "_high_bound", &bounds[1]);
	fake_static("Universe", "_collectedHeap", &heap_at);
	fake_field("CollectedHeap", "_reserved", 8);
	fake_field("MemRegion", "_start", 0);
	fake_field("MemRegion", "_word_size", 8);
	fake_static("BarrierSet", "_barrier_set", &barrier_set_at);
	fake_field("CardTableBarrierSet", "_card_table", 0);
	fake_field("CardTable", "_byte_map", 0);
	fake_field("CardTable", "_byte_map_size", 8);
	vmstructs_regions(&map);
	assert_int_equal(region_find(&map, 0x80000000), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x80000000 + 0x8000 - 1), JXP__REGION__REGION_HEAP);
	assert_int_equal(region_find(&map, 0x80000000 + 0x8000), JXP__REGION__REGION_OTHER);
	assert_int_equal(region_find(&map, bounds[0]), JXP__REGION__REGION_JVM);
	assert_int_equal(region_find(&map, cards.map), JXP__REGION__REGION_JVM);
}

TEST(an_object_of_zgc_without_generations_has_several_addresses, set_up)
{
	struct region_map map;

	fake_flag("UseZGC", &on);
	fake_flag("ZGenerational", &off);
	assert_false(vmstructs_zgc_is_generational());
	vmstructs_regions(&map);
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 43) | 0x1238),
			 region_canonical(&map, (UINT64_C(1) << 44) | 0x1238));
	set_up(state);
	fake_flag("UseZGC", &on);
	fake_flag("ZGenerational", &on);
	assert_true(vmstructs_zgc_is_generational());
	vmstructs_regions(&map);
	assert_int_equal(region_canonical(&map, (UINT64_C(1) << 43) | 0x1238),
			 (UINT64_C(1) << 43) | 0x1238);
}
