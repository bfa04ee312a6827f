#include "tests/unit/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/schedule/newcomers.h"
#include "daemon/schedule/planner.h"
#include "daemon/http/own_metrics.h"

#define START_NS (UINT64_C(1795996800) * NS_PER_S)

static struct config_schedule schedule = {.name = (char *)"often",
					  .every_ns = 60 * NS_PER_S,
					  .window_ns = NS_PER_S,
					  .budget = 0.01,
					  .host_fraction = 1,
					  .jvm_fraction = 1,
					  .from_minute = CONFIG_ALWAYS,
					  .until_minute = CONFIG_ALWAYS,
					  .failures = 2};
static struct config config = {.guards = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
			       .host_budget = 1,
			       .windows_at_once = 1,
			       .schedules = &schedule};

static char *written(const struct planner *p, bool openmetrics)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	schedule_metrics_write(out, p, openmetrics);
	assert_int_equal(fclose(out), 0);
	return text;
}

static bool is_profiled(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return false;
}

/* The next window of the one JVM ends so. */
static void window_in(struct planner *p, pid_t pid, uint64_t *now_ns, enum planner_outcome outcome)
{
	const struct planner_jvm jvm = {.pid = pid, .start_ticks = 1};
	struct planner_order order;

	planner_pass_time(p, 3600 * NS_PER_S); /* Nobody is left alone any more. */
	planner_begin_round(p);
	planner_found(p, &jvm);
	planner_end_round(p);
	while (!planner_next(p, *now_ns, 0, is_profiled, NULL, &order))
		*now_ns += NS_PER_S;
	planner_began(p, &order, "w1");
	planner_ended(p, pid, order.schedule->name,
		      &(struct planner_end){.outcome = outcome,
					    .reason = "it has its reasons",
					    .overhead_ns = NS_PER_S / 4,
					    .unix_ns = *now_ns});
}

static void window(struct planner *p, uint64_t *now_ns, enum planner_outcome outcome)
{
	window_in(p, 42, now_ns, outcome);
}

static void expect(const struct planner *p, const char *line)
{
	char *text = written(p, false);

	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
	free(text);
}

TEST(nothing_is_said_where_there_is_no_schedule)
{
	struct planner *p;
	char *text;

	config.schedule_count = 0;
	p = planner_new(&config, "host");
	text = written(p, false);
	assert_string_equal(text, "");
	free(text);
	planner_free(p);
}

TEST(windows_are_counted_by_how_they_ended)
{
	uint64_t now_ns = START_NS;
	struct planner *p;

	config.schedule_count = 1;
	p = planner_new(&config, "host");
	window(p, &now_ns, OUTCOME_RAN);
	window(p, &now_ns, OUTCOME_FAILED);
	window(p, &now_ns, OUTCOME_RAN);
	window(p, &now_ns, OUTCOME_GONE);
	expect(p, "\njxperf_schedule_windows_total{schedule=\"often\",outcome=\"ran\"} 2\n");
	expect(p, "\njxperf_schedule_windows_total{schedule=\"often\",outcome=\"costly\"} 0\n");
	expect(p, "\njxperf_schedule_windows_total{schedule=\"often\",outcome=\"failed\"} 1\n");
	expect(p, "\njxperf_schedule_missed_total{schedule=\"often\",reason=\"busy\"} 0\n");
	expect(p, "\njxperf_schedule_stopped{schedule=\"often\"} 0\n");
	expect(p, "\njxperf_schedule_jvms_over_limit_total 0\n");
	expect(p, "\njxperf_schedule_failures_in_a_row{schedule=\"often\"} 0\n");
	expect(p, "\njxperf_schedule_overhead_seconds_total{schedule=\"often\"} 1\n");
	expect(p, "\njxperf_jvms{state=\"covered\",reason=\"none\"} 1\n");
	expect(p, "\njxperf_jvms{state=\"refused\",reason=\"protocol\"} 0\n");
	window_in(p, 42, &now_ns, OUTCOME_COSTLY);
	expect(p, "\njxperf_schedule_failures_in_a_row{schedule=\"often\"} 1\n");
	window_in(p, 43, &now_ns, OUTCOME_COSTLY);
	expect(p, "\njxperf_schedule_windows_total{schedule=\"often\",outcome=\"costly\"} 2\n");
	expect(p, "\njxperf_schedule_stopped{schedule=\"often\"} 1\n");
	planner_free(p);
}

TEST(openmetrics_names_counters_without_total)
{
	struct planner *p;
	char *text;

	config.schedule_count = 1;
	p = planner_new(&config, "host");
	text = written(p, true);
	assert_non_null(strstr(text, "# TYPE jxperf_schedule_windows counter\n"));
	assert_non_null(strstr(text, "# TYPE jxperf_schedule_stopped gauge\n"));
	assert_non_null(strstr(text, "\njxperf_schedule_windows_total{"));
	free(text);
	planner_free(p);
}

TEST(probabilities_are_those_of_schedules_with_a_target)
{
	const struct planner_jvm jvm = {.pid = 1, .start_ticks = 1};
	struct planner *p = planner_new(&config, "host");
	char *text = written(p, false);

	assert_null(strstr(text, "jxperf_schedule_probability"));
	free(text);
	schedule.pairs_per_day = 1000;
	planner_found(p, &jvm);
	planner_lack_evidence(p, 1);
	text = written(p, false);
	assert_non_null(strstr(text, "\njxperf_schedule_probability{schedule=\"often\"} 0.1\n"));
	assert_non_null(strstr(text, "\njxperf_schedule_evidence_missing 1\n"));
	free(text);
	planner_take_evidence(p, 1, NULL, 0);
	text = written(p, false);
	assert_non_null(strstr(text, "\njxperf_schedule_evidence_missing 0\n"));
	free(text);
	planner_free(p);
	schedule.pairs_per_day = 0;
}

/* To be freed. */
static char *written_discovery(const struct newcomers *d, bool openmetrics)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	discovery_metrics_write(out, d, openmetrics);
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(what_discovery_does_is_counted)
{
	const struct newcomers d = {
	    .works = true, .started = 1, .ended = 2, .missed = 3, .looks = 4, .rounds = 5};
	char *text = written_discovery(&d, false);

	assert_non_null(strstr(text, "\njxperf_discovery_bpf 1\n"));
	assert_non_null(strstr(text, "\n# TYPE jxperf_discovery_started_total counter\n"
				     "jxperf_discovery_started_total 1\n"));
	assert_non_null(strstr(text, "\njxperf_discovery_ended_total 2\n"));
	assert_non_null(strstr(text, "\njxperf_discovery_missed_total 3\n"));
	assert_non_null(strstr(text, "\njxperf_discovery_looks_total 4\n"));
	assert_non_null(strstr(text, "\njxperf_discovery_rounds_total 5\n"));
	free(text);
}

TEST(openmetrics_names_families_of_discovery_without_total)
{
	const struct newcomers d = {0};
	char *text = written_discovery(&d, true);

	assert_non_null(strstr(text, "\njxperf_discovery_bpf 0\n"));
	assert_non_null(strstr(text, "\n# TYPE jxperf_discovery_looks counter\n"
				     "jxperf_discovery_looks_total 0\n"));
	free(text);
}
