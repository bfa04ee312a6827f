/*
 * Periods of a program that never changes, merged and compared as the daemon does: how often a
 * difference is shown where there is none, and how many intervals of a merge hold the truth. Then
 * periods of programs of thirty methods, whose shares vary from window to window or do not.
 */
#include "tests/unit/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "compare/comparison.h"
#include "profile/combine/merge.h"
#include "profile/combine/window_side.h"
#include "tests/unit/support/random_program.h"

#define DEAD    JXP__KIND__KIND_DEAD_STORE
#define WINDOWS 4u
#define RUNS    300u

/* Kinds and rows have a hundredth together, of what differs by no more than is taken for granted.
 * Two windows a side that differ as these do come to more: 3% with the worst of 20 other seeds. */
#define SHOWN_MOST        (0.01 * RUNS)
#define SHOWN_MOST_DIFFER (0.04 * RUNS)

/* Of 95% intervals, with what so few runs are off by; and of two windows that differ. */
#define HELD_LEAST     0.89
#define HELD_LEAST_TWO 0.83

struct population {
	const char *name;
	double share;             /* of ticks in waste, where windows are alike; */
	double stays;             /* the chance that a tick is in what the one before was in */
	double ticks[2][WINDOWS]; /* that windows of a side use time for, on average */
	unsigned least;           /* windows of a side that have to hold what is claimed */
	bool differ;              /* the share of each window is of Beta(3, 7) */
};

static const struct population populations[] = {
    {"alike", .share = 0.98, .ticks = {{150, 150, 150, 150}, {150, 150, 150, 150}}, .least = 1},
    {"half", .share = 0.5, .ticks = {{150, 150, 150, 150}, {150, 150, 150, 150}}, .least = 1},
    {"few ticks", .share = 0.98, .ticks = {{60, 60, 60, 60}, {2, 3, 2, 3}}, .least = 1},
    {"one tick beside many", .share = 0.98, .ticks = {{60, 60, 60, 60}, {1.5, 20, 1.5, 20}},
     .least = 1},
    {"windows differ", .differ = true, .ticks = {{300, 300, 300, 300}, {300, 300, 300, 300}},
     .least = 2},
    {"phases", .share = 0.5, .stays = 0.9, .ticks = {{300, 300, 300, 300}, {300, 300, 300, 300}},
     .least = 2},
    {"unequal windows", .differ = true, .ticks = {{900, 30, 30, 30}, {300, 100, 300, 100}},
     .least = 2},
};

/* How often what held, by how many windows. */
struct tally {
	unsigned shown, kind_shown, fractions, shares, both;
};

/* One thread uses this time, and ticks come half to one and a half periods apart in it. What pairs
 * stand for is what their ticks do; some had to keep a register with a chance of a quarter. */
static struct window_result *window_of(const struct population *p, unsigned number, double ticks,
				       uint64_t *seed)
{
	struct window_result *w = sample_window_empty(number, "shop");
	struct observation o = {
	    .kind = DEAD, .region = JXP__REGION__REGION_HEAP, .checked_bytes = 8};
	double share = p->differ ? draw_beta(seed, 3, 7) : p->share, period = 5 * NS_PER_MS;
	double used = period * ticks * (0.75 + 0.5 * draw(seed)), at = 0, gap;
	uint64_t *counters = w->counters;

	w->request.kinds[JXP__KIND__KIND_OBJECTS] = w->request.kinds[JXP__KIND__KIND_NUMA] = false;
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	w->overhead_ns = 0;
	w->cpu_ns = (uint64_t)used;
	counters[JXP__COUNTER__COUNTER_TICKS] = counters[JXP__COUNTER__COUNTER_TICK_NS] = 0;
	counters[JXP__COUNTER__COUNTER_THREADS] = 1;
	o.watch_node = o.trap_node = sample_window_node(w, 0, "main", 10);
	while ((at += gap = period * (0.5 + draw(seed))) <= used) {
		unsigned weight = draw(seed) < 0.2 ? 4 : 1;

		if (!(draw(seed) < p->stays) || counters[JXP__COUNTER__COUNTER_TICKS] == 0)
			o.wasteful = draw(seed) < share;
		counters[JXP__COUNTER__COUNTER_TICKS]++;
		counters[JXP__COUNTER__COUNTER_TICK_NS] += (uint64_t)gap;
		assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED,
						 o.watch_node, false, (uint64_t)gap),
				 0);
		if (draw(seed) * weight >= 1)
			continue;
		o.cpu_ns = weight * (uint64_t)gap;
		o.checked_bytes = 8 * weight;
		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	counters[JXP__COUNTER__COUNTER_SAMPLES] = counters[JXP__COUNTER__COUNTER_TICKS];
	return w;
}

