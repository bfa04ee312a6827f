#include "tests/unit/support/test.h"

#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/support/engine_fixture.h"
#include "tests/unit/support/long_up.h"

static char nothing_missing[] = "";

/* What a watcher says every quarter of a second of a JVM with so many collections a second. */
static void watch(struct fixture *f, int watcher, Jxp__WatchRecord *r, unsigned records,
		  unsigned collections)
{
	struct buffer out;

	buffer_init(&out, 4096);
	for (unsigned i = 0; i < records; i++) {
		r->time_ns += 250 * NS_PER_MS;
		r->uptime_ns += 250 * NS_PER_MS;
		r->cpu_ns += 250 * NS_PER_MS;
		r->collections += collections / 4;
		r->no_data = nothing_missing;
		assert_int_equal(frame_append(&out, &r->base, 1024), 0);
		assert_int_equal(fd_write_all(watcher, buffer_head(&out), buffer_length(&out)), 0);
		buffer_clear(&out);
		loop_settle(&f->loop);
	}
	buffer_release(&out);
}

/* A window that began a minute ago, and tracked objects from then on; *agent is told to. */
static int start_watched(struct fixture *f, const struct window_request *wanted, int *agent,
			 Jxp__WatchRecord *r)
{
	struct window_sink observer = {
	    .arg = f, .started = on_started, .finished = on_ended, .failed = on_failed};
	struct window_result *w;
	int watcher;

	assert_int_equal(engine_attach(f->engine, &everybodys, 42, wanted, &sample_findings,
				       &observer, f->id, &f->err),
			 0);
	watcher = fake_broker_connect_watcher();
	*agent = fake_broker_connect_agent();
	agent_send_hello(*agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	agent_expect(*agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(*agent, JXP__ENGINE_FRAME__BODY_START);
	w = (struct window_result *)engine_find_running(f->engine, 42);
	assert_true(w->objects_from_ns > w->start_ns); /* three of sixty seconds later */
	assert_true(w->objects_from_ns <= clock_monotonic_ns() + 3 * NS_PER_S);
	w->start_ns -= 60 * NS_PER_S;
	w->objects_from_ns -= 60 * NS_PER_S;
	w->side_effects.begin_ns = w->objects_from_ns;
	jxp__watch_record__init(r);
	r->time_ns = w->objects_from_ns - 3 * NS_PER_S;
	r->uptime_ns = 100 * NS_PER_S;
	r->cpu_ns = 100 * NS_PER_S;
	r->collections = 800;
	return watcher;
}

static struct window_request with_objects(bool pairs)
{
	struct window_request s = request;

	s.kinds[JXP__KIND__KIND_OBJECTS] = true;
	s.objects_max = 100;
	for (size_t i = 0; i < PAIR_KINDS; i++)
		s.kinds[pair_kinds[i].kind] = pairs;
	return s;
}

TEST(objects_are_switched_off_in_mid_window_when_collections_rise, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_request wanted = with_objects(true);
	const struct window_result *w;
	Jxp__WatchRecord r;
	int agent, watcher = start_watched(f, &wanted, &agent, &r);

	w = engine_find_running(f->engine, 42);
	watch(f, watcher, &r, 52, 8);
	assert_int_equal(w->objects_off_ns, 0);
	watch(f, watcher, &r, 24, 80);
	assert_int_not_equal(w->objects_off_ns, 0);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP_OBJECTS);
	assert_non_null(strstr(w->objects_refused, "objects were switched off after"));
	assert_non_null(strstr(w->objects_refused, "collections rose from 8.0 to "));
	assert_int_equal(w->state, WINDOW_RUNNING);
	agent_leave(agent, "");
	loop_until(&f->loop, &f->ended);
	(void)close(watcher);
}

TEST(a_window_for_objects_alone_then_ends_early_and_says_why, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_request wanted = with_objects(false);
	Jxp__WatchRecord r;
	int agent, watcher = start_watched(f, &wanted, &agent, &r);

	watch(f, watcher, &r, 24, 8);
	watch(f, watcher, &r, 24, 80);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP);
	agent_leave(agent, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_ENDED_EARLY);
	assert_non_null(strstr(engine_find_window(f->engine, "w1")->reason, "switched off"));
	(void)close(watcher);
}

TEST(a_broker_without_watchers_leaves_objects_without_a_baseline, set_up, tear_down)
{
	const struct broker_reply refusal = {
	    .operation = BROKER_WATCH, .error = EAGAIN, .message = "80 processes are watched"};
	struct fixture *f = *state;
	const struct window_result *w;
	int agent;

	assert_int_equal(attach(f, 42), 0);
	fake_broker.watch_fn(fake_broker.watch_arg, &refusal, NULL);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	w = engine_find_running(f->engine, 42);
	assert_int_equal(w->objects_from_ns, 0);
	assert_string_equal(w->side_effects.reason, "80 processes are watched");
	(void)close(agent);
}
