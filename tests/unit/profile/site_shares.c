#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/site_shares.h"
#include "tests/unit/support/object_profile_fixture.h"

static uint32_t site_of(struct object_profile *l, uint32_t class_name, uint32_t node)
{
	uint32_t site;

	assert_int_equal(object_profile_site(l, class_name, node, &site), 0);
	return site;
}

/* Of one site as it is. */
static struct site_share share_of(const struct object_profile *l, uint32_t site)
{
	uint32_t *rank = calloc(l->site_count, sizeof(*rank));
	struct site_share *shares = calloc(l->site_count, sizeof(*shares)), share;

	assert_true(rank && shares);
	for (uint32_t i = 0; i < l->site_count; i++) {
		const struct object_site *s = &l->sites[i];

		rank[i] = i;
		shares[i].class_name = s->class_name;
		shares[i].object_weight = object_site_weight(s);
	}
	assert_int_equal(site_shares_estimate(&l->strata, rank, shares, l->site_count, NULL), 0);
	share = shares[site];
	free(shares);
	free(rank);
	return share;
}

/* What the rests of all classes come to, with one site's class's in *own. */
static double rests_of(const struct object_profile *l, uint32_t class_name, double *own)
{
	uint32_t rank[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct site_share shares[8] = {{0}};
	struct class_rests rests;
	double sum = 0;

	assert_in_range(l->site_count, 0, 8);
	assert_int_equal(site_shares_estimate(&l->strata, rank, shares, l->site_count, &rests), 0);
	for (size_t i = 0; i < rests.count; i++)
		sum += rests.list[i].fraction;
	*own = class_rests_find(&rests, class_name).fraction;
	class_rests_release(&rests);
	return sum;
}

static void met(struct object_profile *l, uint32_t site, uint32_t class_name, double weight,
		double object_weight, double before)
{
	struct object_access a = {.class_name = class_name, .object_bytes = 64, .weight = weight};

	assert_int_equal(object_profile_access(l, site, &a, object_weight, before), 0);
}

static void missed(struct object_profile *l, uint32_t class_name, double weight, int count)
{
	struct object_access a = {.class_name = class_name, .object_bytes = 64, .weight = weight};

	for (int i = 0; i < count; i++)
		assert_int_equal(object_profile_untracked(l, HEAP, &a), 0);
}

static double width(struct interval i)
{
	return i.high - i.low;
}

/* Of one site nobody would have seen an access. */
TEST(what_is_not_tracked_may_have_all_that_its_class_has, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t told = site_of(l, 5, 5), allocated = site_of(l, 5, 6);

	object_profile_told(l, told, 2, 64);
	object_profile_allocated(l, allocated, 2, 64);
	missed(l, 5, 10, 500);
	missed(l, 6, 10, 500);
	assert_true(share_of(l, told).ci95.high > 0.45);
	assert_true(share_of(l, allocated).ci95.high < 0.05);
	/* One of two is tracked: half of the accesses would have been seen. */
	object_profile_told(l, allocated, 2, 64);
	assert_float_equal(object_site_weight(&l->sites[allocated]), 4, 0);
}

TEST(a_share_is_of_all_accesses_to_the_heap, set_up, tear_down)
{
	struct object_profile *l = *state;
	struct object_access stack = {.weight = 1000}, moving = {.weight = 20};
	uint32_t site = site_of(l, 0, 5);

	met(l, site, 0, 10, 2, 0);
	missed(l, 0, 30, 1);
	assert_int_equal(object_profile_untracked(l, JXP__REGION__REGION_STACK, &stack), 0);
	assert_float_equal(share_of(l, site).fraction, 20.0 / 40, 1e-12);
	/* While objects were moved as much will have gone to it as at other times. */
	assert_int_equal(object_profile_unsettled(l, &moving), 0);
	assert_float_equal(share_of(l, site).fraction, 20.0 / 40, 1e-12);
}

/* That no access went to a class is known as well as the accesses are many. */
TEST(a_class_that_no_access_went_to_may_have_some_share, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 2, 5);

	missed(l, 1, 1, 20);
	assert_float_equal(share_of(l, site).fraction, 0, 1e-12);
	assert_float_equal(share_of(l, site).ci95.high, 0.161, 0.001); /* Wilson's, of 0 of 20. */
	missed(l, 1, 1, 980);
	assert_true(share_of(l, site).ci95.high < 0.01);
}

