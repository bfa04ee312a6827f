#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/http/metrics.h"
#include "daemon/http/metrics_sums.h"
#include "proto/kinds.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/sample_findings.h"

static struct window_result *running_window(const char *app)
{
	struct window_request request = {.kinds = {false, true, true, true}};
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	(void)snprintf(w->app, sizeof(w->app), "%s", app);
	window_result_start(w);
	return w;
}

static void observe(struct window_result *w, uint32_t bytes, bool wasteful)
{
	struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE,
				.region = JXP__REGION__REGION_HEAP,
				.checked_bytes = bytes,
				.wasteful = wasteful};

	assert_int_equal(profile_add(&w->profile, &o), 0);
}

static char *exposition_at(const struct metrics *m, double now_s, bool openmetrics)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	metrics_write(out, m, now_s, openmetrics);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* While the last window is of now. */
static char *exposition(const struct metrics *m, bool openmetrics)
{
	return exposition_at(m, 0, openmetrics);
}

/* The text holds line as a whole line. */
static void assert_line(const struct metrics *m, const char *line)
{
	char *text = exposition(m, false), *at = strstr(text, line);

	if (!at || (at != text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in:\n%s", line, text);
	free(text);
}

static void assert_absent(const struct metrics *m, const char *words)
{
	char *text = exposition(m, false);

	assert_null(strstr(text, words));
	free(text);
}

TEST(a_running_window_is_added_once_however_often_it_is_accounted)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");

	observe(w, 8, true);
	metrics_account(m, w, &cursor);
	metrics_account(m, w, &cursor);
	observe(w, 4, false);
	metrics_window_ended(m, w, &cursor);
	assert_line(m, "jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 12");
	assert_line(m, "jxperf_inefficient_bytes_total{app=\"Shop\",kind=\"dead_store\"} 8");
	assert_line(m, "jxperf_checked_accesses_total{app=\"Shop\",kind=\"dead_store\"} 2");
	assert_line(m, "jxperf_inefficient_accesses_total{app=\"Shop\",kind=\"dead_store\"} 1");
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 1");
	window_result_free(w);
	metrics_free(m);
}

TEST(an_application_that_is_known_has_zeros_of_all_kinds)
{
	struct metrics *m = metrics_new();
	struct window_result *w = running_window("Shop");

	assert_absent(m, "Shop");
	(void)metrics_window_started(m, w);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		char line[128];

		(void)snprintf(line, sizeof(line),
			       "jxperf_inefficient_bytes_total{app=\"Shop\",kind=\"%s\"} 0",
			       pair_kinds[i].name);
		assert_line(m, line);
	}
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 0");
	assert_line(m, "jxperf_numa_remote_accesses_total{app=\"Shop\"} 0");
	window_result_free(w);
	metrics_free(m);
}

static void start_after(struct metrics *m, struct window_result *w, double seconds)
{
	w->asked_ns = 0;
	w->start_unix_ns = UINT64_C(1795247999000000000);
	w->start_ns = (uint64_t)(seconds * 1e9);
	(void)metrics_window_started(m, w);
}

TEST(attach_times_are_in_the_buckets_above_them)
{
	struct metrics *m = metrics_new();
	struct window_result *w = running_window("Shop");

	start_after(m, w, 0.25);
	start_after(m, w, 0.3);
	start_after(m, w, 31);
	assert_line(m, "jxperf_attach_duration_seconds_bucket{le=\"0.1\"} 0");
	assert_line(m, "jxperf_attach_duration_seconds_bucket{le=\"0.25\"} 1");
	assert_line(m, "jxperf_attach_duration_seconds_bucket{le=\"0.5\"} 2");
	assert_line(m, "jxperf_attach_duration_seconds_bucket{le=\"30.0\"} 2");
	assert_line(m, "jxperf_attach_duration_seconds_bucket{le=\"+Inf\"} 3");
	assert_line(m, "jxperf_attach_duration_seconds_sum 31.55");
	assert_line(m, "jxperf_attach_duration_seconds_count 3");
	window_result_free(w);
	metrics_free(m);
}

