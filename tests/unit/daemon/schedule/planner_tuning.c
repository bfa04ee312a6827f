#include "tests/unit/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/schedule/planner.h"
#include "tests/unit/support/config_text.h"

#define DAY    20000 /* some day */
#define EVERY  (600 * NS_PER_S)
#define WINDOW (30 * NS_PER_S)
#define JVMS   40
#define PAIRS  50 /* of a window of "shop"; of "cart" ten times as many */

static const char yaml[] = "host-budget: 100%\nwindows-at-once: 64\n"
			   "schedules: [{name: enough, match: {}, pairs-per-day: 60000}]\n";

/* A host whose time the tests move, and what its store would say of it. JVMs with odd pids are of
 * "shop", the others of "cart". */
static struct host {
	struct config config;
	struct planner *planner;
	uint64_t now_ns;
	uint64_t end_ns[JVMS + 1]; /* 0: no window */
	struct day_evidence
	    days[2]; /* of each application: of the latest day of UTC with windows, */
	struct day_evidence before[2]; /* and of the one before that */
	double came[2];                /* pairs since it was set to 0 */
} h;

static const char *const apps[] = {"cart", "shop"};

static void round_of_all(void)
{
	planner_begin_round(h.planner);
	for (unsigned i = 1; i <= JVMS; i++)
		planner_found(h.planner, &(struct planner_jvm){.pid = (pid_t)i,
							       .start_ticks = 1000 + i,
							       .age_ns = 3600 * NS_PER_S,
							       .cpu_share = 0.001,
							       .facts = {.app = apps[i % 2]}});
	planner_end_round(h.planner);
}

static int set_up(void **state)
{
	struct err err;

	(void)state;
	h = (struct host){.now_ns = DAY * EVIDENCE_DAY_NS + EVIDENCE_LATER_NS};
	assert_int_equal(config_parse(&h.config, "test", yaml, sizeof(yaml) - 1, &err), 0);
	h.planner = planner_new(&h.config, "host");
	assert_non_null(h.planner);
	round_of_all();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	planner_free(h.planner);
	config_release(&h.config);
	return 0;
}

static bool is_profiled(void *arg, pid_t pid)
{
	(void)arg;
	return h.end_ns[pid] > 0;
}

static void note(unsigned app, double weight_s)
{
	double pairs = app ? PAIRS : 10 * PAIRS;
	uint64_t day = h.now_ns / EVIDENCE_DAY_NS;
	struct day_evidence *e = &h.days[app];

	if (e->day != day) {
		h.before[app] = *e;
		*e = (struct day_evidence){.day = day};
	}
	e->pairs += pairs * weight_s / 600;
	e->probability = 600 / weight_s;
	h.came[app] += pairs;
}

static void begin_windows(void)
{
	struct planner_order o;

	while (planner_next(h.planner, h.now_ns, 0, is_profiled, NULL, &o)) {
		assert_true(o.weight_s >= 600);
		h.end_ns[o.pid] = h.now_ns + WINDOW;
		planner_began(h.planner, &o, "w1");
		note((unsigned)o.pid % 2, o.weight_s);
	}
}

static void end_windows(void)
{
	for (unsigned i = 1; i <= JVMS; i++)
		if (h.end_ns[i] && h.end_ns[i] <= h.now_ns) {
			h.end_ns[i] = 0;
			planner_ended(
			    h.planner, (pid_t)i, "enough",
			    &(struct planner_end){.outcome = OUTCOME_RAN, .unix_ns = h.now_ns});
		}
}

/* As the store would answer: to be freed by the planner. */
static void tell_evidence(void)
{
	struct planner_evidence *rows = calloc(2, sizeof(*rows));
	uint64_t day = evidence_day(h.now_ns);
	size_t count = 0;

	assert_non_null(rows);
	for (unsigned app = 0; app < 2; app++) {
		const struct day_evidence *e =
		    h.days[app].day < day ? &h.days[app] : &h.before[app];

		if (e->pairs <= 0)
			continue;
		strcpy(rows[count].schedule, "enough");
		strcpy(rows[count].app, apps[app]);
		rows[count++].evidence = *e;
	}
	planner_take_evidence(h.planner, day, rows, count);
}

static void run_until(uint64_t end_ns)
{
	for (; h.now_ns < end_ns; h.now_ns += 5 * NS_PER_S) {
		end_windows();
		if (planner_wants_evidence(h.planner, h.now_ns))
			tell_evidence();
		begin_windows();
		planner_pass_time(h.planner, 5 * NS_PER_S);
	}
}

static double probability_of(unsigned pid)
{
	struct planner_view view;
	unsigned draws = 1000000;

	assert_true(planner_look_ahead(h.planner, h.now_ns, &draws));
	assert_true(planner_view(h.planner, (pid_t)pid, h.now_ns, &view));
	return view.probability;
}

/* ---------------------------------------------------------------- tests */

