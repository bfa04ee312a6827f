#include "tests/unit/support/test.h"

#include <math.h>
#include <stdio.h>

#include "profile/cpu_share.h"

#define PERIOD_NS 5e6

static void add(struct cpu_sums *c, double ns)
{
	c->ns += ns;
	c->squares += ns * ns;
}

static struct cpu_whole whole_of(double ticks)
{
	return (struct cpu_whole){.ns = ticks * PERIOD_NS, .ticks = ticks, .design_effect = 1};
}

TEST(equal_weights_give_wilsons_interval_of_a_proportion)
{
	struct cpu_whole whole = whole_of(2000);
	struct cpu_sums part = {0};
	struct interval wilson = estimate_ci95(60, 2000, 2000);
	struct cpu_share s;

	for (int i = 0; i < 60; i++) {
		add(&part, PERIOD_NS);
		add(&whole.cpu, PERIOD_NS);
	}
	s = cpu_share_estimate(&part, 60, &whole);
	assert_true(s.known);
	assert_true(fabs(s.share - 0.03) < 1e-12);
	assert_true(fabs(s.ci95.low - wilson.low) < 1e-12);
	assert_true(fabs(s.ci95.high - wilson.high) < 1e-12);
}

TEST(nothing_wasteful_has_an_upper_limit_by_what_others_weighed)
{
	struct cpu_whole light = whole_of(2000), heavy = whole_of(2000);
	struct cpu_sums none = {0};
	struct cpu_share s, t;

	add(&light.cpu, PERIOD_NS);
	add(&heavy.cpu, 10 * PERIOD_NS);
	s = cpu_share_estimate(&none, 0, &light);
	t = cpu_share_estimate(&none, 0, &heavy);
	assert_true(s.known && s.share == 0 && s.ci95.low == 0);
	assert_true(s.ci95.high > 0.0018 && s.ci95.high < 0.0020);
	assert_true(fabs(t.ci95.high - 10 * s.ci95.high) < 1e-12);
}

TEST(without_any_pair_nothing_is_known_of_the_interval)
{
	struct cpu_whole whole = whole_of(2000);
	struct cpu_sums none = {0};
	struct cpu_share s = cpu_share_estimate(&none, 0, &whole);

	assert_true(s.known && s.share == 0 && s.ci95.low == 0 && s.ci95.high == 1);
}

TEST(without_ticks_there_is_no_share)
{
	struct cpu_whole whole = {.design_effect = 1};
	struct cpu_sums part = {PERIOD_NS, PERIOD_NS * PERIOD_NS};
	struct cpu_share s = cpu_share_estimate(&part, 1, &whole);

	assert_false(s.known);
	assert_true(s.share == 0 && s.ci95.low == 0 && s.ci95.high == 1);
}

TEST(a_share_never_exceeds_one)
{
	struct cpu_whole whole = whole_of(100);
	struct cpu_sums part = {0};
	struct cpu_share s;

	for (int i = 0; i < 40; i++)
		add(&part, 3 * PERIOD_NS); /* Of 100 ticks 33 were expected. */
	whole.cpu = part;
	s = cpu_share_estimate(&part, 40, &whole);
	assert_true(s.share == 1 && s.ci95.high == 1);
	assert_true(s.ci95.low > 0.8 && s.ci95.low < 1);
	/* Nor where its numbers cannot be: an agent that lies. */
	part = (struct cpu_sums){1e18, 1e18};
	s = cpu_share_estimate(&part, 40, &whole);
	assert_true(s.share == 1 && s.ci95.low >= 0 && s.ci95.low <= 1 && s.ci95.high == 1);
}

TEST(a_design_effect_widens_the_interval)
{
	struct cpu_whole whole = whole_of(2000), clustered;
	struct cpu_sums part = {60 * PERIOD_NS, 60 * PERIOD_NS * PERIOD_NS};
	struct cpu_share s, t;

	whole.cpu = part;
	clustered = whole;
	clustered.design_effect = 4;
	s = cpu_share_estimate(&part, 60, &whole);
	t = cpu_share_estimate(&part, 60, &clustered);
	assert_true(t.ci95.low < s.ci95.low && t.ci95.high > s.ci95.high);
	assert_true(fabs((t.ci95.high - t.ci95.low) / (s.ci95.high - s.ci95.low) - 2) < 0.2);
}