static void assert_openmetrics_line(const struct metrics *m, const char *line)
{
	char *text = exposition(m, true), *at = strstr(text, line);

	if (!at || at[-1] != '\n' || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in:\n%s", line, text);
	free(text);
}

TEST(a_counter_names_the_window_that_brought_the_last_of_it)
{
	struct metrics *m = metrics_new();
	struct window_result *wasteful = running_window("Shop"), *good = running_window("Shop");
	struct metrics_cursor first = {0}, second = {0};

	wasteful->number = 7;
	good->number = 8;
	observe(wasteful, 8, true);
	observe(good, 4, false);
	window_result_end(wasteful, NULL);
	window_result_end(good, NULL);
	wasteful->end_unix_ns = good->end_unix_ns = UINT64_C(1795248000500000000);
	metrics_window_ended(m, wasteful, &first);
	assert_openmetrics_line(
	    m, "jxperf_inefficient_bytes_total{app=\"Shop\",kind=\"dead_store\"} 8 "
	       "# {window_id=\"w7\"} 8 1795248000.500");
	metrics_window_ended(m, good, &second);
	assert_openmetrics_line(m,
				"jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 12 "
				"# {window_id=\"w8\"} 4 1795248000.500");
	assert_openmetrics_line(
	    m, "jxperf_inefficient_bytes_total{app=\"Shop\",kind=\"dead_store\"} 8");
	assert_openmetrics_line(m, "jxperf_windows_total{app=\"Shop\"} 2 "
				   "# {window_id=\"w8\"} 1 1795248000.500");
	assert_absent(m, "window_id"); /* The other form has none. */
	window_result_free(wasteful);
	window_result_free(good);
	metrics_free(m);
}

TEST(windows_of_one_application_add_up_and_the_last_sets_the_ratio)
{
	struct metrics *m = metrics_new();

	for (int i = 0; i < 2; i++) {
		struct metrics_cursor cursor = {0};
		struct window_result *w = running_window("Shop");

		observe(w, 8, i == 0);
		observe(w, 8, true);
		window_result_end(w, NULL);
		w->end_unix_ns = UINT64_C(1795248000500000000);
		metrics_window_ended(m, w, &cursor);
		window_result_free(w);
	}
	assert_line(m, "jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 32");
	assert_line(m, "jxperf_window_inefficiency_ratio{app=\"Shop\",kind=\"dead_store\"} 0.5");
	assert_line(m, "jxperf_window_end_timestamp_seconds{app=\"Shop\"} 1795248000.500");
	assert_absent(m, "jxperf_window_inefficiency_ratio{app=\"Shop\",kind=\"silent_load\"}");
	assert_absent(m, "jxperf_overhead_ratio{"); /* no CPU time was reported */
	metrics_free(m);
}

static void observe_for(struct window_result *w, Jxp__Kind kind, uint64_t cpu_ns, bool wasteful)
{
	struct observation o = {.kind = kind,
				.region = JXP__REGION__REGION_HEAP,
				.checked_bytes = 8,
				.wasteful = wasteful,
				.cpu_ns = cpu_ns};

	assert_int_equal(profile_add(&w->profile, &o), 0);
}

TEST(each_kind_has_a_last_window_of_its_own_and_gauges_go_with_their_age)
{
	static const struct {
		double after_s;
		bool load, store, overhead;
	} rows[] = {{1, true, true, true},
		    {METRICS_LAST_S - 59, true, false, true},
		    {METRICS_LAST_S + 1, false, false, false}};
	const double end_s = 1795248060;
	struct metrics *m = metrics_new();

	for (unsigned i = 0; i < 2; i++) {
		struct metrics_cursor cursor = {0};
		struct window_result *w = running_window("Shop");

		observe_for(w, i == 0 ? JXP__KIND__KIND_DEAD_STORE : JXP__KIND__KIND_SILENT_LOAD, 0,
			    true);
		w->cpu_ns = 1000;
		window_result_end(w, NULL);
		w->end_unix_ns = UINT64_C(1795248000000000000) + i * 60 * NS_PER_S;
		metrics_window_ended(m, w, &cursor);
		window_result_free(w);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = exposition_at(m, end_s + rows[i].after_s, false);

		assert_int_equal(!!strstr(text, "_inefficiency_ratio{app=\"Shop\",kind=\"dead"),
				 rows[i].store);
		assert_int_equal(!!strstr(text, "_inefficiency_ratio{app=\"Shop\",kind=\"silent_l"),
				 rows[i].load);
		assert_int_equal(!!strstr(text, "jxperf_overhead_ratio{app="), rows[i].overhead);
		assert_non_null(strstr(text, "jxperf_window_end_timestamp_seconds{app="));
		free(text);
	}
	metrics_free(m);
}

/* 10 ms of CPU time are 1 % of the window's 1 s, of which 0.1 s were ours. */
TEST(costs_and_waste_are_counters_of_cpu_seconds)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");

	for (int i = 0; i < 100; i++)
		observe_for(w, JXP__KIND__KIND_DEAD_STORE, NS_PER_S / 1000, i < 50);
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 1000;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = NS_PER_S;
	w->counters[JXP__COUNTER__COUNTER_HANDLER_NS] = NS_PER_S / 10;
	w->cpu_ns = NS_PER_S;
	w->setup_ns = NS_PER_S / 50;
	w->overhead_ns = NS_PER_S / 20;
	metrics_account(m, w, &cursor);
	w->overhead_ns = NS_PER_S / 10;
	window_result_end(w, NULL);
	metrics_window_ended(m, w, &cursor);
	assert_line(m, "jxperf_target_cpu_seconds_total{app=\"Shop\"} 1");
	assert_line(m, "jxperf_overhead_cpu_seconds_total{app=\"Shop\"} 0.1");
	assert_line(m, "jxperf_setup_cpu_seconds_total{app=\"Shop\"} 0.02");
	assert_line(m, "jxperf_checked_bytes_squares_total{app=\"Shop\",kind=\"dead_store\"} 6400");
	assert_line(m, "jxperf_wasted_cpu_seconds_total{app=\"Shop\",kind=\"dead_store\"} 0.045");
	assert_line(m, "jxperf_wasted_cpu_seconds_total{app=\"Shop\",kind=\"silent_load\"} 0");
	window_result_free(w);
	metrics_free(m);
}