TEST(shares_and_rests_add_up_to_one, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t a = site_of(l, 1, 5), b = site_of(l, 1, 6), c = site_of(l, 2, 5);
	double own, sum;

	met(l, a, 1, 10, 30, 0);
	met(l, b, 1, 10, 10, 0);
	missed(l, 1, 30, 1);
	met(l, c, 2, 10, 2, 0);
	missed(l, 2, 10, 3);
	missed(l, 0, 10, 1);
	sum = share_of(l, a).fraction + share_of(l, b).fraction + share_of(l, c).fraction;
	assert_float_equal(share_of(l, a).fraction, 0.75 * 50 / 100, 1e-12);
	assert_float_equal(share_of(l, c).fraction, 0.5 * 40 / 100, 1e-12);
	assert_float_equal(share_of(l, a).of_class, 0.75, 1e-12);
	sum += rests_of(l, 2, &own);
	assert_float_equal(sum, 1, 1e-12);
	assert_float_equal(own, 0.2, 1e-12);
}

TEST(a_site_has_no_share_of_other_classes, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 1, 5);

	met(l, site, 1, 1, 100, 0);
	missed(l, 1, 1, 9);
	missed(l, 2, 1, 990);
	assert_float_equal(share_of(l, site).fraction, 0.01, 1e-12);
	assert_true(share_of(l, site).ci95.high < 0.02);
}

TEST(with_weights_of_1_the_interval_is_that_of_a_plain_sample, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 0, 5);
	struct interval ci, plain = estimate_ci95(30, 100, 100);

	for (int i = 0; i < 30; i++)
		met(l, site, 0, 1, 1, i);
	missed(l, 0, 1, 70);
	ci = share_of(l, site).ci95;
	assert_float_equal(ci.low, plain.low, 1e-9);
	assert_float_equal(ci.high, plain.high, 1e-9);
}

TEST(accesses_to_one_object_of_many_say_less_than_accesses_to_many, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t one = site_of(l, 0, 5), many = site_of(l, 0, 6);

	for (int i = 0; i < 30; i++) {
		met(l, one, 0, 1, 10, i);
		met(l, many, 0, 1, 10, 0);
	}
	missed(l, 0, 1, 2000);
	assert_true(width(share_of(l, one).ci95) > 2 * width(share_of(l, many).ci95));
}

TEST(a_site_without_accesses_may_have_had_some_unseen, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t heavy = site_of(l, 0, 5), light = site_of(l, 0, 6);

	object_profile_allocated(l, heavy, 1000, 16);
	object_profile_allocated(l, light, 1, 16);
	missed(l, 0, 1, 1000);
	assert_true(share_of(l, light).ci95.high < 0.005);
	assert_true(share_of(l, heavy).ci95.high > 0.5);
}

TEST(without_accesses_nothing_is_known, set_up, tear_down)
{
	struct object_profile *l = *state;
	uint32_t site = site_of(l, 1, 5);
	struct site_share share = share_of(l, site);

	assert_float_equal(share.fraction, 0, 0);
	assert_float_equal(share.ci95.low, 0, 0);
	assert_float_equal(share.ci95.high, 1, 0);
}

/* ---------------------------------------------------------------- populations */

static double uniform(unsigned *seed)
{
	return (double)rand_r(seed) / ((double)RAND_MAX + 1);
}

/* The objects of one site (or, older, of what none is tracked of), all of one class and size. */
struct crowd {
	double share;  /* of all accesses */
	double weight; /* one object in so many is tracked; 0: none */
	unsigned class_name;
	unsigned size_class;
	unsigned site;    /* 0: older */
	unsigned objects; /* how many there are, accessed alike */
};