static struct window_result *side_of_windows(const struct population *p, unsigned side,
					     unsigned count, uint64_t *seed)
{
	struct window_result *windows[WINDOWS], *w = NULL;
	struct merge m = {0};
	struct err err = {""};

	for (unsigned i = 0; i < count; i++) {
		windows[i] = window_of(p, i + 1, p->ticks[side][i], seed);
		assert_int_equal(merge_add(&m, windows[i]), 0);
	}
	if (merge_finish(&m, &w, &err) < 0)
		fail_msg("%s", err.message);
	for (unsigned i = 0; i < count; i++)
		window_result_free(windows[i]);
	return w;
}

/* What is claimed of a merge. */
static void take(struct tally *t, const struct population *p, const struct window_result *w)
{
	const struct totals *totals = &w->profile.kinds[DEAD].application;
	struct cpu_whole whole = window_result_cpu_whole(w, DEAD);
	struct interval share =
	    cpu_share_estimate(&totals->wasteful_cpu, totals->wasteful_count, &whole).ci95;
	struct interval fraction = window_result_fraction_ci95(w, DEAD);
	double truth = p->differ ? 0.3 : p->share;

	t->fractions += fraction.low <= truth && truth <= fraction.high;
	t->shares += share.low <= truth && truth <= share.high;
	t->both++;
}

static void compare(struct tally *t, struct window_result *const w[2])
{
	struct compare_side sides[2];
	struct comparison c;
	struct err err;

	for (int i = 0; i < 2; i++)
		assert_int_equal(window_side_init(&sides[i], w[i]), 0);
	if (!compare_side_is_empty(&sides[0]) && !compare_side_is_empty(&sides[1]) &&
	    comparison_init(&c, sides, NULL, &err) == 0) {
		t->shown += comparison_is_shown(&c);
		t->kind_shown += c.kinds[DEAD].change.shown;
		comparison_release(&c);
	}
	compare_side_release(&sides[0]);
	compare_side_release(&sides[1]);
}

static struct tally of_windows(const struct population *p, unsigned count, uint64_t seed)
{
	struct tally t = {0};

	for (unsigned run = 0; run < RUNS; run++) {
		struct window_result *w[2] = {side_of_windows(p, 0, count, &seed),
					      side_of_windows(p, 1, count, &seed)};

		for (int i = 0; i < 2; i++)
			take(&t, p, w[i]);
		compare(&t, w);
		window_result_free(w[0]);
		window_result_free(w[1]);
	}
	return t;
}

TEST(nothing_is_shown_of_a_program_that_does_not_change)
{
	for (size_t i = 0; i < sizeof(populations) / sizeof(populations[0]); i++)
		for (unsigned count = 1; count <= WINDOWS; count++) {
			const struct population *p = &populations[i];
			struct tally t = of_windows(p, count, 100 * i + count);

			double most = p->least > 1 ? SHOWN_MOST_DIFFER : SHOWN_MOST;
			double least = p->least > 1 && count == 2 ? HELD_LEAST_TWO : HELD_LEAST;

			print_message(
			    "%s, %u windows a side: shown %.1f%% (kind %.1f%%), %.1f%% of "
			    "fractions and %.1f%% of shares hold the truth\n",
			    p->name, count, 100.0 * t.shown / RUNS, 100.0 * t.kind_shown / RUNS,
			    100.0 * t.fractions / t.both, 100.0 * t.shares / t.both);
			if (count < p->least)
				continue; /* One window cannot tell. */
			assert_true(t.shown <= most);
			assert_true(t.fractions >= least * t.both && t.shares >= least * t.both);
		}
}

/* ---------------------------------------------------------------- methods */

#define METHODS     30u
#define METHOD_RUNS 100u
#define MANY        13u

#define FOUND_WINDOWS 10u

struct program {
	const char *name;
	double varies;   /* relative standard deviation of a share from window to window, */
	unsigned varied; /* of the first so many methods */
	double ticks;    /* of a window on average */
	unsigned shown;  /* so many of METHOD_RUNS comparisons at most, where nothing changed; */
	unsigned found;  /* and at least, where it did, of sides of FOUND_WINDOWS or more */
};

/* Comparisons that show something. */
struct shown {
	unsigned before, after; /* without and with what windows differ by */
	unsigned work;          /* by the work */
};

static double draw_normal(uint64_t *seed)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += draw(seed);
	return sum;
}

