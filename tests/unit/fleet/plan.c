#include "tests/unit/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "fleet/plan.h"
#include "fleet/schedule.h"

#define SALT  "salt"
#define PAIRS 100

static const char fleet[] = "h1 shop 3\nh1 cart 1\nh2 shop 2\nh3 batch 4\n";

struct fixture {
	struct fleet_hosts hosts;
	struct config_schedule schedule;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.schedule = (struct config_schedule){.name = "all",
					      .every_ns = 600 * NS_PER_S,
					      .window_ns = 60 * NS_PER_S,
					      .budget = 0.01,
					      .jitter = 0.1,
					      .host_fraction = 1,
					      .jvm_fraction = 1,
					      .from_minute = CONFIG_ALWAYS,
					      .until_minute = CONFIG_ALWAYS};
	*state = &f;
	return fleet_hosts_parse(&f.hosts, "hosts", fleet, sizeof(fleet) - 1, NULL);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fleet_hosts_release(&f->hosts);
	return 0;
}

static struct fleet_plan *plan_of(struct fixture *f)
{
	struct fleet_plan *p;

	assert_int_equal(fleet_plan_new(&p, &f->schedule, SALT, &f->hosts, PAIRS, NULL), 0);
	return p;
}

TEST(without_fractions_everybody_is_profiled_in_every_epoch, set_up, tear_down)
{
	struct fleet_plan *p = plan_of(*state);
	struct fleet_epoch e;

	assert_int_equal(fleet_plan_epoch_of(p, 1200 * NS_PER_S), 2);
	for (uint64_t epoch = 2; epoch < 5; epoch++) {
		assert_int_equal(fleet_plan_look(p, epoch, &e, NULL), 0);
		assert_int_equal(e.epoch, epoch);
		assert_true(e.start_unix_ns == epoch * 600 * NS_PER_S);
		assert_int_equal(e.hosts, 3);
		assert_int_equal(e.window_count, 10);
		assert_int_equal(e.jvms_covered, 10);
		assert_int_equal(e.apps_covered, 3);
	}
	fleet_plan_free(p);
}

TEST(windows_begin_where_the_draws_say, set_up, tear_down)
{
	struct fixture *f = *state;
	struct draw d = schedule_draw(&f->schedule, SALT, "h1");
	struct fleet_plan *p = plan_of(f);
	struct fleet_epoch e;

	assert_int_equal(fleet_plan_look(p, 7, &e, NULL), 0);
	assert_string_equal(e.windows[0].host, "h1");
	assert_string_equal(e.windows[0].app, "cart");
	assert_true(e.windows[0].start_unix_ns == draw_start(&d, 7, "cart/0"));
	assert_string_equal(e.windows[3].app, "shop");
	assert_int_equal(e.windows[3].number, 2);
	assert_true(e.windows[3].start_unix_ns == draw_start(&d, 7, "shop/2"));
	fleet_plan_free(p);
}

/* Of all pairs of windows, as slowly as it is simple. */
static size_t most_at_once(const struct fleet_epoch *e, const char *host, uint64_t window_ns)
{
	size_t most = 0;

	for (size_t i = 0; i < e->window_count; i++) {
		size_t running = 0;

		for (size_t j = 0; j < e->window_count; j++)
			running +=
			    (!host || strcmp(e->windows[j].host, host) == 0) &&
			    e->windows[j].start_unix_ns <= e->windows[i].start_unix_ns &&
			    e->windows[i].start_unix_ns - e->windows[j].start_unix_ns < window_ns;
		most = running > most ? running : most;
	}
	return most;
}

TEST(concurrency_is_that_of_the_windows, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_plan *p = plan_of(f);
	struct fleet_epoch e;

	for (uint64_t epoch = 0; epoch < 200; epoch++) {
		size_t most_on_host = 0;

		assert_int_equal(fleet_plan_look(p, epoch, &e, NULL), 0);
		for (size_t i = 0; i < f->hosts.count; i++) {
			size_t most =
			    most_at_once(&e, f->hosts.groups[i].host, f->schedule.window_ns);

			most_on_host = most > most_on_host ? most : most_on_host;
		}
		assert_int_equal(e.most_on_host, most_on_host);
		assert_int_equal(e.most_at_once, most_at_once(&e, NULL, f->schedule.window_ns));
	}
	fleet_plan_free(p);
}

TEST(windows_as_long_as_the_epoch_all_run_at_once, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_plan *p;
	struct fleet_epoch e;

	f->schedule.window_ns = f->schedule.every_ns;
	p = plan_of(f);
	assert_int_equal(fleet_plan_look(p, 0, &e, NULL), 0);
	assert_int_equal(e.most_on_host, 4);
	assert_int_equal(e.most_at_once, 10);
	fleet_plan_free(p);
}