#define CROWDS  8
#define OBJECTS 40000

struct population {
	const char *name;
	struct crowd crowds[CROWDS]; /* of share 0: the end */
	double unsettled;            /* of the samples */
	double later; /* by how much object weights grow after a fifth of the samples; 0: not */
	unsigned samples;
	bool unequal; /* weights of samples are drawn from 0.5 to 1.5 */
	bool helps;   /* to know classes makes intervals narrower */
};

struct outcome {
	double mean, width, unstratified;
	int inside, above, below;
};

/* Of new objects a few are tracked from now on. */
static void become_rare(struct object_profile *l, const struct crowd *crowd, double factor)
{
	assert_int_equal(strata_allocated(&l->strata, crowd->class_name, 1ull << crowd->size_class,
					  crowd->weight * factor),
			 0);
}

/* Draws the samples of one window into l. told: accesses tell their class. */
static void draw(struct object_profile *l, const struct population *p, bool told, unsigned seed)
{
	static double metric[CROWDS][OBJECTS];
	static bool tracked[CROWDS][OBJECTS];
	uint32_t sites[CROWDS] = {0};

	for (int c = 0; c < CROWDS && p->crowds[c].share > 0; c++) {
		const struct crowd *crowd = &p->crowds[c];

		for (unsigned i = 0; i < crowd->objects; i++) {
			tracked[c][i] = crowd->site && uniform(&seed) < 1 / crowd->weight;
			metric[c][i] = 0;
			if (i == 0 && crowd->site)
				sites[c] = site_of(l, crowd->class_name, crowd->site);
			if (crowd->site)
				assert_int_equal(strata_allocated(&l->strata, crowd->class_name,
								  1ull << crowd->size_class,
								  crowd->weight),
						 0);
			if (tracked[c][i])
				object_profile_allocated(l, sites[c], crowd->weight,
							 1ull << crowd->size_class);
		}
	}
	for (unsigned n = 0; n < p->samples; n++) {
		bool late = p->later > 0 && n >= p->samples / 5;
		double at = uniform(&seed), weight = p->unequal ? 0.5 + uniform(&seed) : 1;
		struct object_access a = {.weight = weight};
		unsigned object;
		int c = 0;

		while (c + 1 < CROWDS && p->crowds[c + 1].share > 0 && at >= p->crowds[c].share)
			at -= p->crowds[c++].share;
		object = (unsigned)(uniform(&seed) * p->crowds[c].objects);
		if (told) {
			a.class_name = p->crowds[c].class_name;
			a.object_bytes = 1ull << p->crowds[c].size_class;
		}
		if (late && p->crowds[c].site)
			become_rare(l, &p->crowds[c], p->later);
		if (uniform(&seed) < p->unsettled) {
			(void)object_profile_unsettled(l, &a);
		} else if (tracked[c][object] && (!late || uniform(&seed) * p->later < 1)) {
			(void)object_profile_access(l, sites[c], &a,
						    p->crowds[c].weight * (late ? p->later : 1),
						    late ? 0 : metric[c][object]);
			metric[c][object] += weight;
		} else {
			(void)object_profile_untracked(l, HEAP, &a);
		}
	}
}

static double truth_of(const struct population *p)
{
	double sum = 0;

	for (int c = 0; c < CROWDS; c++)
		sum += p->crowds[c].site == 1 ? p->crowds[c].share : 0;
	return sum;
}

static struct site_share one_run(const struct population *p, bool told, unsigned seed)
{
	struct object_profile l = {0};
	struct site_share share;

	(void)site_of(&l, p->crowds[0].class_name, 1);
	draw(&l, p, told, seed);
	share = share_of(&l, 0);
	object_profile_release(&l);
	return share;
}

static struct outcome simulate(const struct population *p, bool told, int runs)
{
	struct outcome o = {0};
	double truth = truth_of(p);