TEST(windows_that_end_early_are_counted_among_the_others)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor first = {0}, second = {0};
	struct window_result *planned = running_window("Shop"), *early = running_window("Shop");

	window_result_end(planned, NULL);
	window_result_end(early, "the target was killed");
	metrics_window_ended(m, planned, &first);
	early->took_too_much = true;
	metrics_window_ended(m, early, &second);
	assert_line(m, "jxperf_windows_too_large_total{app=\"Shop\"} 1");
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 2");
	assert_line(m, "jxperf_windows_ended_early_total{app=\"Shop\"} 1");
	window_result_free(planned);
	window_result_free(early);
	metrics_free(m);
}

TEST(the_virtual_machines_own_bytes_are_not_the_applications)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");
	struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE,
				.region = JXP__REGION__REGION_JVM,
				.checked_bytes = 8,
				.wasteful = true};

	assert_int_equal(profile_add(&w->profile, &o), 0);
	metrics_account(m, w, &cursor);
	assert_line(m, "jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 0");
	window_result_free(w);
	metrics_free(m);
}

TEST(applications_beyond_the_limit_share_other_and_are_counted)
{
	struct metrics *m = metrics_new();
	char app[16];

	for (int i = 0; i < METRICS_APPS_MAX + 3; i++) {
		struct metrics_cursor cursor = {0};
		struct window_result *w;

		(void)snprintf(app, sizeof(app), "App%d", i);
		w = running_window(app);
		observe(w, 1, true);
		window_result_end(w, NULL);
		metrics_window_ended(m, w, &cursor);
		window_result_free(w);
	}
	assert_line(m, "jxperf_windows_total{app=\"App63\"} 1");
	assert_absent(m, "App64");
	assert_line(m, "jxperf_windows_total{app=\"other\"} 3");
	assert_line(m, "jxperf_apps_over_limit_total 3");
	metrics_free(m);
}