TEST(nothing_is_drawn_before_probabilities_are_known, set_up, tear_down)
{
	for (; h.now_ns < DAY * EVIDENCE_DAY_NS + 6 * 3600 * NS_PER_S; h.now_ns += 60 * NS_PER_S)
		begin_windows();
	assert_true(h.came[0] + h.came[1] == 0);
	assert_true(planner_wants_evidence(h.planner, h.now_ns));
	assert_true(planner_probability(h.planner, 0) == 0);
	planner_take_evidence(h.planner, evidence_day(h.now_ns), NULL, 0);
	assert_false(planner_wants_evidence(h.planner, h.now_ns));
	assert_true(fabs(planner_probability(h.planner, 0) - EVIDENCE_FIRST) < 1e-9);
	run_until(h.now_ns + 6 * 3600 * NS_PER_S);
	assert_true(h.came[0] > 0 && h.came[1] > 0);
}

/* 20 JVMs in 144 epochs bring 144,000 pairs of "shop", and 1,440,000 of "cart". */
TEST(each_application_brings_what_is_wanted_after_some_days, set_up, tear_down)
{
	run_until((DAY + 4) * EVIDENCE_DAY_NS);
	h.came[0] = h.came[1] = 0;
	run_until((DAY + 9) * EVIDENCE_DAY_NS);
	assert_true(fabs(h.came[1] / 5 / 60000 - 1) < 0.1);
	assert_true(fabs(h.came[0] / 5 / 60000 - 1) < 0.25); /* Of some 120 windows a day. */
	h.now_ns += EVERY;
	assert_true(fabs(probability_of(1) - 60000 / 144000.0) < 0.06);
	assert_true(fabs(probability_of(2) - 60000 / 1440000.0) < 0.02);
}

TEST(what_stands_in_the_past_gives_the_same_after_a_restart, set_up, tear_down)
{
	double before[2], pairs;

	run_until((DAY + 3) * EVIDENCE_DAY_NS + 12 * 3600 * NS_PER_S);
	before[0] = probability_of(1);
	before[1] = probability_of(2);
	pairs = h.came[0];
	planner_free(h.planner);
	h.planner = planner_new(&h.config, "host");
	assert_non_null(h.planner);
	round_of_all();
	memset(h.end_ns, 0, sizeof(h.end_ns));
	tell_evidence();
	assert_true(probability_of(1) == before[0]);
	assert_true(probability_of(2) == before[1]);
	/* And after a reload. */
	assert_int_equal(planner_configure(h.planner, &h.config, "host"), 0);
	assert_true(planner_wants_evidence(h.planner, h.now_ns));
	round_of_all();
	tell_evidence();
	assert_true(probability_of(1) == before[0]);
	run_until((DAY + 4) * EVIDENCE_DAY_NS);
	assert_true(h.came[0] > pairs);
}

TEST(a_window_stands_for_what_was_drawn_whatever_is_known_since, set_up, tear_down)
{
	struct planner_order o;
	double tenth = 600 / EVIDENCE_FIRST;
	uint64_t began_ns;

	h.now_ns = (DAY + 1) * EVIDENCE_DAY_NS + EVIDENCE_LATER_NS - EVERY; /* The day's last. */
	planner_take_evidence(h.planner, DAY, NULL, 0);
	while (!planner_next(h.planner, h.now_ns, 0, is_profiled, NULL, &o))
		h.now_ns += NS_PER_S;
	assert_true(fabs(o.weight_s - tenth) < 1e-6);
	h.days[o.pid % 2] = (struct day_evidence){DAY, 60000 / 0.4, EVIDENCE_FIRST};
	/* It waits for something, and the next day's probabilities come. */
	began_ns = h.now_ns;
	h.now_ns = (DAY + 1) * EVIDENCE_DAY_NS + EVIDENCE_LATER_NS;
	tell_evidence();
	assert_true(fabs(probability_of((unsigned)o.pid) - 0.4) < 1e-9);
	h.now_ns = began_ns;
	assert_true(planner_next(h.planner, h.now_ns, 0, is_profiled, NULL, &o));
	assert_true(fabs(o.weight_s - tenth) < 1e-6);
}

TEST(where_nothing_can_be_read_they_stay_as_they_are, set_up, tear_down)
{
	uint64_t day = evidence_day(h.now_ns);
	double before;

	assert_false(planner_lacks_evidence(h.planner));
	planner_lack_evidence(h.planner, day); /* The first. */
	assert_true(planner_lacks_evidence(h.planner));
	assert_true(fabs(planner_probability(h.planner, 0) - EVIDENCE_FIRST) < 1e-9);
	run_until((DAY + 2) * EVIDENCE_DAY_NS);
	assert_false(planner_lacks_evidence(h.planner));
	before = planner_probability(h.planner, 0);
	planner_lack_evidence(h.planner, DAY + 2);
	assert_true(planner_probability(h.planner, 0) == before);
	h.now_ns = (DAY + 2) * EVIDENCE_DAY_NS + EVIDENCE_LATER_NS;
	assert_false(planner_wants_evidence(h.planner, h.now_ns));
	h.came[1] = 0;
	run_until((DAY + 3) * EVIDENCE_DAY_NS);
	assert_true(h.came[1] > 0);
}
