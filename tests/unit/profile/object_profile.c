#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "proto/limits.h"
#include "tests/unit/support/object_profile_fixture.h"

static uint32_t site_of(struct object_profile *l, uint32_t node)
{
	uint32_t site;

	assert_int_equal(object_profile_site(l, 1, node, &site), 0);
	return site;
}

TEST(a_class_and_a_context_make_a_site, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t a, b, c, again;

	assert_int_equal(object_profile_site(l, 1, 5, &a), 0);
	assert_int_equal(object_profile_site(l, 2, 5, &b), 0);
	assert_int_equal(object_profile_site(l, 1, 6, &c), 0);
	assert_int_equal(object_profile_site(l, 1, 5, &again), 0);
	assert_int_equal(again, a);
	assert_int_not_equal(a, b);
	assert_int_not_equal(a, c);
	assert_int_equal(l->site_count, 3);
}

TEST(counts_and_bytes_are_those_of_all_objects_that_a_sample_stands_for, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	object_profile_allocated(l, site, 4, 100);
	object_profile_allocated(l, site, 2, 1000);
	object_profile_died(l, site, 4, 100, 0);
	assert_int_equal(l->sites[site].allocations, 2);
	assert_float_equal(l->sites[site].alloc_count, 6, 0);
	assert_float_equal(l->sites[site].alloc_bytes, 2400, 0);
	assert_float_equal(l->sites[site].live_count, 2, 0);
	assert_float_equal(l->sites[site].live_bytes, 2000, 0);
}

TEST(a_concurrent_collection_has_judged_what_came_before_a_dead_object, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	l->concurrent_gc = true;
	object_profile_allocated(l, site, 1, 100);
	object_profile_judged(l, 0, 10);
	object_profile_allocated(l, site, 1, 1000); /* Perhaps while it was at work. */
	object_profile_judged(l, 0, 20);            /* Perhaps its second pass. */
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 1100, 0);
	assert_int_equal(object_profile_judged_ns(l), 0);
	object_profile_judged(l, 1, 30);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 1000, 0);
	assert_int_equal(object_profile_judged_ns(l), 10);
	object_profile_died(l, site, 1, 1000, 1);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 0, 0);
	object_profile_judged(l, 3, 40);
	assert_float_equal(object_profile_uncollected_count(l, &l->sites[site]), 0, 0);
	assert_int_equal(object_profile_judged_ns(l), 20);
}

TEST(any_number_of_passes_of_one_concurrent_collection_judges_nothing_younger, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	l->concurrent_gc = true;
	object_profile_allocated(l, site, 1, 100);
	for (unsigned i = 1; i <= 10; i++) {
		object_profile_judged(l, 0, i);
		object_profile_allocated(l, site, 1, 1000);
	}
	assert_float_equal(object_profile_uncollected_count(l, &l->sites[site]), 11, 0);
	assert_int_equal(object_profile_judged_ns(l), 0);
}

TEST(a_collection_that_stops_the_application_has_judged_all, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	object_profile_allocated(l, site, 1, 100);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 100, 0);
	for (unsigned i = 1; i <= 10; i++)
		object_profile_judged(l, 0, i);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 0, 0);
	assert_int_equal(object_profile_judged_ns(l), 10);
}

TEST(accesses_of_one_context_are_added_up, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	assert_int_equal(
	    object_profile_access(l, site, &(struct object_access){.node = 1, .weight = 10}, 2, 0),
	    0);
	assert_int_equal(
	    object_profile_access(l, site, &(struct object_access){.node = 1, .weight = 5}, 2, 10),
	    0);
	assert_int_equal(
	    object_profile_access(l, site, &(struct object_access){.node = 9, .weight = 5}, 2, 15),
	    0);
	assert_int_equal(l->access_count, 2);
	assert_int_equal(l->accesses[0].samples, 2);
	assert_float_equal(l->accesses[0].metric, 30, 0);
}

TEST(sites_and_contexts_beyond_their_limits_are_refused, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site;

	for (uint32_t node = 0; node < LIMIT_SITES; node++)
		(void)site_of(l, node);
	assert_int_equal(object_profile_site(l, 1, LIMIT_SITES, &site), -ENOSPC);
	for (uint32_t node = 0; node < LIMIT_SITE_ACCESSES; node++)
		assert_int_equal(
		    object_profile_access(l, 0, &(struct object_access){.node = node, .weight = 1},
					  1, 0),
		    0);
	assert_int_equal(
	    object_profile_access(
		l, 0, &(struct object_access){.node = LIMIT_SITE_ACCESSES, .weight = 1}, 1, 0),
	    -ENOSPC);
	assert_int_equal(l->sites[0].samples, LIMIT_SITE_ACCESSES + 1);
	assert_true(row_table_memory_bytes(&l->access_table, &site_access_layout) < 32u << 20);
}
