#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/engine/history.h"
#include "tests/unit/support/sample_findings.h"

static const struct window_request request = {.kinds = {false, true, true, true}};

TEST(the_oldest_finished_window_makes_room)
{
	struct history h = {0};

	for (unsigned i = 1; i <= HISTORY_WINDOWS_MAX + 2; i++)
		history_add(&h, window_result_new(i, 42, &request, &sample_findings));
	assert_int_equal(h.count, HISTORY_WINDOWS_MAX);
	assert_string_equal(h.windows[0]->id, "w3");
	assert_string_equal(h.windows[h.count - 1]->id, "w66");
	history_release(&h);
}

TEST(windows_that_failed_make_no_others_leave)
{
	struct history h = {0};
	struct window_result *w;

	history_add(&h, window_result_new(1, 42, &request, &sample_findings));
	for (unsigned i = 2; i <= HISTORY_FAILED_MAX + 3; i++) {
		w = window_result_new(i, 42, &request, &sample_findings);
		window_result_fail(w, "it was too old");
		history_add(&h, w);
	}
	assert_int_equal(h.count, 1 + HISTORY_FAILED_MAX);
	assert_string_equal(h.windows[0]->id, "w1");
	assert_string_equal(h.windows[1]->id, "w4");
	history_release(&h);
}

static struct window_result *window_of(uid_t owner, unsigned number)
{
	struct window_result *w = window_result_new(number, 42, &request, &sample_findings);

	w->owner = owner;
	return w;
}

TEST(one_users_windows_make_no_others_leave)
{
	struct history h = {0};
	struct window_result *w;

	history_add(&h, window_of(1000, 1));
	w = window_of(1000, 2);
	window_result_fail(w, "it was too old");
	history_add(&h, w);
	for (unsigned i = 3; i <= 3 * HISTORY_MAX; i++) {
		w = window_of(1001, i);
		if (i % 2)
			window_result_fail(w, "as it likes");
		history_add(&h, w);
	}
	assert_int_equal(h.count, HISTORY_MAX);
	assert_string_equal(h.windows[0]->id, "w1");
	assert_string_equal(h.windows[1]->id, "w2");
	history_release(&h);
}

TEST(a_kept_window_outlives_the_history)
{
	struct history h = {0};
	struct window_result *kept =
	    window_result_keep(window_result_new(1, 42, &request, &sample_findings));

	history_add(&h, kept);
	history_release(&h);
	assert_string_equal(kept->id, "w1");
	window_result_free(kept);
}

/* A window whose strings take about 30 MiB. */
static struct window_result *large_window(unsigned number)
{
	struct window_result *w = window_result_new(number, 42, &request, &sample_findings);
	char text[4000];
	uint32_t id;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 7500; i++) {
		(void)snprintf(text, 16, "%015d", i);
		text[15] = '-';
		assert_int_equal(strings_intern(&w->profile.strings, text, &id), 0);
	}
	return w;
}

TEST(large_windows_leave_room_for_fewer)
{
	struct history h = {0};

	for (unsigned i = 1; i <= 12; i++)
		history_add(&h, large_window(i));
	assert_in_range(h.count, 1, 2);
	assert_string_equal(h.windows[h.count - 1]->id, "w12");
	history_release(&h);
}

TEST(as_a_sink_it_has_what_finished_and_what_failed_with_a_number)
{
	struct history h = {0};
	struct window_sink sink = history_sink(&h);
	struct window_result *done = window_result_new(1, 42, &request, &sample_findings);
	struct window_result *failed = window_result_new(2, 42, &request, &sample_findings);

	window_result_fail(failed, "it was too old");
	sink.finished(sink.arg, done);
	sink.failed(sink.arg, failed, EOPNOTSUPP, "it was too old");
	sink.failed(sink.arg, NULL, EBUSY, "it is being profiled already");
	window_result_free(done);
	window_result_free(failed);
	assert_int_equal(h.count, 2);
	assert_string_equal(h.windows[0]->id, "w1");
	assert_string_equal(h.windows[1]->reason, "it was too old");
	history_release(&h);
}
