/* What the JVM's own tables tell of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

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

static void a_jvm_without_the_tables_rows_tells_nothing(void **state)
{
	uint64_t low = 77, high = 77;
	int32_t value = 77;

	(void)state;
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

static void the_collector_is_the_one_whose_flag_is_set(void **state)
{
	(void)state;
	fake_flag("UseG1GC", &off);
	fake_flag("UseSerialGC", &on);
	assert_string_equal(vmstructs_gc(), "Serial");
}

static void flags_have_values(void **state)
{
	static uint64_t heap = UINT64_C(3) << 30;

	(void)state;
	fake_flag("MaxHeapSize", &heap);
	fake_flag("AlwaysPreTouch", &on);
	assert_int_equal(vmstructs_max_heap(), heap);
	assert_true(vmstructs_always_pretouch());
}

static void a_code_cache_ends_behind_its_beginning(void **state)
{
	static uint64_t bounds[2] = {0x7f0000000000, 0x7f0000100000};
	uint64_t low, high;

	(void)state;
	fake_static("CodeCache", "_low_bound", &bounds[0]);
	fake_static("CodeCache", "_high_bound", &bounds[1]);
	assert_true(vmstructs_code_cache(&low, &high));
	assert_int_equal(low, bounds[0]);
	assert_int_equal(high, bounds[1]);
	bounds[1] = bounds[0];
	assert_false(vmstructs_code_cache(&low, &high));
}

static void heap_code_cache_and_card_table_are_regions(void **state)
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

	(void)state;
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

static void an_object_of_zgc_without_generations_has_several_addresses(void **state)
{
	struct region_map map;

	(void)state;
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

#define TEST(name) cmocka_unit_test_setup(name, set_up)

/* Two classes of threads, and how far their ends are. */
struct fake_thread {
	uint64_t functions;
	uint64_t os_thread;
	uint64_t next;
	uint32_t terminated;
};
struct fake_os_thread {
	int32_t tid;
};

static pid_t seen[8];
static unsigned seen_count;

static void see(void *arg, pid_t tid)
{
	(void)arg;
	seen[seen_count++] = tid;
}

/* The calling thread, one of Java's, one of the JVM's own, one that ends, and one of Java's. */
static struct fake_os_thread os_threads[5];
static struct fake_thread threads[5];

static void make_threads(void)
{
	for (unsigned i = 0; i < 5; i++) {
		os_threads[i].tid = i ? (int32_t)(100 + i) : gettid();
		threads[i] = (struct fake_thread){.functions = i == 2 ? 7 : 8,
						  .os_thread = (uintptr_t)&os_threads[i],
						  .next = i < 4 ? (uintptr_t)&threads[i + 1] : 0,
						  .terminated = i == 3 ? 2 : 1};
	}
	fake_field("JavaThread", "_osthread", offsetof(struct fake_thread, os_thread));
	fake_field("OSThread", "_thread_id", 0);
	fake_field("JavaThread", "_terminated", offsetof(struct fake_thread, terminated));
	seen_count = 0;
}

static void assert_two_seen(void)
{
	assert_true(vmstructs_each_thread(see, NULL));
	assert_int_equal(seen_count, 2);
	assert_int_equal(seen[0], 101);
	assert_int_equal(seen[1], 104);
}

static void threads_of_java_are_told_from_the_jvms_list(void **state)
{
	static uint64_t pointers[5], list_at;
	static struct {
		int32_t something, length;
		uint64_t threads;
	} list = {.length = 5, .threads = (uintptr_t)pointers};

	(void)state;
	make_threads();
	for (unsigned i = 0; i < 5; i++)
		pointers[i] = (uintptr_t)&threads[i];
	list_at = (uintptr_t)&list;
	fake_static("ThreadsSMRSupport", "_java_thread_list", &list_at);
	fake_field("ThreadsList", "_length", 4);
	fake_field("ThreadsList", "_threads", 8);
	assert_two_seen();
}

static void threads_of_java_are_told_from_a_chain(void **state)
{
	static uint64_t first, count = 5;

	(void)state;
	make_threads();
	first = (uintptr_t)&threads[0];
	fake_field("JavaThread", "_next", offsetof(struct fake_thread, next));
	fake_static("Threads", "_thread_list", &first);
	fake_static("Threads", "_number_of_threads", &count);
	assert_two_seen();
	/* One more or less has been counted than the chain has. */
	seen_count = 0;
	count = 6;
	assert_false(vmstructs_each_thread(see, NULL));
	count = 4;
	assert_false(vmstructs_each_thread(see, NULL));
	assert_int_equal(seen_count, 0);
}

static void a_list_without_the_calling_thread_is_not_known(void **state)
{
	static uint64_t first, count = 5;

	(void)state;
	make_threads();
	os_threads[0].tid = 99;
	first = (uintptr_t)&threads[0];
	fake_field("JavaThread", "_next", offsetof(struct fake_thread, next));
	fake_static("Threads", "_thread_list", &first);
	fake_static("Threads", "_number_of_threads", &count);
	assert_false(vmstructs_each_thread(see, NULL));
	assert_int_equal(seen_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_jvm_without_the_tables_rows_tells_nothing),
	    TEST(the_collector_is_the_one_whose_flag_is_set),
	    TEST(flags_have_values),
	    TEST(a_code_cache_ends_behind_its_beginning),
	    TEST(heap_code_cache_and_card_table_are_regions),
	    TEST(an_object_of_zgc_without_generations_has_several_addresses),
	    TEST(threads_of_java_are_told_from_the_jvms_list),
	    TEST(threads_of_java_are_told_from_a_chain),
	    TEST(a_list_without_the_calling_thread_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