	for (int run = 0; run < runs; run++) {
		struct site_share s = one_run(p, told, (unsigned)run + 1);

		o.mean += s.fraction / runs;
		o.width += width(s.ci95) / runs;
		o.above += s.ci95.low > truth;
		o.below += s.ci95.high < truth;
		o.inside += s.ci95.low <= truth && truth <= s.ci95.high;
	}
	return o;
}

/* Site 1 is the one that is looked at; crowd 0 is its. */
static const struct population populations[] = {
    {.name = "one class, all tracked",
     .samples = 1000,
     .crowds = {{.3, 1, 1, 6, 1, 100}, {.35, 1, 1, 6, 2, 300}, {.35, 0, 1, 6, 0, 300}}},
    {.name = "one class, one in four",
     .samples = 1000,
     .crowds = {{.3, 4, 1, 6, 1, 400}, {.35, 4, 1, 6, 2, 400}, {.35, 0, 1, 6, 0, 300}}},
    {.name = "a rare site, one in four",
     .samples = 1000,
     .crowds = {{.05, 4, 1, 6, 1, 400}, {.45, 4, 1, 6, 2, 400}, {.5, 0, 1, 6, 0, 300}}},
    {.name = "most of the heap, one in two",
     .samples = 1000,
     .crowds = {{.6, 2, 1, 6, 1, 400}, {.2, 2, 1, 6, 2, 400}, {.2, 0, 1, 6, 0, 300}}},
    {.name = "one in eight",
     .samples = 1000,
     .crowds = {{.2, 8, 1, 6, 1, 1000}, {.4, 8, 1, 6, 2, 1000}, {.4, 0, 1, 6, 0, 300}}},
    {.name = "few objects, one in four",
     .samples = 1000,
     .crowds = {{.3, 4, 1, 6, 1, 40}, {.35, 4, 1, 6, 2, 40}, {.35, 0, 1, 6, 0, 300}}},
    {.name = "classes of their own",
     .samples = 1000,
     .crowds = {{.3, 8, 1, 6, 1, 2000},
		{.1, 0, 1, 6, 0, 300},
		{.3, 8, 2, 6, 2, 2000},
		{.3, 0, 3, 6, 0, 300}}},
    {.name = "a class of one site, little of it older",
     .helps = true,
     .samples = 1000,
     .crowds = {{.45, 10, 1, 6, 1, 4000}, {.05, 0, 1, 6, 0, 100}, {.5, 10, 2, 6, 2, 4000}}},
    {.name = "sizes",
     .helps = true,
     .samples = 1000,
     .crowds = {{.2, 8, 1, 6, 1, 2000},
		{.15, 4, 1, 8, 1, 2000},
		{.1, 2, 1, 10, 1, 2000},
		{.15, 4, 1, 8, 2, 2000},
		{.1, 0, 1, 10, 0, 300},
		{.3, 0, 2, 6, 0, 300}}},
    {.name = "two sites in a class without older ones",
     .helps = true,
     .samples = 1000,
     .crowds = {{.25, 10, 1, 6, 1, 4000}, {.25, 10, 1, 6, 2, 4000}, {.5, 0, 2, 6, 0, 300}}},
    {.name = "unequal weights, half unsettled",
     .samples = 1500,
     .unsettled = .5,
     .unequal = true,
     .crowds = {{.3, 4, 1, 6, 1, 2000},
		{.2, 4, 1, 6, 2, 2000},
		{.1, 0, 1, 6, 0, 300},
		{.4, 4, 2, 6, 3, 2000}}},
    {.name = "tracked in the first fifth, hardly ever after",
     .later = 1000,
     .helps = true,
     .samples = 1000,
     .crowds = {{.5, 2, 1, 6, 1, 4000},
		{.2, 2, 1, 6, 2, 4000},
		{.2, 0, 1, 6, 0, 300},
		{.1, 0, 2, 6, 0, 300}}},
    {.name = "250 samples, one in 25",
     .samples = 250,
     .crowds = {{.6, 25, 1, 6, 1, 10000}, {.35, 0, 1, 6, 0, 300}, {.05, 0, 2, 6, 0, 300}}},
    {.name = "250 samples, all tracked",
     .samples = 250,
     .crowds = {{.85, 1, 1, 6, 1, 2000}, {.1, 0, 1, 6, 0, 300}, {.05, 0, 2, 6, 0, 300}}},
    {.name = "a class of one site and nothing older",
     .helps = true,
     .samples = 1000,
     .crowds = {{.4, 10, 1, 6, 1, 4000}, {.6, 10, 2, 6, 2, 4000}}},
};

