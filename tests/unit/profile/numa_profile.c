#include "tests/unit/support/test.h"

#include <string.h>

#include "profile/numa_profile.h"
#include "report/content/numa_advice.h"
#include "tests/unit/support/tree_fixture.h"

/* ---------------------------------------------------------------- topology */

TEST(nodes_with_gaps_are_counted_and_found)
{
	static struct numa_topology t;
	const char *directory = tree_make();

	tree_add_directory("node8");
	tree_add_file("node8/cpulist", "4-5,7\n");
	tree_add_directory("node0");
	tree_add_file("node0/cpulist", "0-3,6\n");
	tree_add_file("online", "0,8\n");
	tree_add_directory("nodes"); /* Not one of them. */
	numa_topology_read(&t, directory);
	assert_int_equal(t.node_count, 2);
	assert_int_equal(numa_topology_node(&t, 8), 1);
	assert_int_equal(numa_topology_node(&t, 1), NUMA_NONE);
	assert_int_equal(numa_topology_node(&t, -1), NUMA_NONE);
	assert_int_equal(numa_topology_node_of_cpu(&t, 6), 0);
	assert_int_equal(numa_topology_node_of_cpu(&t, 7), 1);
	assert_int_equal(numa_topology_node_of_cpu(&t, 8), NUMA_NONE);
	assert_int_equal(numa_topology_node_of_cpu(&t, UINT32_MAX), NUMA_NONE);
	tree_remove();
}

TEST(a_kernel_without_numa_has_one_node)
{
	static struct numa_topology t;

	numa_topology_read(&t, "/nonexistent");
	assert_int_equal(t.node_count, 1);
	assert_int_equal(numa_topology_node_of_cpu(&t, 3), 0);
}

TEST(a_node_without_cpus_is_a_node)
{
	static struct numa_topology t;
	const char *directory = tree_make();

	tree_add_directory("node0");
	tree_add_file("node0/cpulist", "0-1\n");
	tree_add_directory("node1");
	tree_add_file("node1/cpulist", "\n");
	numa_topology_read(&t, directory);
	assert_int_equal(t.node_count, 2);
	assert_int_equal(numa_topology_node_of_cpu(&t, 1), 0);
	tree_remove();
}

/* ---------------------------------------------------------------- profile */

static struct numa_access access_of(uint32_t site, uint8_t from, double weight)
{
	return (struct numa_access){.address = 0x1000,
				    .site = site,
				    .from = from,
				    .alloc_node = 0,
				    .weight = weight,
				    .object_weight = 2};
}

static void place(struct numa_profile *p, struct numa_access access, uint8_t page)
{
	assert_int_equal(numa_profile_place(p, &access, page, NUMA_NONE), 0);
}

TEST(the_remote_fraction_weighs_accesses)
{
	struct numa_profile p = {0};

	assert_true(numa_remote_fraction(&p) == 0);
	place(&p, access_of(NUMA_NO_SITE, 0, 30), 0);
	place(&p, access_of(NUMA_NO_SITE, 0, 10), 1);
	place(&p, access_of(7, 1, 60), 0);
	assert_int_equal(p.samples, 3);
	assert_int_equal(p.remote_samples, 2);
	assert_true(p.matrix[1][0] == 60);
	assert_float_equal(numa_remote_fraction(&p), 0.7, 1e-12);
	numa_profile_release(&p);
}

/* NULL when no access to it was placed. */
static const struct numa_site *numa_site_of(const struct numa_profile *p, uint32_t site)
{
	uint32_t position;

	return row_table_find(&p->site_table, &numa_site_layout, &site, &position)
		   ? &p->sites[position]
		   : NULL;
}

TEST(a_site_has_its_own_sums)
{
	struct numa_profile p = {0};
	const struct numa_site *s;
	double share;

	place(&p, access_of(7, 1, 60), 0);
	place(&p, access_of(7, 0, 20), 0);
	place(&p, access_of(9, 0, 20), 1);
	s = numa_site_of(&p, 7);
	assert_non_null(s);
	assert_float_equal(numa_site_remote_fraction(s), 0.75, 1e-12);
	assert_int_equal(numa_largest(s->page_on, 2, &share), 0);
	assert_true(share == 1);
	assert_int_equal(numa_largest(s->accessed_from, 2, &share), 1);
	assert_true(s->accessed_from[1] == 120); /* For two objects each. */
	assert_null(numa_site_of(&p, 8));
	numa_profile_release(&p);
}

