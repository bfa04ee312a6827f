#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "daemon/engine/guard.h"
#include "proto/frame.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/long_up.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"

static char nothing_missing[] = "";

struct fixture {
	uv_loop_t loop;
	struct window_result *window;
	struct guard *guard;
	int watcher; /* its end of the stream, or -1 */
	Jxp__WatchRecord record;
	unsigned alarms;
	char line[SIDE_EFFECTS_LINE_BYTES];
};

static void on_alarm(void *arg, const char *line)
{
	struct fixture *f = arg;

	f->alarms++;
	(void)snprintf(f->line, sizeof(f->line), "%s", line);
}

/* A window that began a minute ago and has tracked objects from then on, seen since. */
static int set_up(void **state)
{
	static const struct window_request request = {
	    .kinds = {false, true}, .kinds[JXP__KIND__KIND_OBJECTS] = true, .objects_max = 100};
	static struct fixture f;

	fake_broker = (struct fake_broker){0};
	f = (struct fixture){.watcher = -1};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	f.window = window_result_new(1, 42, &request, &sample_findings);
	window_result_start(f.window);
	f.window->start_ns -= 60 * NS_PER_S;
	jxp__watch_record__init(&f.record);
	f.record.time_ns = f.window->start_ns - 3 * NS_PER_S;
	f.record.uptime_ns = f.record.cpu_ns = 100 * NS_PER_S;
	f.record.collections = 800;
	f.record.no_data = nothing_missing;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	guard_free(f->guard);
	if (f->watcher >= 0)
		(void)close(f->watcher);
	loop_finish(&f->loop);
	window_result_free(f->window);
	return 0;
}

static void watch(struct fixture *f)
{
	f->guard = guard_new(&f->loop, NULL, f->window, on_alarm, f);
	f->watcher = fake_broker_connect_watcher();
	side_effects_begin(&f->window->side_effects, f->window->start_ns);
}

/* What the watcher says every quarter of a second, of so many collections a second. */
static void say(struct fixture *f, unsigned records, unsigned collections)
{
	struct buffer out;

	buffer_init(&out, 4096);
	for (unsigned i = 0; i < records; i++) {
		f->record.time_ns += 250 * NS_PER_MS;
		f->record.uptime_ns += 250 * NS_PER_MS;
		f->record.cpu_ns += 250 * NS_PER_MS;
		f->record.collections += collections / 4;
		assert_int_equal(frame_append(&out, &f->record.base, 1024), 0);
		assert_int_equal(fd_write_all(f->watcher, buffer_head(&out), buffer_length(&out)),
				 0);
		buffer_clear(&out);
		loop_settle(&f->loop);
	}
	buffer_release(&out);
}

static const char *reason(const struct fixture *f)
{
	return f->window->side_effects.reason;
}

TEST(what_is_seen_is_the_windows, set_up, tear_down)
{
	struct fixture *f = *state;

	watch(f);
	assert_true(f->window->side_effects.watched);
	assert_string_equal(reason(f), "nothing was seen of the JVM from outside in time");
	say(f, 4, 8);
	assert_int_equal(f->window->side_effects.count, 4);
	f->record.no_data = (char *)"the JVM has no performance data";
	say(f, 1, 8);
	assert_string_equal(reason(f), "the JVM has no performance data");
}

TEST(a_rise_is_told_once, set_up, tear_down)
{
	struct fixture *f = *state;

	watch(f);
	say(f, 52, 8);
	assert_int_equal(f->alarms, 0);
	say(f, 40, 80);
	assert_int_equal(f->alarms, 1);
	assert_non_null(strstr(f->line, "collections rose from 8.0 to "));
}

TEST(a_window_without_objects_is_not_disturbed, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_OBJECTS] = false;
	watch(f);
	say(f, 52, 8);
	say(f, 40, 80);
	assert_int_equal(f->alarms, 0);
	assert_true(f->window->side_effects.rose[EFFECT_COLLECTIONS]);
}

TEST(a_window_that_has_ended_takes_no_more, set_up, tear_down)
{
	struct fixture *f = *state;

	watch(f);
	say(f, 2, 8);
	window_result_end(f->window, NULL);
	say(f, 2, 8);
	assert_int_equal(f->window->side_effects.count, 2);
}

TEST(a_watcher_that_cannot_be_asked_for_is_no_guard, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_broker.refuse = EAGAIN;
	assert_null(guard_new(&f->loop, NULL, f->window, on_alarm, f));
	assert_false(f->window->side_effects.watched);
	assert_non_null(strstr(reason(f), "the broker could not be asked: "));
}

TEST(a_watcher_that_is_not_to_be_had_is_told, set_up, tear_down)
{
	const struct broker_reply refusal = {
	    .operation = BROKER_WATCH, .error = EAGAIN, .message = "80 processes are watched"};
	struct fixture *f = *state;

	f->guard = guard_new(&f->loop, NULL, f->window, on_alarm, f);
	fake_broker.watch_fn(fake_broker.watch_arg, &refusal, NULL);
	assert_false(f->window->side_effects.watched);
	assert_string_equal(reason(f), "80 processes are watched");
}

TEST(a_watcher_that_lies_is_heard_no_more, set_up, tear_down)
{
	struct fixture *f = *state;

	watch(f);
	say(f, 2, 8);
	f->record.time_ns = clock_monotonic_ns() + 60 * NS_PER_S; /* that has not come */
	say(f, 1, 8);
	assert_string_equal(reason(f), "what was seen of the JVM is not valid");
	assert_int_equal(f->window->side_effects.count, 2);
}

TEST(a_watcher_that_dies_ends_nothing_and_is_told, set_up, tear_down)
{
	struct fixture *f = *state;

	watch(f);
	say(f, 2, 8);
	(void)close(f->watcher);
	f->watcher = -1;
	loop_settle(&f->loop);
	assert_string_equal(reason(f), "watching the JVM from outside failed, or the JVM ended");
	assert_int_equal(f->window->state, WINDOW_RUNNING);
}

TEST(an_open_question_is_forgotten_with_the_guard, set_up, tear_down)
{
	struct fixture *f = *state;

	f->guard = guard_new(&f->loop, NULL, f->window, on_alarm, f);
	assert_int_not_equal(fake_broker.watch_id, 0);
	guard_free(f->guard);
	f->guard = NULL;
	assert_int_equal(fake_broker.watch_id, 0);
}
