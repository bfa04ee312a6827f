#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/profile/object_profile.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

#define HEAP JXP__REGION__REGION_HEAP

static int set_up(void **state)
{
	static struct object_profile l;

	l = (struct object_profile){0};
	*state = &l;
	return 0;
}

static int tear_down(void **state)
{
	object_profile_release(*state);
	return 0;
}

static uint32_t site_of(struct object_profile *l, uint32_t node)
{
	uint32_t site;

	assert_int_equal(object_profile_site(l, 1, node, &site), 0);
	return site;
}

static void a_class_and_a_context_make_a_site(void **state)
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

static void counts_and_bytes_are_those_of_all_objects_that_a_sample_stands_for(void **state)
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

static void a_concurrent_collection_has_judged_what_was_there_when_it_began(void **state)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	l->concurrent_gc = true;
	object_profile_allocated(l, site, 1, 100);
	object_profile_judged(l, 10);
	object_profile_allocated(l, site, 1, 1000); /* Perhaps while it was at work. */
	object_profile_judged(l, 20);               /* Perhaps its second pass. */
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 1100, 0);
	assert_int_equal(object_profile_judged_ns(l), 0);
	object_profile_judged(l, 30);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 1000, 0);
	assert_int_equal(object_profile_judged_ns(l), 10);
	object_profile_died(l, site, 1, 1000, 1);
	assert_float_equal(object_profile_uncollected_bytes(l, &l->sites[site]), 0, 0);
	object_profile_judged(l, 40);
	assert_float_equal(object_profile_uncollected_count(l, &l->sites[site]), 0, 0);
	assert_int_equal(object_profile_judged_ns(l), 20);
}

static void a_fraction_is_of_all_accesses_to_the_heap(void **state)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	assert_int_equal(object_profile_access(l, site, 1, 10, 2, 0), 0);
	object_profile_untracked(l, HEAP, 30);
	object_profile_untracked(l, JXP__REGION__REGION_STACK, 1000);
	assert_float_equal(object_profile_fraction(l, &l->sites[site]), 20.0 / 40, 1e-12);
}

static void fractions_add_up_to_one_at_most(void **state)
{
	struct object_profile *l = *state;
	uint32_t a = site_of(l, 5), b = site_of(l, 6);

	assert_int_equal(object_profile_access(l, a, 1, 10, 30, 0), 0);
	assert_int_equal(object_profile_access(l, b, 1, 10, 10, 0), 0);
	object_profile_untracked(l, HEAP, 30);
	assert_float_equal(object_profile_fraction(l, &l->sites[a]), 0.75, 1e-12);
	assert_float_equal(object_profile_fraction(l, &l->sites[b]), 0.25, 1e-12);
}

static void accesses_of_one_context_are_added_up(void **state)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);

	assert_int_equal(object_profile_access(l, site, 1, 10, 2, 0), 0);
	assert_int_equal(object_profile_access(l, site, 1, 5, 2, 10), 0);
	assert_int_equal(object_profile_access(l, site, 9, 5, 2, 15), 0);
	assert_int_equal(l->access_count, 2);
	assert_int_equal(l->accesses[0].samples, 2);
	assert_float_equal(l->accesses[0].metric, 30, 0);
}

static void sites_and_contexts_beyond_their_limits_are_refused(void **state)
{
	struct object_profile *l = *state;
	uint32_t site;

	for (uint32_t node = 0; node < LIMIT_SITES; node++)
		(void)site_of(l, node);
	assert_int_equal(object_profile_site(l, 1, LIMIT_SITES, &site), -ENOSPC);
	for (uint32_t node = 0; node < LIMIT_SITE_ACCESSES; node++)
		assert_int_equal(object_profile_access(l, 0, node, 1, 1, 0), 0);
	assert_int_equal(object_profile_access(l, 0, LIMIT_SITE_ACCESSES, 1, 1, 0), -ENOSPC);
	assert_int_equal(l->sites[0].samples, LIMIT_SITE_ACCESSES + 1);
	assert_true(object_profile_memory_bytes(l) < 64u << 20);
}

static void with_weights_of_1_the_interval_is_that_of_a_plain_sample(void **state)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 5);
	struct interval ci, plain = estimate_ci95(30, 100, 100);

	for (int i = 0; i < 30; i++)
		assert_int_equal(object_profile_access(l, site, 1, 1, 1, i), 0);
	for (int i = 0; i < 70; i++)
		object_profile_untracked(l, HEAP, 1);
	ci = object_profile_fraction_ci95(l, &l->sites[site]);
	assert_float_equal(ci.low, plain.low, 1e-9);
	assert_float_equal(ci.high, plain.high, 1e-9);
}