TEST(what_has_no_node_is_unplaced)
{
	struct numa_profile p = {0};

	place(&p, access_of(7, 1, 60), NUMA_NONE);
	place(&p, access_of(7, NUMA_NONE, 60), 0);
	assert_int_equal(p.unplaced, 2);
	assert_int_equal(p.samples, 0);
	assert_null(numa_site_of(&p, 7));
	numa_profile_release(&p);
}

TEST(accesses_wait_in_order_and_only_so_many)
{
	struct numa_profile p = {0};
	struct numa_access out[2];

	for (uint32_t i = 0; i < NUMA_WAITING_MAX + 3; i++) {
		struct numa_access a = access_of(i, 0, 1);

		assert_int_equal(numa_profile_access(&p, &a), 0);
	}
	assert_int_equal(p.unplaced, 3);
	assert_int_equal(numa_profile_take(&p, out, 2), 2);
	assert_int_equal(out[0].site, 0);
	assert_int_equal(out[1].site, 1);
	numa_profile_finish(&p);
	assert_int_equal(p.unplaced, 3 + NUMA_WAITING_MAX - 2);
	assert_int_equal(numa_profile_take(&p, out, 2), 0);
	numa_profile_release(&p);
}

TEST(sites_beyond_the_limit_are_counted)
{
	struct numa_profile p = {0};

	for (uint32_t i = 0; i < NUMA_SITES_MAX + 5; i++)
		place(&p, access_of(i, 0, 1), 0);
	assert_int_equal(p.site_count, NUMA_SITES_MAX);
	assert_int_equal(p.sites_dropped, 5);
	assert_int_equal(p.samples, NUMA_SITES_MAX + 5);
	numa_profile_release(&p);
}

/* ---------------------------------------------------------------- advice */

static struct numa_topology two_nodes(void)
{
	return (struct numa_topology){.node_count = 2, .node_id = {0, 4}};
}

TEST(one_node_s_data_used_by_another_is_for_its_users_to_initialise)
{
	const struct numa_topology t = two_nodes();
	const struct numa_site s = {.samples = 100,
				    .remote = 95,
				    .local = 5,
				    .page_on = {100},
				    .allocated_on = {100},
				    .accessed_from = {5, 95}};
	char text[NUMA_ADVICE_BYTES];

	assert_true(numa_advice(&s, &t, false, text));
	assert_non_null(strstr(text, "initialised on node 0, accessed from node 4"));
}

TEST(data_that_many_nodes_use_is_to_be_spread)
{
	const struct numa_topology t = two_nodes();
	const struct numa_site s = {.samples = 100,
				    .remote = 50,
				    .local = 50,
				    .page_on = {100},
				    .allocated_on = {100},
				    .accessed_from = {50, 50}};
	char text[NUMA_ADVICE_BYTES];

	assert_true(numa_advice(&s, &t, false, text));
	assert_non_null(strstr(text, "interleave"));
}

TEST(pages_that_the_user_s_own_allocation_got_elsewhere_are_the_collector_s)
{
	const struct numa_topology t = two_nodes();
	const struct numa_site s = {.samples = 100,
				    .remote = 100,
				    .page_on = {100},
				    .allocated_on = {0, 100},
				    .accessed_from = {0, 100}};
	char text[NUMA_ADVICE_BYTES];

	assert_true(numa_advice(&s, &t, false, text));
	assert_non_null(strstr(text, "by the collector"));
	assert_true(numa_advice(&s, &t, true, text));
	assert_non_null(strstr(text, "AlwaysPreTouch"));
}

TEST(little_evidence_gives_no_advice)
{
	const struct numa_topology t = two_nodes();
	struct numa_site s = {.samples = 5, .remote = 5, .page_on = {5}, .accessed_from = {0, 5}};
	char text[NUMA_ADVICE_BYTES];

	assert_false(numa_advice(&s, &t, false, text));
	s = (struct numa_site){
	    .samples = 100, .remote = 10, .local = 90, .page_on = {100}, .accessed_from = {90, 10}};
	assert_false(numa_advice(&s, &t, false, text));
}
