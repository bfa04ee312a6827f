#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

	metrics_write(out, f->own.metrics, 0, false);
	assert_int_equal(fclose(out), 0);
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
	free(text);
}

TEST(windows_side_by_side_are_each_added_once, set_up, tear_down)
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

TEST(a_window_that_was_not_heard_of_before_is_added_whole_at_its_end, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *w = running_window(1, 3);

	f->sink.progressed(f->sink.arg, w);
	f->sink.finished(f->sink.arg, w);
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"engine_pairs\"} 3\n");
	window_result_free(w);
}

TEST(failures_are_counted_with_a_window_and_without, set_up, tear_down)
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

TEST(strangers_are_a_total, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sink.strangers(f->sink.arg, 4);
	f->sink.strangers(f->sink.arg, 4);
	assert_shown(f, "\njxperf_dropped_events_total{stage=\"gate_unknown\"} 4\n");
}

TEST(names_that_share_a_label_are_told_once_each, set_up, tear_down)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2 * (METRICS_APPS_MAX + 2); i++) {
		struct window_result *w = running_window((unsigned)i + 1, 0);

		(void)snprintf(w->app, sizeof(w->app), "App%d", i % (METRICS_APPS_MAX + 2));
		f->sink.started(f->sink.arg, w);
		f->sink.finished(f->sink.arg, w);
		window_result_free(w);
	}
	assert_int_equal(f->own.told_count, 2);
	assert_string_equal(f->own.told[0], "App64");
	assert_string_equal(f->own.told[1], "App65");
}