static void accesses_to_one_object_of_many_say_less_than_accesses_to_many(void **state)
{
	struct object_profile *l = *state;
	uint32_t one = site_of(l, 5), many = site_of(l, 6);
	struct interval of_one, of_many;

	for (int i = 0; i < 30; i++) {
		assert_int_equal(object_profile_access(l, one, 1, 1, 10, i), 0);
		assert_int_equal(object_profile_access(l, many, 1, 1, 10, 0), 0);
	}
	for (int i = 0; i < 2000; i++)
		object_profile_untracked(l, HEAP, 1);
	of_one = object_profile_fraction_ci95(l, &l->sites[one]);
	of_many = object_profile_fraction_ci95(l, &l->sites[many]);
	assert_true(of_one.high - of_one.low > 2 * (of_many.high - of_many.low));
}

static void a_site_without_accesses_may_have_had_some_unseen(void **state)
{
	struct object_profile *l = *state;
	uint32_t heavy = site_of(l, 5), light = site_of(l, 6);

	object_profile_allocated(l, heavy, 1000, 16);
	object_profile_allocated(l, light, 1, 16);
	for (int i = 0; i < 1000; i++)
		object_profile_untracked(l, HEAP, 1);
	assert_true(object_profile_fraction_ci95(l, &l->sites[light]).high < 0.005);
	assert_true(object_profile_fraction_ci95(l, &l->sites[heavy]).high > 0.5);
}

static double uniform(unsigned *seed)
{
	return (double)rand_r(seed) / RAND_MAX;
}

/* Simulates a heap of 400 objects of which one in w is tracked and one access in ten sampled. A
 * share of the accesses goes to 100 objects of one site, half of the rest to the other objects and
 * half to what is older than the window. Adds to *inside when the interval has the true share. */
static double simulate(unsigned seed, double share, double w, int *inside)
{
	struct object_profile l = {0};
	uint32_t site = site_of(&l, 5), other = site_of(&l, 6);
	double tracked[400], metric[400] = {0}, fraction;
	struct interval ci;

	for (int i = 0; i < 400; i++)
		tracked[i] = uniform(&seed) < 1 / w;
	for (int i = 0; i < 10000; i++) {
		bool first = uniform(&seed) < share;
		int object =
		    first ? (int)(uniform(&seed) * 99.999) : 100 + (int)(uniform(&seed) * 299.999);

		if (uniform(&seed) > 0.1)
			continue;
		if (!tracked[object] || (!first && uniform(&seed) < 0.5)) {
			object_profile_untracked(&l, HEAP, 1);
			continue;
		}
		(void)object_profile_access(&l, first ? site : other, 1, 1, w, metric[object]);
		metric[object]++;
	}
	fraction = object_profile_fraction(&l, &l.sites[site]);
	ci = object_profile_fraction_ci95(&l, &l.sites[site]);
	*inside += ci.low <= share && share <= ci.high;
	object_profile_release(&l);
	return fraction;
}

static void estimates_are_unbiased_and_intervals_cover_the_truth(void **state)
{
	static const struct {
		double share, weight;
	} cases[] = {{0.3, 1}, {0.3, 4}, {0.05, 4}, {0.6, 2}, {0.2, 8}};
	enum { RUNS = 400 };

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		double sum = 0;
		int inside = 0;

		for (unsigned run = 0; run < RUNS; run++)
			sum += simulate(run + 1, cases[c].share, cases[c].weight, &inside);
		print_message("share %g weight %g: mean %.4f, %d of %d intervals\n", cases[c].share,
			      cases[c].weight, sum / RUNS, inside, RUNS);
		assert_true(fabs(sum / RUNS - cases[c].share) < 0.01);
		assert_true(inside >= RUNS * 90 / 100);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_class_and_a_context_make_a_site),
	    TEST(counts_and_bytes_are_those_of_all_objects_that_a_sample_stands_for),
	    TEST(a_concurrent_collection_has_judged_what_was_there_when_it_began),
	    TEST(a_fraction_is_of_all_accesses_to_the_heap),
	    TEST(fractions_add_up_to_one_at_most),
	    TEST(accesses_of_one_context_are_added_up),
	    TEST(sites_and_contexts_beyond_their_limits_are_refused),
	    TEST(with_weights_of_1_the_interval_is_that_of_a_plain_sample),
	    TEST(accesses_to_one_object_of_many_say_less_than_accesses_to_many),
	    TEST(a_site_without_accesses_may_have_had_some_unseen),
	    TEST(estimates_are_unbiased_and_intervals_cover_the_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