TEST(coverage_grows_with_the_epochs_and_forgets_nobody, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_plan *p;
	struct fleet_epoch e;
	double windows = 0;
	uint64_t covered = 0;

	f->schedule.host_fraction = 0.5;
	f->schedule.jvm_fraction = 0.2;
	p = plan_of(f);
	for (uint64_t epoch = 0; epoch < 2000; epoch++) {
		assert_int_equal(fleet_plan_look(p, epoch, &e, NULL), 0);
		assert_true(e.jvms_covered >= covered);
		assert_true(e.jvms_covered <= covered + e.window_count);
		assert_true(e.hosts <= 3);
		covered = e.jvms_covered;
		windows += (double)e.window_count;
	}
	assert_int_equal(covered, 10);
	assert_int_equal(e.apps_covered, 3);
	/* One of ten JVMs' ten in an epoch, within some five standard errors. */
	assert_true(fabs(windows / 2000 - 1) < 0.2);
	fleet_plan_free(p);
}

TEST(only_applications_that_match_are_profiled, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_outlook o;
	struct fleet_plan *p;
	struct fleet_epoch e;

	f->schedule.match = (struct config_match){.app = (char *)"*a*", .user = (char *)"web"};
	p = plan_of(f);
	fleet_plan_outlook(p, &o);
	assert_int_equal(o.jvms, 5); /* cart and batch */
	assert_int_equal(o.apps, 2);
	assert_true(o.by_more);
	assert_int_equal(fleet_plan_look(p, 0, &e, NULL), 0);
	assert_int_equal(e.window_count, 5);
	assert_int_equal(e.apps_covered, 2);
	assert_int_equal(e.hosts, 2);
	fleet_plan_free(p);
	f->schedule.match = (struct config_match){0};
}

TEST(the_cost_is_the_budget_while_windows_run, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_outlook o;
	struct fleet_plan *p;

	f->schedule.host_fraction = 0.5;
	f->schedule.jvm_fraction = 0.2;
	p = plan_of(f);
	fleet_plan_outlook(p, &o);
	assert_true(fabs(o.cost - 0.01 * 0.1 * 0.1) < 1e-12);
	assert_true(fabs(o.windows - 1) < 1e-12);
	assert_false(o.by_more);
	fleet_plan_free(p);
	f->schedule.from_minute = 22 * 60;
	f->schedule.until_minute = 4 * 60;
	p = plan_of(f);
	fleet_plan_outlook(p, &o);
	assert_true(fabs(o.cost - 0.01 * 0.1 * 0.1 / 4) < 1e-12);
	fleet_plan_free(p);
}

TEST(outside_its_hours_a_schedule_does_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	struct fleet_plan *p;
	struct fleet_epoch e;
	size_t windows = 0;

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	tzset();
	f->schedule.from_minute = 60;
	f->schedule.until_minute = 120;
	p = plan_of(f);
	for (uint64_t epoch = 0; epoch < 144; epoch++) { /* the first of January 1970 */
		assert_int_equal(fleet_plan_look(p, epoch, &e, NULL), 0);
		for (size_t i = 0; i < e.window_count; i++) {
			assert_true(e.windows[i].start_unix_ns >= 3600 * NS_PER_S);
			assert_true(e.windows[i].start_unix_ns < 7200 * NS_PER_S);
		}
		windows += e.window_count;
	}
	assert_int_equal(windows, 60);
	fleet_plan_free(p);
}

/* 4 JVMs of "batch" bring 57,600 pairs a day, and one of "cart" 14,400. */
TEST(a_target_is_met_after_some_days_where_it_can_be, set_up, tear_down)
{
	const uint64_t first = UINT64_C(20000) * 144 + 6; /* The beginning of a day, at 01:00. */
	struct fixture *f = *state;
	struct fleet_target targets[3];
	struct fleet_outlook o;
	struct fleet_plan *p;
	struct fleet_epoch e;
	size_t windows[2] = {0};

	f->schedule.pairs_per_day = 20000;
	p = plan_of(f);
	assert_int_equal(fleet_plan_targets(p, targets), 3);
	assert_string_equal(targets[0].app, "batch");
	assert_true(fabs(targets[0].windows - 200) < 1e-9);
	assert_true(fabs(targets[0].probability - 20000 / 57600.0) < 1e-9);
	assert_string_equal(targets[1].app, "cart");
	assert_true(targets[1].hosts == 1 && targets[1].jvms == 1);
	assert_true(fabs(targets[1].windows - 144) < 1e-9);
	assert_true(fabs(targets[1].pairs - 14400) < 1e-9);
	assert_true(targets[1].probability == 1);
	assert_true(targets[2].hosts == 2 && targets[2].jvms == 5);
	assert_true(fabs(targets[2].pairs - 40000) < 1e-9); /* On each of two hosts. */
	fleet_plan_outlook(p, &o);
	assert_true(fabs(o.windows * 144 - 200 - 144 - 400) < 1e-6);
	for (uint64_t epoch = first; epoch < first + UINT64_C(9) * 144; epoch++) {
		assert_int_equal(fleet_plan_look(p, epoch, &e, NULL), 0);
		if (epoch == first)
			assert_true(fabs(e.probability - 0.1) < 1e-9);
		for (size_t i = 0; i < e.window_count && epoch >= first + UINT64_C(4) * 144; i++) {
			windows[0] += strcmp(e.windows[i].app, "batch") == 0;
			windows[1] += strcmp(e.windows[i].app, "cart") == 0;
		}
	}
	/* Of five days. */
	assert_in_range(windows[0], 900, 1100);
	assert_int_equal(windows[1], 5 * 144);
	fleet_plan_free(p);
	f->schedule.pairs_per_day = 0;
}
