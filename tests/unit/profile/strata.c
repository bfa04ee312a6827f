#include "tests/unit/support/test.h"

#include "profile/strata.h"
#include "proto/limits.h"

static int set_up(void **state)
{
	static struct strata s;

	s = (struct strata){0};
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	strata_release(*state);
	return 0;
}

static uint32_t now(struct strata *s, uint32_t class_name, uint64_t bytes)
{
	uint32_t stratum;

	assert_int_equal(strata_find_now(s, class_name, bytes, &stratum), 0);
	return stratum;
}

TEST(sizes_are_told_apart_by_powers_of_two, set_up, tear_down)
{
	struct strata *s = *state;

	assert_int_equal(strata_size_class(0), 0);
	assert_int_equal(strata_size_class(16), 4);
	assert_int_equal(strata_size_class(31), 4);
	assert_int_equal(strata_size_class(LIMIT_OBJECT_BYTES), 40);
	assert_int_equal(now(s, 1, 16), now(s, 1, 31));
	assert_int_not_equal(now(s, 1, 16), now(s, 1, 32));
	assert_int_not_equal(now(s, 1, 16), now(s, 2, 16));
	assert_int_equal(now(s, 0, 16), 0);
}

TEST(accesses_are_told_apart_by_what_objects_weigh_at_the_time, set_up, tear_down)
{
	struct strata *s = *state;
	uint32_t before = now(s, 1, 16), one, many;

	assert_int_equal(strata_allocated(s, 1, 20, 1.5), 0);
	one = now(s, 1, 16);
	assert_int_equal(strata_allocated(s, 1, 20, 1000), 0);
	many = now(s, 1, 16);
	assert_int_equal(s->list[before].weight_class, 0);
	assert_int_equal(s->list[one].weight_class, 1);
	assert_int_equal(s->list[many].weight_class, 5);
	assert_true(strata_weight(5) > 250 && strata_weight(5) < 1024);
	/* Of that class and size alone. */
	assert_int_equal(s->list[now(s, 1, 64)].weight_class, 0);
	assert_int_equal(strata_allocated(s, 1, 20, LIMIT_OBJECT_WEIGHT), 0);
	assert_in_range(s->list[now(s, 1, 16)].weight_class, 20, STRATA_WEIGHT_CLASSES - 1);
	assert_int_equal(strata_allocated(s, 1, 20, 1), 0);
	assert_int_equal(now(s, 1, 16), one);
}

TEST(a_sites_part_is_in_the_stratum_too, set_up, tear_down)
{
	struct strata *s = *state;
	struct tracked_sums sums = {1, 10, 100, 20};
	uint32_t stratum = now(s, 1, 16);

	assert_int_equal(strata_add_tracked(s, stratum, 3, &sums), 0);
	assert_int_equal(strata_add_tracked(s, stratum, 3, &sums), 0);
	assert_int_equal(strata_add_tracked(s, stratum, 4, &sums), 0);
	assert_int_equal(s->site_count, 2);
	assert_float_equal(s->sites[0].tracked.metric, 20, 0);
	assert_float_equal(s->list[stratum].tracked.metric, 30, 0);
	assert_int_equal(s->list[stratum].tracked.samples, 3);
}

TEST(what_does_not_fit_is_of_the_first_stratum_and_counted, set_up, tear_down)
{
	struct strata *s = *state;

	for (uint32_t name = 1; name < LIMIT_STRATA; name++)
		assert_int_not_equal(now(s, name, 16), 0);
	assert_int_equal(now(s, LIMIT_STRATA, 16), 0);
	assert_int_equal(s->refused, 1);
	for (uint32_t site = 0; site <= LIMIT_STRATUM_SITES; site++)
		assert_int_equal(strata_add_tracked(s, 1, site, &(struct tracked_sums){1, 1, 1, 1}),
				 0);
	assert_int_equal(s->site_count, LIMIT_STRATUM_SITES);
	assert_int_equal(s->refused, 2);
	assert_true(row_table_memory_bytes(&s->site_table, &stratum_site_layout) < 16u << 20);
}

static void touch(struct accessed_sizes *a, uint64_t bytes, unsigned count, double weight)
{
	for (unsigned i = 0; i < count; i++)
		accessed_sizes_add(a, bytes, weight);
}

TEST(the_size_that_most_accesses_reach_is_told, set_up, tear_down)
{
	struct accessed_sizes a = {0};

	touch(&a, 5000, 9, 10);
	assert_int_equal(accessed_sizes_most(&a, 0.9, 10), 0); /* Too few. */
	touch(&a, 40, 10, 1);
	touch(&a, 0, 100, 1); /* Of objects whose size is not known. */
	assert_int_equal(accessed_sizes_most(&a, 0.9, 10), 4096);
	touch(&a, 40, 1, 1);
	assert_int_equal(accessed_sizes_most(&a, 0.9, 10), 32);
	touch(&a, 24, 1, 1000);
	assert_int_equal(accessed_sizes_most(&a, 0.9, 10), 16);
}