TEST(an_application_of_long_ago_makes_room_when_there_is_none)
{
	struct metrics *m = metrics_new();
	const double later_s = 1795248000;
	struct window_result *w;

	for (int i = 0; i < METRICS_APPS_MAX; i++) {
		char app[16];

		(void)snprintf(app, sizeof(app), "App%d", i);
		metrics_find_app(m, app)->seen_s = later_s - METRICS_FORGET_S + i - 1;
		metrics_find_app(m, app)->counts.windows = 5;
	}
	for (int i = 0; i < 2; i++) {
		w = running_window(i == 0 ? "New" : "Newer");
		w->start_unix_ns = w->end_unix_ns = (uint64_t)later_s * 1000000000;
		w->owner = 0;
		(void)metrics_window_started(m, w);
		window_result_free(w);
	}
	assert_absent(m, "\"App0\"");
	assert_line(m, "jxperf_windows_total{app=\"New\"} 0");
	assert_line(m, "jxperf_windows_total{app=\"App1\"} 5"); /* a second too recent */
	assert_line(m, "jxperf_windows_total{app=\"other\"} 0");
	metrics_free(m);
}

/* Has a window of the application begin in a JVM of the owner. */
static bool start_of(struct metrics *m, const char *app, uid_t owner, const char *schedule)
{
	struct window_result *w = running_window(app);
	bool labelled;

	w->owner = owner;
	(void)snprintf(w->request.schedule.name, sizeof(w->request.schedule.name), "%s", schedule);
	labelled = metrics_window_started(m, w);
	window_result_free(w);
	return labelled;
}

static void start_many(struct metrics *m, const char *prefix, uid_t owner, const char *schedule)
{
	char app[16];

	for (int i = 0; i < METRICS_APPS_MAX; i++) {
		(void)snprintf(app, sizeof(app), "%s%d", prefix, i);
		(void)start_of(m, app, owner, schedule);
	}
}

TEST(who_has_most_labels_makes_room_for_another_owners_applications)
{
	struct metrics *m = metrics_new();

	start_many(m, "Evil", 1000, "");
	assert_true(start_of(m, "Shop", 1001, ""));
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 0");
	assert_false(start_of(m, "Evil64", 1000, "")); /* Not for the owner's own. */
	start_many(m, "Mine", 1001, "");
	start_many(m, "Evil", 1000, "");
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 0");
	assert_false(start_of(m, "More", 1001, "")); /* Half of them are. */
	metrics_free(m);
}

TEST(what_a_schedule_wants_has_a_label_before_what_is_asked_for)
{
	struct metrics *m = metrics_new();

	start_many(m, "Evil", 1000, "");
	start_many(m, "Shop", 1001, "everything");
	assert_line(m, "jxperf_windows_total{app=\"Shop63\"} 0");
	assert_line(m, "jxperf_windows_total{app=\"Shop0\"} 0");
	assert_absent(m, "\"Evil63\"");
	assert_false(start_of(m, "Evil63", 1000, ""));
	assert_true(start_of(m, "Evil63", 1000, "everything")); /* Of another owner. */
	metrics_free(m);
}