TEST(estimates_are_close_and_intervals_cover_the_truth, set_up, tear_down)
{
	enum { RUNS = 400 };

	for (size_t i = 0; i < sizeof(populations) / sizeof(populations[0]); i++) {
		const struct population *p = &populations[i];
		struct outcome known = simulate(p, true, RUNS), unknown = simulate(p, false, RUNS);

		print_message("%-40s %.2f: mean %.3f, +-%.3f, %.1f%% of intervals; without "
			      "classes %.3f, +-%.3f, %.1f%%\n",
			      p->name, truth_of(p), known.mean, known.width / 2,
			      100.0 * known.inside / RUNS, unknown.mean, unknown.width / 2,
			      100.0 * unknown.inside / RUNS);
		assert_in_range(known.inside, RUNS * 92 / 100, RUNS * 98 / 100);
		assert_true(fabs(known.mean - truth_of(p)) < 0.025);
		if (p->later > 0) /* Then nothing tells when it was that objects could be met. */
			continue;
		assert_in_range(unknown.inside, RUNS * 92 / 100, RUNS * 98 / 100);
		assert_true(known.width < unknown.width * (p->helps ? 0.93 : 1.01));
	}
}

/* 94% of the accesses to one class, all of one site's objects, of which one in weight is tracked.
 */
static struct site_share dominant(double weight, struct interval *of_class)
{
	struct population p = {.name = "", .samples = 250};
	struct object_profile l = {0};
	struct access_moments all = {0};
	struct site_share share;
	double part = 0;

	p.crowds[0] = (struct crowd){.94, weight, 1, 20, 1, 5000};
	p.crowds[1] = (struct crowd){.06, 0, 2, 6, 0, 300};
	(void)site_of(&l, 1, 1);
	draw(&l, &p, true, 7);
	share = share_of(&l, 0);
	all = strata_all(&l.strata);
	for (size_t i = 0; i < l.strata.count; i++)
		part += l.strata.list[i].class_name == 1 ? l.strata.list[i].all.metric : 0;
	*of_class = estimate_share_ci95(part, part, all.metric, all.squares);
	object_profile_release(&l);
	return share;
}

TEST(what_nearly_all_accesses_go_to_is_known_from_250_of_them, set_up, tear_down)
{
	struct interval of_class;
	struct site_share many = dominant(1.05, &of_class), few;

	assert_true(width(of_class) < 0.16 && of_class.low > 0.85);
	assert_true(width(many.ci95) < 0.16 && many.ci95.low > 0.8);
	/* About nine of them met a tracked object: most of the rest may be older. That cannot be
	 * known, and the site's interval says so; the class's does not change. */
	few = dominant(25, &of_class);
	print_message("94%% to one class: %.3f to %.3f; its site, nine of 250 tracked: %.3f, %.3f "
		      "to %.3f\n",
		      of_class.low, of_class.high, few.fraction, few.ci95.low, few.ci95.high);
	assert_true(width(of_class) < 0.16);
	assert_true(few.ci95.low > 0.2 && few.ci95.low < 0.7 && few.ci95.high > 0.85);
	assert_true(few.ci95.high <= of_class.high + 1e-9);
	/* That all that did went to this site is known better. */
	assert_float_equal(few.of_class, 1, 1e-9);
	assert_true(few.of_class_ci95.low > 0.6);
}
