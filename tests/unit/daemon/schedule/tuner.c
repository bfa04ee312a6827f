#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/schedule/planner.h"
#include "daemon/schedule/tuner.h"
#include "daemon/store/database.h"
#include "daemon/store/record.h"
#include "tests/unit/support/config_text.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/tree_fixture.h"

#define DAY 20000 /* some day */
#define NOW (DAY * EVIDENCE_DAY_NS + 12 * 3600 * NS_PER_S)

static const char yaml[] = "schedules:\n"
			   "- {name: often, match: {}, every: 1m, window: 10s}\n"
			   "- {name: enough, match: {}, pairs-per-day: 1000, host-fraction: 0.5}\n";

static struct fixture {
	uv_loop_t loop;
	struct config config;
	struct planner *planner;
	struct tuner *tuner;
	struct database *db;
	char path[128];
	unsigned changes;
	uint64_t ahead_ns; /* of the real clock, is CLOCK_MONOTONIC */
	struct err err;
} f;

/* In the C library's place. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	int r = (int)syscall(SYS_clock_gettime, clock, out);

	if (r == 0 && clock == CLOCK_MONOTONIC)
		out->tv_sec += (time_t)(f.ahead_ns / NS_PER_S);
	return r;
}

static void on_changed(void *arg)
{
	(void)arg;
	f.changes++;
}

static void find_jvm(void)
{
	planner_begin_round(f.planner);
	planner_found(f.planner,
		      &(struct planner_jvm){.pid = 1, .start_ticks = 1, .facts = {.app = "shop"}});
	planner_end_round(f.planner);
}

static int set_up(void **state)
{
	(void)state;
	f = (struct fixture){0};
	(void)tree_make();
	(void)snprintf(f.path, sizeof(f.path), "%s", tree_path("windows.db"));
	assert_int_equal(database_open(f.path, DATABASE_WRITE, &f.db, &f.err), 0);
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(config_parse(&f.config, "test", yaml, sizeof(yaml) - 1, &f.err), 0);
	f.planner = planner_new(&f.config, "host");
	f.tuner = tuner_new(&f.loop, f.planner, &f.config, on_changed, NULL);
	assert_non_null(f.tuner);
	find_jvm();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tuner_free(f.tuner);
	planner_free(f.planner);
	config_release(&f.config);
	loop_finish(&f.loop);
	database_close(f.db);
	tree_remove();
	return 0;
}

static void put(unsigned number, uint64_t start_unix_ns, double weight_s, uint64_t pairs)
{
	struct window_result *w = sample_window(number, "shop", 30);
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;

	strcpy(w->request.schedule.name, "enough");
	w->request.schedule.weight_s = weight_s;
	w->start_unix_ns = start_unix_ns;
	memset(w->counters, 0, sizeof(w->counters));
	w->counters[JXP__COUNTER__COUNTER_TRAPS] = pairs;
	assert_int_equal(record_encode(w, &record, &size), 0);
	assert_int_equal(database_put(f.db, w, record, size, &f.err), 0);
	window_result_free(w);
}

/* Asks, and waits for the answer. */
static void look(uint64_t unix_ns)
{
	tuner_look(f.tuner, unix_ns);
	(void)uv_run(&f.loop, UV_RUN_DEFAULT); /* Until nothing is on the pool. */
}

static void assert_probability(double expected)
{
	double found = planner_probability(f.planner, 1);

	if (fabs(found - expected) > 1e-9)
		fail_msg("%.9g, not %.9g", found, expected);
}

TEST(probabilities_follow_from_what_is_kept, set_up, tear_down)
{
	/* Each stands for 600 s / (0.5 * 0.2). */
	put(1, (DAY - 1) * EVIDENCE_DAY_NS, 6000, 500);
	put(2, (DAY - 1) * EVIDENCE_DAY_NS + 1, 6000, 300);
	put(3, DAY * EVIDENCE_DAY_NS, 6000, 1000000); /* Of the day that is not over. */
	tuner_set_store(f.tuner, f.path);
	look(NOW);
	assert_int_equal(f.changes, 1);
	/* 800 pairs of 10 such windows each are 8000; of 1000 wanted, in half of the epochs. */
	assert_probability(1000 / 0.5 / 8000);
	assert_true(planner_probability(f.planner, 0) == 0); /* It has no target. */
	/* Once a day. */
	look(NOW + 3600 * NS_PER_S);
	assert_int_equal(f.changes, 1);
	look(NOW + EVIDENCE_DAY_NS);
	assert_int_equal(f.changes, 2);
	assert_probability(0.05); /* A quarter of that day's last, 0.2. */
}

TEST(after_a_reload_it_asks_again, set_up, tear_down)
{
	put(1, (DAY - 1) * EVIDENCE_DAY_NS, 6000, 800);
	tuner_set_store(f.tuner, f.path);
	tuner_look(f.tuner, NOW); /* This answer comes too late. */
	assert_int_equal(planner_configure(f.planner, &f.config, "host"), 0);
	tuner_configure(f.tuner, &f.config);
	find_jvm();
	assert_probability(0);
	look(NOW);
	assert_int_equal(f.changes, 1);
	assert_probability(0.25);
}

TEST(without_a_store_it_is_the_first, set_up, tear_down)
{
	look(NOW);
	assert_probability(EVIDENCE_FIRST);
	assert_true(planner_lacks_evidence(f.planner));
	look(NOW + EVIDENCE_DAY_NS);
	assert_probability(EVIDENCE_FIRST);
}

TEST(a_store_that_cannot_be_read_changes_nothing, set_up, tear_down)
{
	put(1, (DAY - 1) * EVIDENCE_DAY_NS, 6000, 800);
	tuner_set_store(f.tuner, f.path);
	look(NOW);
	assert_probability(0.25);
	tuner_set_store(f.tuner, tree_path("nothing.db"));
	look(NOW + EVIDENCE_DAY_NS);
	assert_int_equal(f.changes, 2);
	assert_true(planner_lacks_evidence(f.planner));
	assert_probability(0.25);
	/* It is asked again, and not at once. */
	tuner_set_store(f.tuner, f.path);
	look(NOW + EVIDENCE_DAY_NS);
	assert_int_equal(f.changes, 2);
}

TEST(a_store_that_cannot_be_read_is_asked_again_while_there_is_a_target, set_up, tear_down)
{
	static struct config none;

	tuner_set_store(f.tuner, tree_path("nothing.db"));
	look(NOW);
	assert_int_equal(f.changes, 1);
	f.ahead_ns += TUNER_RETRY_NS;
	look(NOW);
	assert_int_equal(f.changes, 2);
	config_defaults(&none);
	assert_int_equal(planner_configure(f.planner, &none, "host"), 0);
	tuner_configure(f.tuner, &none);
	f.ahead_ns += TUNER_RETRY_NS;
	look(NOW);
	assert_int_equal(f.changes, 2);
}

TEST(nothing_is_asked_without_a_target, set_up, tear_down)
{
	static struct config none;

	config_defaults(&none);
	assert_int_equal(planner_configure(f.planner, &none, "host"), 0);
	tuner_configure(f.tuner, &none);
	tuner_set_store(f.tuner, f.path);
	look(NOW);
	assert_int_equal(f.changes, 0);
}