TEST(what_was_dropped_is_shown_by_stage)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");

	w->counters[JXP__COUNTER__COUNTER_RING_FULL] = 5;
	w->losses[LOSS_PAIRS] = 2;
	metrics_account(m, w, &cursor);
	w->counters[JXP__COUNTER__COUNTER_RING_FULL] = 7;
	w->counters[JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT] = 3;
	metrics_account(m, w, &cursor);
	metrics_strangers(m, 4);
	metrics_strangers(m, 4);
	assert_line(m, "jxperf_dropped_events_total{stage=\"agent_ring_full\"} 7");
	assert_line(m, "jxperf_dropped_events_total{stage=\"engine_pairs\"} 2");
	assert_line(m, "jxperf_dropped_events_total{stage=\"gate_budget_spent\"} 3");
	assert_line(m, "jxperf_dropped_events_total{stage=\"gate_unknown\"} 4");
	window_result_free(w);
	metrics_free(m);
}

TEST(counts_near_their_limit_stay_there_and_never_fall)
{
	struct metrics *m = metrics_new();

	for (int i = 0; i < 3; i++) {
		struct metrics_cursor cursor = {0};
		struct window_result *w = running_window("Shop");

		w->counters[JXP__COUNTER__COUNTER_RING_FULL] = UINT64_MAX - 1;
		w->losses[LOSS_PAIRS] = 7;
		metrics_account(m, w, &cursor);
		/* What falls takes nothing back, and counts again from where it was. */
		w->losses[LOSS_PAIRS] = 5;
		metrics_account(m, w, &cursor);
		w->losses[LOSS_PAIRS] = 8;
		metrics_account(m, w, &cursor);
		window_result_free(w);
	}
	assert_line(m,
		    "jxperf_dropped_events_total{stage=\"agent_ring_full\"} 18446744073709551615");
	assert_line(m, "jxperf_dropped_events_total{stage=\"engine_pairs\"} 24");
	metrics_free(m);
}

TEST(attach_failures_have_a_bounded_reason)
{
	struct metrics *m = metrics_new();

	metrics_attach_failed(m, EPERM);
	metrics_attach_failed(m, EACCES);
	metrics_attach_failed(m, ESRCH);
	metrics_attach_failed(m, EXDEV);
	metrics_attach_failed(m, 0);
	assert_line(m, "jxperf_attach_failures_total{reason=\"permission\"} 2");
	assert_line(m, "jxperf_attach_failures_total{reason=\"no_such_process\"} 1");
	assert_line(m, "jxperf_attach_failures_total{reason=\"other\"} 2");
	metrics_free(m);
}

TEST(every_sample_follows_the_help_and_type_of_its_family)
{
	struct metrics *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");
	char *text, *save, type[128] = "";

	observe(w, 8, true);
	w->cpu_ns = 1000;
	window_result_end(w, NULL);
	metrics_window_ended(m, w, &cursor);
	text = exposition(m, false);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "# TYPE ", 7) == 0)
			(void)sscanf(line + 7, "%127s", type);
		else if (line[0] != '#')
			assert_int_equal(strncmp(line, type, strlen(type)), 0);
	}
	free(text);
	window_result_free(w);
	metrics_free(m);
}

TEST(openmetrics_names_counter_families_without_total_and_ends_with_eof)
{
	struct metrics *m = metrics_new();
	char *text = exposition(m, true);
	size_t size = strlen(text);

	assert_non_null(strstr(text, "# TYPE jxperf_attach_failures counter\n"));
	assert_null(strstr(text, "# TYPE jxperf_attach_failures_total"));
	assert_non_null(strstr(text, "\njxperf_attach_failures_total{reason=\"other\"} 0\n"));
	assert_string_equal(text + size - 6, "# EOF\n");
	free(text);
	metrics_free(m);
}

/* A window of every sort of figure, and one of next to none. */
static struct metrics *metrics_of_everything(void)
{
	struct metrics *m = metrics_new();
	struct window_result *full = running_window("Shop"), *bare = running_window("Bare");
	struct metrics_cursor first = {0}, second = {0};

