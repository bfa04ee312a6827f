#include "tests/unit/support/test.h"
#include <stdlib.h>

#include "report/pairs/pair_ranking.h"
#include "tests/unit/support/clock_window.h"

#define DEAD JXP__KIND__KIND_DEAD_STORE
#define LOAD JXP__KIND__KIND_SILENT_LOAD

enum { FIRST = 1, SECOND, OTHER }; /* nodes, of which all accesses are told */

/* 1,000 ticks of 5 ms. */
static int set_up(void **state)
{
	(void)state;
	clock_window_new(1000);
	for (int32_t line = FIRST; line <= OTHER; line++) {
		struct cct_node n = {.bci = 1, .line = line, .tier = JXP__TIER__TIER_JIT};

		assert_int_equal(context_of(&n), line);
	}
	return 0;
}

/* Of the only row of a kind. */
static struct cpu_share gain_of(Jxp__Kind kind)
{
	struct pair_ranking r;
	struct pair_scope scope;
	struct cpu_share gain;

	assert_int_equal(pair_scope_init(&scope, w, NULL), 0);
	assert_int_equal(pair_ranking_init(&r, &scope, kind, PAIRS_BY_LOCATION), 0);
	pair_scope_release(&scope);
	assert_int_equal(r.count, 1);
	gain = r.pairs[0].gain;
	pair_ranking_release(&r);
	return gain;
}

/* The first load misses, the second one hits: what it costs is what can be saved. */
TEST(of_a_silent_load_it_is_the_second_ones_time, set_up, clock_window_free)
{
	struct cpu_share gain;

	observe(LOAD, FIRST, SECOND, 0, true, 100);
	tick(FIRST, 100);
	tick(SECOND, 4);
	gain = gain_of(LOAD);
	assert_true(gain.known);
	assert_float_equal(gain.share, 0.004, 1e-9);
	assert_true(gain.ci95.low > 0.001 && gain.ci95.high < 0.015);
}

TEST(of_a_dead_store_it_is_the_first_ones_time, set_up, clock_window_free)
{
	observe(DEAD, FIRST, SECOND, 0, true, 10);
	tick(FIRST, 10);
	tick(SECOND, 100);
	assert_float_equal(gain_of(DEAD).share, 0.01, 1e-9);
}

/* Half of what the second access reads has changed. */
TEST(what_is_not_in_vain_cannot_be_saved, set_up, clock_window_free)
{
	struct cpu_share all, half;

	tick(SECOND, 20);
	observe(LOAD, FIRST, SECOND, 0, true, 50);
	all = gain_of(LOAD);
	observe(LOAD, OTHER, SECOND, 0, false, 50);
	half = gain_of(LOAD);
	assert_float_equal(all.share, 0.02, 1e-9);
	assert_float_equal(half.share, 0.01, 1e-9);
}

/* Two loads of one loop, of which one waits three times as long: each has the time of its own
 * ticks, whatever the other has, and however often each was sampled. */
TEST(a_hit_and_a_miss_have_each_their_own_time, set_up, clock_window_free)
{
	struct cpu_share miss, hit;

	tick(FIRST, 300);
	tick(SECOND, 100);
	observe(LOAD, OTHER, FIRST, 0, true, 200);
	miss = gain_of(LOAD);
	observe(DEAD, SECOND, OTHER, 0, true, 200);
	hit = gain_of(DEAD);
	assert_float_equal(miss.share, 0.3, 1e-9);
	assert_float_equal(hit.share, 0.1, 1e-9);
	assert_true(miss.ci95.low > 0.27 && miss.ci95.high < 0.33);
	assert_true(hit.ci95.low > 0.08 && hit.ci95.high < 0.121);
}

/* All of five pairs are wasteful: that says little of all. */
TEST(few_pairs_make_it_less_sure, set_up, clock_window_free)
{
	struct cpu_share few, many;

	tick(SECOND, 340);
	observe(LOAD, FIRST, SECOND, 0, true, 5);
	few = gain_of(LOAD);
	observe(LOAD, FIRST, SECOND, 0, true, 95);
	many = gain_of(LOAD);
	assert_float_equal(few.share, 0.34, 1e-9);
	assert_float_equal(many.share, 0.34, 1e-9);
	assert_true(few.ci95.low < 0.28);
	assert_true(many.ci95.low > 0.3 && many.ci95.high < 0.38);
}

/* Ticks that never came say that it is little, not that it is nothing. */
TEST(without_ticks_there_it_is_small, set_up, clock_window_free)
{
	struct cpu_share gain;

	observe(LOAD, FIRST, SECOND, 0, true, 100);
	tick(FIRST, 100);
	gain = gain_of(LOAD);
	assert_true(gain.known);
	assert_float_equal(gain.share, 0, 1e-9);
	assert_true(gain.ci95.high > 0.001 && gain.ci95.high < 0.02);
}

TEST(it_is_not_known_of_accesses_that_nobody_can_tell, set_up, clock_window_free)
{
	observe(LOAD, FIRST, SECOND, 0, true, 10);
	tick(SECOND, 10);
	cct_mark(&w->profile.cct, SECOND, CERTAINTY_METHOD);
	assert_false(gain_of(LOAD).known);
}

TEST(it_is_not_known_without_ticks_of_their_own, set_up, clock_window_free)
{
	observe(LOAD, FIRST, SECOND, 0, true, 10);
	w->request.kinds[JXP__KIND__KIND_CPU] = false;
	assert_false(gain_of(LOAD).known);
}
