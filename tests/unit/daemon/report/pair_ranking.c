#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/report/pair_ranking.h"

#define DEAD         JXP__KIND__KIND_DEAD_STORE
#define SILENT_STORE JXP__KIND__KIND_SILENT_STORE

static void observe(struct profile *p, uint32_t watch, uint32_t trap, uint32_t instruction,
		    uint32_t bytes, bool wasteful)
{
	struct observation o = {.kind = DEAD,
				.region = JXP__REGION__REGION_HEAP,
				.wasteful = wasteful,
				.checked_bytes = bytes,
				.watch_node = watch,
				.trap_node = trap,
				.watch_instruction = instruction};

	assert_int_equal(profile_add(p, &o), 0);
}

/* Of a window whose sampler is no clock, and takes the profile as it is. */
static void rank(struct pair_ranking *r, const struct profile *p, Jxp__Kind kind,
		 enum pair_view view)
{
	struct window_result w = {.profile = *p};
	struct pair_scope scope;

	assert_int_equal(pair_scope_init(&scope, &w, NULL), 0);
	assert_int_equal(pair_ranking_init(r, &scope, kind, view), 0);
	pair_scope_release(&scope);
}

static void the_most_wasteful_pair_comes_first(void **state)
{
	struct profile p = {0};
	struct pair_ranking r;

	(void)state;
	observe(&p, 1, 1, 0, 8, true);
	observe(&p, 2, 1, 0, 64, true);
	observe(&p, 3, 1, 0, 28, true);
	rank(&r, &p, DEAD, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	assert_int_equal(r.pairs[1].sum.watch_node, 3);
	assert_int_equal(r.pairs[2].sum.watch_node, 1);
	assert_float_equal(r.pairs[0].fraction, 0.64, 1e-9);
	pair_ranking_release(&r);
	profile_release(&p);
}

static void pairs_that_wasted_nothing_are_left_out(void **state)
{
	struct profile p = {0};
	struct pair_ranking r;

	(void)state;
	observe(&p, 1, 1, 0, 8, false);
	observe(&p, 2, 1, 0, 8, true);
	observe(&p, 3, 1, 0, 8, false);
	rank(&r, &p, DEAD, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	pair_ranking_release(&r);
	rank(&r, &p, SILENT_STORE, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 0);
	assert_null(r.pairs);
	pair_ranking_release(&r);
	profile_release(&p);
}

static void the_same_contexts_are_one_pair_shown_as_what_wasted_most(void **state)
{
	struct profile p = {0};
	struct pair_ranking r;

	(void)state;
	observe(&p, 1, 2, 10, 4, true);
	observe(&p, 1, 2, 11, 8, true);
	observe(&p, 1, 2, 12, 16, false);
	observe(&p, 1, 3, 10, 1, true);
	rank(&r, &p, DEAD, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.pairs[0].variants, 3);
	assert_int_equal(r.pairs[0].sum.watch_instruction, 11);
	assert_int_equal(r.pairs[0].sum.wasteful_bytes, 12);
	assert_int_equal(r.pairs[0].sum.checked_bytes, 28);
	assert_int_equal(r.pairs[1].variants, 1);
	pair_ranking_release(&r);
	profile_release(&p);
}

static void a_profile_without_pairs_has_an_empty_ranking(void **state)
{
	struct profile p = {0};
	struct pair_ranking r;

	(void)state;
	rank(&r, &p, DEAD, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 0);
	pair_ranking_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_most_wasteful_pair_comes_first),
	    cmocka_unit_test(pairs_that_wasted_nothing_are_left_out),
	    cmocka_unit_test(the_same_contexts_are_one_pair_shown_as_what_wasted_most),
	    cmocka_unit_test(a_profile_without_pairs_has_an_empty_ranking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
