/* Sampled allocations: their weights, how densely they are sampled, and their classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "attach/agent/code/region.h"
#include "attach/agent/jvm/alloc_sampling.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/alloc_pace.h"
#include "common/random.h"

#define MS UINT64_C(1000000)

static void assert_near(double a, double b, double relative)
{
	if (fabs(a - b) > relative * fabs(b))
		fail_msg("%g is not within %g of %g", a, relative, b);
}

static void an_object_much_larger_than_the_interval_stands_for_itself(void **state)
{
	(void)state;
	assert_near(alloc_weight(100u << 20, 512u << 10), 1, 1e-9);
}

static void an_object_of_one_interval_is_hit_in_63_percent(void **state)
{
	(void)state;
	assert_near(alloc_weight(512u << 10, 512u << 10), 1 / 0.632120559, 1e-6);
}

static void a_small_object_stands_for_the_interval(void **state)
{
	(void)state;
	assert_near(alloc_weight(16, 512u << 10) * 16, 512u << 10, 1e-4);
}

static void without_an_interval_every_object_is_sampled(void **state)
{
	(void)state;
	assert_near(alloc_weight(16, 0), 1, 0);
}

/* Points of a Poisson process in the allocated bytes, as HotSpot draws them. */
static void weights_of_sampled_objects_add_up_to_those_allocated(void **state)
{
	const uint32_t interval = 16384;
	const uint64_t sizes[] = {1024, 4096, 40000};
	double sums[3] = {0}, until = 0;
	struct random random;
	unsigned rounds = 200000;

	(void)state;
	random_seed(&random, 1);
	until = -log((random_next(&random) + 1.0) / 4294967296.0) * interval;
	for (unsigned i = 0; i < 3 * rounds; i++) {
		uint64_t size = sizes[i % 3];

		if ((double)size < until) {
			until -= (double)size;
			continue;
		}
		sums[i % 3] += alloc_weight(size, interval);
		until = -log((random_next(&random) + 1.0) / 4294967296.0) * interval;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_near(sums[i], rounds, 0.03);
}

static void cheap_sampling_gets_denser_to_a_limit(void **state)
{
	struct alloc_pace p;
	uint32_t interval = 0;

	(void)state;
	alloc_pace_init(&p, 0.01);
	assert_int_equal(p.interval, ALLOC_SAMPLING_DEFAULT);
	assert_int_equal(alloc_pace_next(&p, 0, 100 * MS, true), ALLOC_SAMPLING_DEFAULT / 2);
	for (unsigned i = 2; i < 20; i++)
		interval = alloc_pace_next(&p, 0, i * 100 * MS, true);
	assert_int_equal(interval, ALLOC_INTERVAL_MIN);
}

static void dear_sampling_gets_thinner(void **state)
{
	struct alloc_pace p;

	(void)state;
	alloc_pace_init(&p, 0.01);
	/* 1% of the CPU time, where a quarter of 1% is allowed. */
	assert_int_equal(alloc_pace_next(&p, 1 * MS, 100 * MS, true), 4 * ALLOC_SAMPLING_DEFAULT);
	/* 0.5%. */
	assert_int_equal(alloc_pace_next(&p, 3 * MS / 2, 200 * MS, true),
			 8 * ALLOC_SAMPLING_DEFAULT);
	/* All of the CPU time. */
	assert_int_equal(alloc_pace_next(&p, 102 * MS, 300 * MS, true),
			 64 * ALLOC_SAMPLING_DEFAULT);
}

static void only_the_cost_since_the_last_change_counts(void **state)
{
	struct alloc_pace p;

	(void)state;
	alloc_pace_init(&p, 0.01);
	(void)alloc_pace_next(&p, 1 * MS, 100 * MS, true);
	assert_int_equal(alloc_pace_next(&p, 1 * MS, 200 * MS, true), 2 * ALLOC_SAMPLING_DEFAULT);
}

static void without_room_for_objects_sampling_does_not_get_denser(void **state)
{
	struct alloc_pace p;

	(void)state;
	alloc_pace_init(&p, 0.01);
	assert_int_equal(alloc_pace_next(&p, 0, 100 * MS, false), ALLOC_SAMPLING_DEFAULT);
}

static void classes_are_numbered_once(void **state)
{
	(void)state;
	class_table_clear();
	assert_int_equal(class_table_intern("[J"), 1);
	assert_int_equal(class_table_intern("Ljava/lang/String;"), 2);
	assert_int_equal(class_table_intern("[J"), 1);
	assert_string_equal(class_table_signature(2), "Ljava/lang/String;");
	assert_null(class_table_signature(3));
}

static void classes_beyond_the_table_have_no_number(void **state)
{
	char name[32];

	(void)state;
	class_table_clear();
	for (unsigned i = 1; i <= CLASSES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "Lc%u;", i);
		assert_int_equal(class_table_intern(name), i);
	}
	assert_int_equal(class_table_intern("Lone/more;"), 0);
	assert_int_equal(class_table_intern("Lc1;"), 1);
	class_table_clear();
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
	    cmocka_unit_test(an_object_much_larger_than_the_interval_stands_for_itself),
	    cmocka_unit_test(an_object_of_one_interval_is_hit_in_63_percent),
	    cmocka_unit_test(a_small_object_stands_for_the_interval),
	    cmocka_unit_test(without_an_interval_every_object_is_sampled),
	    cmocka_unit_test(weights_of_sampled_objects_add_up_to_those_allocated),
	    cmocka_unit_test(cheap_sampling_gets_denser_to_a_limit),
	    cmocka_unit_test(dear_sampling_gets_thinner),
	    cmocka_unit_test(only_the_cost_since_the_last_change_counts),
	    cmocka_unit_test(without_room_for_objects_sampling_does_not_get_denser),
	    cmocka_unit_test(classes_are_numbered_once),
	    cmocka_unit_test(classes_beyond_the_table_have_no_number),
	    cmocka_unit_test(an_object_has_one_address_in_all_views_of_the_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