	for (int kind = JXP__KIND__KIND_DEAD_STORE; kind <= JXP__KIND__KIND_SILENT_LOAD; kind++) {
		struct observation o = {.kind = (Jxp__Kind)kind,
					.region = JXP__REGION__REGION_HEAP,
					.checked_bytes = (uint32_t)kind * 3,
					.wasteful = true};

		assert_int_equal(profile_add(&full->profile, &o), 0);
		o.wasteful = false;
		assert_int_equal(profile_add(&full->profile, &o), 0);
	}
	for (uint64_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		full->counters[i] = 1000 + i;
	for (uint64_t i = 0; i < LOSS_MAX; i++)
		full->losses[i] = 2000 + i;
	full->numa.samples = 31;
	full->numa.remote_samples = 7;
	full->cpu_ns = 1000;
	full->overhead_ns = 17;
	full->objects_off_ns = 1;
	start_after(m, full, 0.3);
	window_result_end(full, "the target was killed");
	window_result_end(bare, NULL);
	full->end_unix_ns = bare->end_unix_ns = UINT64_C(1795248000500000000);
	full->end_ns = full->start_ns + 30 * NS_PER_S;
	bare->end_ns = bare->start_ns + 10 * NS_PER_S;
	metrics_window_ended(m, full, &first);
	metrics_window_ended(m, bare, &second);
	metrics_strangers(m, 4);
	metrics_attach_failed(m, EPERM);
	window_result_free(full);
	window_result_free(bare);
	return m;
}

TEST(sums_that_are_added_to_none_show_as_they_were)
{
	struct metrics *earlier = metrics_of_everything(), *m = metrics_new();
	char *expected = exposition(earlier, false), *text;

	metrics_add(m, earlier);
	text = exposition(m, false);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
	metrics_free(m);
	metrics_free(earlier);
}

TEST(earlier_sums_are_added_and_the_last_window_stays_the_last)
{
	struct metrics *earlier = metrics_of_everything(), *m = metrics_new();
	struct metrics_cursor cursor = {0};
	struct window_result *w = running_window("Shop");

	assert_line(earlier, "jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 6");
	assert_line(earlier,
		    "jxperf_window_inefficiency_ratio{app=\"Shop\",kind=\"dead_store\"} 0.5");
	observe(w, 8, true);
	start_after(m, w, 0.3);
	window_result_end(w, NULL);
	w->end_unix_ns = UINT64_C(1795248060500000000);
	metrics_window_ended(m, w, &cursor);
	metrics_attach_failed(m, EPERM);
	metrics_add(m, earlier);
	assert_line(m, "jxperf_checked_bytes_total{app=\"Shop\",kind=\"dead_store\"} 14");
	assert_line(m, "jxperf_inefficient_bytes_total{app=\"Shop\",kind=\"dead_store\"} 11");
	assert_line(m, "jxperf_windows_total{app=\"Shop\"} 2");
	assert_line(m, "jxperf_windows_total{app=\"Bare\"} 1");
	assert_line(m, "jxperf_numa_remote_accesses_total{app=\"Shop\"} 7");
	assert_line(m, "jxperf_attach_duration_seconds_count 2");
	assert_line(m, "jxperf_window_inefficiency_ratio{app=\"Shop\",kind=\"dead_store\"} 1");
	assert_line(m, "jxperf_window_end_timestamp_seconds{app=\"Shop\"} 1795248060.500");
	window_result_free(w);
	metrics_free(m);
	metrics_free(earlier);
}

/* Both forms, one behind the other, without the version. */
TEST(the_exposition_is_as_agreed)
{
	static char text[GOLDEN_SIZE];
	struct metrics *m = metrics_of_everything();
	size_t used = 0;

	for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
		char *part = exposition(m, openmetrics), *line, *save;

		for (line = strtok_r(part, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			if (!strstr(line, "version="))
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n",
							 line);
		free(part);
	}
	assert_golden("metrics.txt", text);
	metrics_free(m);
}
