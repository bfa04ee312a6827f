#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/metrics_sink.h"
#include "daemon/http/metrics_sums.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	struct metrics_sink own;
	struct window_sink sink;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.own = (struct metrics_sink){.metrics = metrics_new()};
	f.sink = metrics_sink(&f.own);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	metrics_sink_release(&f->own);
	metrics_free(f->own.metrics);
	return 0;
}

static struct window_result *running_window(unsigned number, uint64_t lost)
{
	static const struct window_request request = {.kinds = {false, true, true, true}};
	struct window_result *w = window_result_new(number, 42, &request, &sample_findings);

	(void)snprintf(w->app, sizeof(w->app), "Shop");
	window_result_start(w);
	w->losses[LOSS_PAIRS] = lost;
	return w;
}

static void assert_shown(const struct fixture *f, const char *line)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	metrics_write(out, f->own.metrics, false);
	assert_int_equal(fclose(out), 0);
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
	free(text);
}

static void windows_side_by_side_are_each_added_once(void **state)
{
	struct fixture *f = *state;
	struct window_result *first = running_window(1, 3), *second = running_window(2, 40);

	f->sink.started(f->sink.arg, first);
	f->sink.started(f->sink.arg, second);
	for (int i = 0; i < 3; i++) {
		f->sink.progressed(f->sink.arg, first);
		f->sink.progressed(f->sink.arg, second);
	}
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"engine_pairs\"} 43\n");
	first->losses[LOSS_PAIRS] = 4;
	f->sink.finished(f->sink.arg, first);
	f->sink.finished(f->sink.arg, second);
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"engine_pairs\"} 44\n");
	assert_shown(f, "\njxperf_windows_total{app=\"Shop\"} 2\n");
	window_result_free(first);
	window_result_free(second);
}

static void a_window_that_was_not_heard_of_before_is_added_whole_at_its_end(void **state)
{
	struct fixture *f = *state;
	struct window_result *w = running_window(1, 3);

	f->sink.progressed(f->sink.arg, w);
	f->sink.finished(f->sink.arg, w);
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"engine_pairs\"} 3\n");
	window_result_free(w);
}

static void failures_are_counted_with_a_window_and_without(void **state)
{
	struct fixture *f = *state;
	struct window_result *w = running_window(1, 0);

	f->sink.started(f->sink.arg, w);
	f->sink.failed(f->sink.arg, w, ECONNABORTED, "no event may be opened");
	f->sink.failed(f->sink.arg, NULL, EBUSY, "it is being profiled already");
	assert_shown(f, "\njxperf_attach_failures_total{reason=\"agent\"} 1\n");
	assert_shown(f, "\njxperf_attach_failures_total{reason=\"busy\"} 1\n");
	assert_null(f->own.running);
	window_result_free(w);
}

static void strangers_are_a_total(void **state)
{
	struct fixture *f = *state;

	f->sink.strangers(f->sink.arg, 4);
	f->sink.strangers(f->sink.arg, 4);
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"gate_unknown\"} 4\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* What goes to standard error while windows of the applications app<from> up to app<to> begin. */
static char *said_of(struct fixture *f, unsigned from, unsigned to)
{
	FILE *said = tmpfile();
	int kept = dup(STDERR_FILENO);
	char *text = calloc(1, 4096);

	assert_true(said && text && kept >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
	for (unsigned number = from; number <= to; number++) {
		struct window_result *w = running_window(number + 1, 0);

		(void)snprintf(w->app, sizeof(w->app), "app%u", number);
		f->sink.started(f->sink.arg, w);
		f->sink.finished(f->sink.arg, w);
		window_result_free(w);
	}
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	(void)close(kept);
	rewind(said);
	(void)fread(text, 1, 4095, said);
	(void)fclose(said);
	return text;
}

static void names_without_series_are_said_once_and_counted(void **state)
{
	struct fixture *f = *state;
	char *said = said_of(f, 0, METRICS_APPS_MAX - 1);

	assert_string_equal(said, "");
	free(said);
	said = said_of(f, METRICS_APPS_MAX, METRICS_APPS_MAX + 1);
	assert_non_null(strstr(said, "windows of 'app64' are counted as app=\"other\": 64 appl"));
	assert_non_null(strstr(said, "windows of 'app65' are counted as app=\"other\": 64 appl"));
	free(said);
	said = said_of(f, 0, METRICS_APPS_MAX + 1);
	assert_string_equal(said, "");
	free(said);
	assert_shown(f, "jxperf_apps_over_limit_total 4\n");
	assert_shown(f, "jxperf_windows_total{app=\"other\"} 4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(windows_side_by_side_are_each_added_once),
	    TEST(a_window_that_was_not_heard_of_before_is_added_whole_at_its_end),
	    TEST(failures_are_counted_with_a_window_and_without),
	    TEST(strangers_are_a_total),
	    cmocka_unit_test_setup_teardown(names_without_series_are_said_once_and_counted, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