/* The first method has the share, the Nth of the others one like 1 / N. */
static struct window_result *window_of_methods(const struct program *p, unsigned number,
					       double first, uint64_t *seed)
{
	struct window_result *w = sample_window_empty(number, "shop");
	double bounds[METHODS + 1] = {0}, rest = 0, period = 5 * NS_PER_MS;
	unsigned ticks = (unsigned)(p->ticks * (0.75 + 0.5 * draw(seed)));
	uint64_t *counters = w->counters;
	uint32_t nodes[METHODS], main = sample_window_node(w, 0, "main", 10);
	char name[16];

	for (unsigned m = 1; m < METHODS; m++)
		rest += 1.0 / (m + 1);
	for (unsigned m = 0; m < METHODS; m++) {
		double share = m == 0 ? first : (1 - first) / rest / (m + 1);

		if (m < p->varied)
			share *= exp(p->varies * draw_normal(seed));
		bounds[m + 1] = bounds[m] + share;
		(void)snprintf(name, sizeof(name), "g%u", m % 4);
		nodes[m] = sample_window_node(w, main, name, 20);
		(void)snprintf(name, sizeof(name), "m%u", m);
		nodes[m] = sample_window_node(w, nodes[m], name, 30);
	}
	for (int kind = 0; kind < KIND_VALUES; kind++)
		w->request.kinds[kind] = kind == JXP__KIND__KIND_CPU;
	w->overhead_ns = 0;
	w->cpu_ns = (uint64_t)(period * ticks);
	counters[JXP__COUNTER__COUNTER_SAMPLES] = counters[JXP__COUNTER__COUNTER_TICKS] = ticks;
	counters[JXP__COUNTER__COUNTER_TICK_NS] = w->cpu_ns;
	counters[JXP__COUNTER__COUNTER_THREADS] = 1;
	for (unsigned i = 0; i < ticks; i++) {
		double at = draw(seed) * bounds[METHODS];
		unsigned m = 0;

		while (m + 1 < METHODS && at >= bounds[m + 1])
			m++;
		assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED,
						 nodes[m], false, (uint64_t)period),
				 0);
	}
	return w;
}

static void side_of_methods(struct compare_side *side, const struct program *p, unsigned count,
			    double first, uint64_t *seed)
{
	struct window_result *windows[MANY], *w = NULL;
	struct merge m = {0};
	struct err err = {""};

	for (unsigned i = 0; i < count; i++) {
		windows[i] = window_of_methods(p, i + 1, first, seed);
		assert_int_equal(merge_add(&m, windows[i]), 0);
	}
	if (merge_finish(&m, &w, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(window_side_init(side, w), 0);
	for (unsigned i = 0; i < count; i++)
		window_result_free(windows[i]);
	window_result_free(w);
}

static bool is_shown(const struct compare_side sides[2], unsigned *work)
{
	struct comparison c;
	struct err err = {""};
	bool shown;

	if (comparison_init(&c, sides, NULL, &err) < 0)
		fail_msg("%s", err.message);
	shown = comparison_is_shown(&c);
	*work += c.work.shown;
	comparison_release(&c);
	return shown;
}

/* The first method has 30% in A and second in B. */
static struct shown compare_methods(const struct program *p, unsigned count, double second,
				    uint64_t seed)
{
	struct shown shown = {0};
	unsigned ignored = 0;

	for (unsigned run = 0; run < METHOD_RUNS; run++) {
		struct compare_side sides[2];

		side_of_methods(&sides[0], p, count, 0.3, &seed);
		side_of_methods(&sides[1], p, count, second, &seed);
		shown.after += is_shown(sides, &shown.work);
		for (int i = 0; i < 2; i++) {
			free(sides[i].excess);
			sides[i].excess = NULL;
		}
		shown.before += is_shown(sides, &ignored);
		compare_side_release(&sides[0]);
		compare_side_release(&sides[1]);
	}
	return shown;
}

static const struct program programs[] = {
    {"constant", 0, 0, 100, .shown = 1, .found = 70},
    {"constant", 0, 0, 1000, .shown = 1, .found = 100},
    {"all vary", 0.2, METHODS, 100, .shown = 2, .found = 25},
    {"all vary", 0.2, METHODS, 1000, .shown = 2, .found = 75},
    {"one varies", 0.2, 1, 100, .shown = 2, .found = 35},
    {"one varies", 0.2, 1, 1000, .shown = 4, .found = 90},
};

static const unsigned counts[] = {2, 3, 5, 10, MANY};

TEST(what_methods_vary_by_from_window_to_window_is_no_difference)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			const struct program *p = &programs[i];
			struct shown same = compare_methods(p, counts[k], 0.3, 100 * i + k + 1);
			struct shown changed = compare_methods(p, counts[k], 0.2, 100 * i + k + 1);

			print_message("%s, %u windows of %.0f ticks a side: of %u comparisons of "
				      "the same %u show something, %u before (work %u); of 30%% "
				      "and 20%% %u, %u before\n",
				      p->name, counts[k], p->ticks, METHOD_RUNS, same.after,
				      same.before, same.work, changed.after, changed.before);
			assert_true(same.after <= p->shown);
			assert_true(counts[k] < FOUND_WINDOWS || changed.after >= p->found);
		}
}