/* ---------------------------------------------------------------- simulation */

static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) * 0x1p-53;
}

/* How long pairs wait: with probability part the sample keeps its register with 1 / weight. */
struct waits {
	const char *name;
	double part[4];
	double weight[4];
};

static const struct waits at_once = {"weights of 1", {1}, {1}};
static const struct waits mixed = {"1 to 6", {0.6, 0.3, 0.1}, {1, 2, 6}};
static const struct waits heavy = {"1 to 64", {0.70, 0.22, 0.07, 0.01}, {1, 4, 16, 64}};

static double draw_weight(const struct waits *w, uint64_t *state)
{
	double u = uniform(state);

	for (unsigned i = 0; i < 3; i++) {
		if (u < w->part[i])
			return w->weight[i];
		u -= w->part[i];
	}
	return w->weight[3] > 0 ? w->weight[3] : w->weight[0];
}

struct population {
	double share; /* of CPU time, at wasteful accesses */
	unsigned ticks;
	unsigned kinds; /* one of which is drawn for each tick */
	const struct waits *waits;
	double period_doubles_at; /* part of the ticks after which the budget doubled the period */
};

/* One window: another fifth of its CPU time is at accesses that are not wasteful. */
static struct cpu_share window(const struct population *p, uint64_t *state)
{
	struct cpu_whole whole = {.ticks = p->ticks, .design_effect = 1};
	struct cpu_sums part = {0};
	uint64_t count = 0;

	for (unsigned i = 0; i < p->ticks; i++) {
		double period = i < p->period_doubles_at * p->ticks ? PERIOD_NS : 2 * PERIOD_NS;
		double u = uniform(state), w = p->kinds * draw_weight(p->waits, state);

		whole.ns += period;
		if (u >= fmin(p->share + 0.2, 1) || uniform(state) * w >= 1)
			continue;
		add(&whole.cpu, w * period);
		if (u < p->share) {
			add(&part, w * period);
			count++;
		}
	}
	return cpu_share_estimate(&part, count, &whole);
}

TEST(intervals_hold_the_truth_in_92_to_98_of_100_windows)
{
	static const struct population populations[] = {
	    {0.005, 6000, 1, &at_once, 1}, {0.005, 6000, 3, &at_once, 1},
	    {0.02, 2000, 1, &at_once, 1},  {0.02, 6000, 3, &at_once, 1},
	    {0.1, 2000, 3, &at_once, 1},   {0.3, 2000, 1, &at_once, 1},
	    {0.6, 2000, 1, &at_once, 1},   {0.6, 2000, 3, &at_once, 1},
	    {0.02, 6000, 1, &mixed, 1},    {0.1, 2000, 3, &mixed, 1},
	    {0.3, 2000, 3, &mixed, 1},     {0.6, 2000, 1, &mixed, 1},
	    {0.05, 6000, 3, &heavy, 1},    {0.1, 6000, 1, &heavy, 1},
	    {0.3, 6000, 3, &heavy, 1},     {0.6, 6000, 1, &heavy, 1},
	    {0.1, 2000, 3, &mixed, 0.5},
	};
	uint64_t random = 12;

	for (size_t i = 0; i < sizeof(populations) / sizeof(populations[0]); i++) {
		const struct population *p = &populations[i];
		unsigned held = 0, runs = 1000;
		double mean = 0;

		for (unsigned r = 0; r < runs; r++) {
			struct cpu_share s = window(p, &random);

			held += s.ci95.low <= p->share && p->share <= s.ci95.high;
			mean += s.share / runs;
		}
		print_message("share %g, %u ticks, %u kinds, %s: mean %.4f, %u of %u intervals\n",
			      p->share, p->ticks, p->kinds, p->waits->name, mean, held, runs);
		assert_true(fabs(mean - p->share) < 0.03 * p->share + 0.0003);
		assert_in_range(held, 920, 980);
	}
}
