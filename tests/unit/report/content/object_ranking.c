#include "tests/unit/support/test.h"

#include "report/content/object_ranking.h"
#include "tests/unit/support/sample_findings.h"

static const struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true};

static uint32_t add_node(struct window_result *w, int32_t line, Jxp__Tier tier)
{
	struct cct_node node = {.line = line, .tier = (uint16_t)tier};
	uint32_t id;

	assert_int_equal(cct_add_node(&w->profile.cct, &node, &id), 0);
	return id;
}

static uint32_t add_site(struct window_result *w, uint32_t class_name, uint32_t node)
{
	uint32_t site;

	assert_int_equal(object_profile_site(&w->objects, class_name, node, &site), 0);
	return site;
}

static void add_access(struct window_result *w, uint32_t site, uint32_t node, double weight)
{
	assert_int_equal(
	    object_profile_access(&w->objects, site,
				  &(struct object_access){.node = node, .weight = weight}, 1, 0),
	    0);
}

TEST(the_most_expensive_site_and_its_dearest_context_come_first)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);
	uint32_t here = add_node(w, 1, JXP__TIER__TIER_JIT);
	uint32_t there = add_node(w, 2, JXP__TIER__TIER_JIT);
	uint32_t cheap = add_site(w, 1, here), dear = add_site(w, 2, here);
	const struct ranked_access *accesses;
	struct object_ranking r;

	add_access(w, cheap, here, 20);
	add_access(w, dear, here, 30);
	add_access(w, dear, there, 50);
	assert_int_equal(object_ranking_init(&r, w), 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.sites[0].sum.class_name, 2);
	assert_float_equal(r.sites[0].fraction, 0.8, 1e-9);
	assert_true(r.sites[0].ci95.low < 0.8 && r.sites[0].ci95.high > 0.8);
	assert_float_equal(r.sites[1].fraction, 0.2, 1e-9);
	assert_int_equal(r.sites[0].access_count, 2);
	accesses = object_ranking_accesses(&r, &r.sites[0]);
	assert_int_equal(accesses[0].node, there);
	assert_int_equal(accesses[1].node, here);
	object_ranking_release(&r);
	window_result_free(w);
}

/* A method that was interpreted first, and compiled later. */
TEST(a_path_that_was_compiled_meanwhile_is_one_site)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);
	uint32_t interpreted = add_node(w, 1, JXP__TIER__TIER_INTERPRETED);
	uint32_t compiled = add_node(w, 1, JXP__TIER__TIER_JIT);
	uint32_t first = add_site(w, 1, interpreted), second = add_site(w, 1, compiled);
	struct object_ranking r;

	object_profile_allocated(&w->objects, first, 2, 100);
	object_profile_allocated(&w->objects, second, 3, 100);
	add_access(w, first, interpreted, 10);
	add_access(w, second, compiled, 30);
	assert_int_equal(object_ranking_init(&r, w), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.sites[0].sum.node, interpreted);
	assert_float_equal(r.sites[0].sum.alloc_count, 5, 1e-9);
	assert_float_equal(r.sites[0].fraction, 1, 1e-9);
	assert_int_equal(r.sites[0].access_count, 1);
	assert_float_equal(object_ranking_accesses(&r, &r.sites[0])->metric, 40, 1e-9);
	object_ranking_release(&r);
	window_result_free(w);
}

TEST(without_sites_there_is_nothing_to_rank)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);
	struct object_ranking r;

	assert_int_equal(object_ranking_init(&r, w), 0);
	assert_int_equal(r.count, 0);
	object_ranking_release(&r);
	window_result_free(w);
}
