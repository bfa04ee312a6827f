#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/engine/engine.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	uv_loop_t loop;
	struct engine *engine;
	char id[WINDOW_ID_BYTES];
	bool started;
	bool ended;
	bool failed;
	bool stopped;
	char message[256];
	struct err err;
};

static const struct window_request request = {.kinds = {false, true, true, true},
					      .duration_ns = UINT64_C(60000000000),
					      .budget = 0.01,
					      .registers = 4,
					      .max_frames = 128};

/* Who may see every JVM, and who FAKE_OWNER's, which all of them are, or another user's only. */
static const struct window_asker everybodys = {.uid = 0, .pid = 1, .sees = PROC_ANY_UID};
static const struct window_asker owners = {.uid = FAKE_OWNER, .pid = 2, .sees = FAKE_OWNER};
static const struct window_asker others = {.uid = 77, .pid = 3, .sees = 77};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(engine_new(&f.engine, &f.loop, NULL, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	engine_free(f->engine);
	loop_finish(&f->loop);
	return 0;
}

static void on_started(void *arg, const struct window_result *w)
{
	struct fixture *f = arg;

	assert_string_equal(w->id, f->id);
	f->started = true;
}

static void on_ended(void *arg, const struct window_result *w)
{
	struct fixture *f = arg;

	assert_string_equal(w->id, f->id);
	assert_false(f->ended || f->failed);
	f->ended = true;
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	struct fixture *f = arg;

	assert_string_equal(w->id, f->id);
	assert_true(error > 0);
	assert_false(f->ended || f->failed);
	f->failed = true;
	(void)snprintf(f->message, sizeof(f->message), "%s", message);
}

static int attach_for(struct fixture *f, const struct window_asker *asker, pid_t pid)
{
	struct window_sink observer = {
	    .arg = f, .started = on_started, .finished = on_ended, .failed = on_failed};

	return engine_attach(f->engine, asker, pid, &request, &sample_findings, &observer, f->id,
			     &f->err);
}

static int attach(struct fixture *f, pid_t pid)
{
	return attach_for(f, &everybodys, pid);
}

/* Attaches to 42 and starts the window; returns the agent's socket. */
static int start(struct fixture *f)
{
	int agent;

	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(fake_broker.attach_pid, 42);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_START);
	return agent;
}

static void a_window_runs_from_attach_to_history(void **state)
{
	struct fixture *f = *state;
	struct sample_batch sample;
	int agent = start(f);

	assert_true(engine_is_profiled(f->engine, 42));
	assert_string_equal(f->id, "w1");
	/* As the helper saw it; the agent says something else. */
	assert_string_equal(engine_find_running(f->engine, 42)->app, "Main");
	sample_batch_init(&sample);
	(void)sample_pair(&sample, JXP__KIND__KIND_DEAD_STORE, 2, 3, 8, 1);
	agent_send_batch(agent, &sample.batch);
	agent_leave(agent, "");
	loop_until(&f->loop, &f->ended);
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(engine_window_count(f->engine), 1);
	assert_int_equal(engine_find_window(f->engine, "w1")->profile.pair_count, 1);
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_ENDED_EARLY);
	assert_null(engine_find_window(f->engine, "w2"));
	assert_int_equal(fake_broker.released, 42);
	assert_int_equal(engine_windows_total(f->engine), 1);
}

static void a_second_attach_names_the_window_and_the_way_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(attach(f, 42), -EBUSY);
	assert_string_equal(f->err.message,
			    "pid 42 is already being profiled (window w1): wait, or end it with "
			    "'jxperfctl detach 42'");
	assert_int_equal(engine_attach_failures(f->engine), 1);
	assert_int_equal(attach(f, 43), 0);
	assert_string_equal(f->id, "w2");
}

/* Begins a scheduled window of 42, w1, that is in nobody's way yet. */
static int begin_scheduled(struct fixture *f)
{
	struct window_request scheduled = request;
	char id[WINDOW_ID_BYTES];

	(void)strcpy(scheduled.schedule.name, "often");
	return engine_attach(f->engine, &everybodys, 42, &scheduled, &sample_findings, NULL, id,
			     &f->err);
}

static void a_scheduled_window_gives_way_to_one_that_somebody_asks_for(void **state)
{
	struct fixture *f = *state;
	int first;

	assert_int_equal(begin_scheduled(f), 0);
	/* Not to another one of a schedule. */
	assert_int_equal(begin_scheduled(f), -EBUSY);
	assert_int_equal(fake_broker.releases, 0);
	first = fake_broker.attach_id;
	assert_int_equal(attach(f, 42), 0);
	assert_string_equal(f->id, "w2");
	assert_int_equal(fake_broker.released, 42);
	assert_int_equal(fake_broker.attach_id, first);
	/* Neither to a third, nor is the second in its way. */
	assert_int_equal(begin_scheduled(f), -EBUSY);
	assert_int_equal(attach(f, 42), -EBUSY);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(engine_find_window(f->engine, "w1")->asked_to_end);
	assert_int_not_equal(fake_broker.attach_id, 0);
	assert_string_equal(engine_find_running(f->engine, 42)->id, "w2");
	fake_broker_fail_attach(EPERM, "not today");
	assert_true(f->failed);
	assert_string_equal(f->message, "not today");
}

static void a_scheduled_window_that_attaches_gives_way_to_the_jvms_owner(void **state)
{
	const struct window_asker owner = {.uid = FAKE_OWNER, .pid = 1, .sees = FAKE_OWNER},
				  other = {.uid = 77, .pid = 1, .sees = 77};
	struct window_request scheduled = request;
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	(void)strcpy(scheduled.schedule.name, "often");
	scheduled.schedule.owner = FAKE_OWNER;
	scheduled.start_ticks = 4711;
	assert_int_equal(engine_attach(f->engine, &everybodys, 42, &scheduled, &sample_findings,
				       NULL, id, &f->err),
			 0);
	assert_true(fake_broker.attach_start_ticks == 4711);
	assert_int_equal(fake_broker.attach_owner, PROC_ANY_UID);
	assert_int_equal(
	    engine_attach(f->engine, &other, 42, &request, &sample_findings, NULL, id, &f->err),
	    -ESRCH);
	assert_int_equal(fake_broker.releases, 0);
	assert_int_equal(
	    engine_attach(f->engine, &owner, 42, &request, &sample_findings, NULL, id, &f->err), 0);
	assert_int_equal(fake_broker.released, 42);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_int_equal(fake_broker.attach_owner, FAKE_OWNER);
	assert_string_equal(engine_find_running(f->engine, 42)->id, id);
}

static void one_user_has_a_limit_of_windows_and_others_have_room(void **state)
{
	const struct window_asker one = {.uid = 77, .pid = 1, .sees = 77},
				  other = {.uid = 78, .pid = 1, .sees = 78};
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	engine_set_user_limit(f->engine, 2);
	for (pid_t pid = 42; pid < 44; pid++)
		assert_int_equal(engine_attach(f->engine, &one, pid, &request, &sample_findings,
					       NULL, id, &f->err),
				 0);
	assert_int_equal(
	    engine_attach(f->engine, &one, 44, &request, &sample_findings, NULL, id, &f->err),
	    -EBUSY);
	assert_non_null(strstr(f->err.message, "2 windows of yours are running"));
	assert_int_equal(
	    engine_attach(f->engine, &other, 45, &request, &sample_findings, NULL, id, &f->err), 0);
	for (pid_t pid = 46; pid < 49; pid++) /* An administrator, too. */
		assert_int_equal(engine_attach(f->engine, &everybodys, pid, &request,
					       &sample_findings, NULL, id, &f->err),
				 0);
}

static void a_window_that_waits_may_be_detached(void **state)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_string_equal(id, "w2");
	assert_false(f->failed);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->failed);
	assert_string_equal(f->message, "it was detached on request");
	assert_int_equal(fake_broker.attach_id, 0);
	assert_false(engine_is_profiled(f->engine, 42));
}

static void a_window_that_waits_fails_when_the_broker_does(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	fake_broker.refuse = EAGAIN;
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->failed);
	assert_false(engine_is_profiled(f->engine, 42));
}

static void a_failed_attach_is_told_and_keeps_its_number(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(attach(f, 42), 0);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	assert_true(f->failed);
	assert_string_equal(f->message, "no process has the pid 42");
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(engine_window_count(f->engine), 1);
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_FAILED);
	assert_string_equal(engine_find_window(f->engine, "w1")->reason,
			    "no process has the pid 42");
	assert_int_equal(engine_attach_failures(f->engine), 1);
	assert_int_equal(engine_windows_total(f->engine), 0);
	assert_int_equal(attach(f, 42), 0);
	assert_string_equal(f->id, "w2");
}

static void a_broker_that_refuses_fails_the_call(void **state)
{
	struct fixture *f = *state;

	fake_broker.refuse = EAGAIN;
	assert_int_equal(attach(f, 42), -EAGAIN);
	assert_false(engine_is_profiled(f->engine, 42));
}

static void detaching_ends_the_window_early_with_its_reason(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);
	char id[WINDOW_ID_BYTES];

	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_string_equal(id, "w1");
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP);
	agent_leave(agent, "");
	loop_until(&f->loop, &f->ended);
	assert_string_equal(engine_find_window(f->engine, "w1")->reason,
			    "it was detached on request");
}

static void detaching_what_is_not_profiled_is_refused(void **state)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	assert_int_equal(engine_detach(f->engine, 42, "", id, &f->err), -ESRCH);
	assert_non_null(strstr(f->err.message, "pid 42"));
}

static void detaching_while_the_helper_works_cancels_it(void **state)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_int_equal(fake_broker.released, 42); /* tells the broker to give up */
	assert_true(engine_is_profiled(f->engine, 42));
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->failed);
	assert_string_equal(f->message, "it was detached on request");
	assert_false(engine_is_profiled(f->engine, 42));
}

static void an_agent_that_comes_after_a_cancel_is_sent_away(void **state)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES], byte;
	int agent;

	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	agent = fake_broker_connect_agent();
	assert_true(f->failed);
	assert_int_equal(read(agent, &byte, 1), 0); /* Its connection is closed. */
	(void)close(agent);
}

static void a_client_that_leaves_ends_its_window_and_hears_nothing(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);

	engine_forget_observer(f->engine, f);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP);
	agent_leave(agent, "");
	while (engine_is_profiled(f->engine, 42))
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_false(f->ended);
	assert_non_null(strstr(engine_find_window(f->engine, "w1")->reason, "client"));
}

/* ---------------------------------------------------------------- sinks */

struct listener {
	unsigned started, progressed, finished, failed, refused;
	uint64_t strangers;
	int error;
};

static void heard_started(void *arg, const struct window_result *w)
{
	(void)w;
	((struct listener *)arg)->started++;
}

static void heard_progressed(void *arg, const struct window_result *w)
{
	(void)w;
	((struct listener *)arg)->progressed++;
}

static void heard_finished(void *arg, const struct window_result *w)
{
	assert_true(w->finished);
	((struct listener *)arg)->finished++;
}

static void heard_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	struct listener *l = arg;

	assert_true(message[0]);
	l->error = error;
	if (w && w->id[0])
		l->failed++;
	else
		l->refused++;
}

static void heard_strangers(void *arg, uint64_t total)
{
	((struct listener *)arg)->strangers = total;
}

static void add_listener(struct fixture *f, struct listener *l)
{
	const struct window_sink sink = {.arg = l,
					 .started = heard_started,
					 .progressed = heard_progressed,
					 .finished = heard_finished,
					 .failed = heard_failed,
					 .strangers = heard_strangers};

	engine_add_sink(f->engine, &sink);
}

static void a_sink_hears_of_windows_that_nobody_waits_for(void **state)
{
	struct fixture *f = *state;
	struct listener l = {0};
	struct sample_batch sample;
	int agent;

	add_listener(f, &l);
	assert_int_equal(engine_attach(f->engine, &everybodys, 42, &request, &sample_findings, NULL,
				       f->id, &f->err),
			 0);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	sample_batch_init(&sample);
	agent_send_batch(agent, &sample.batch);
	agent_leave(agent, "");
	while (engine_is_profiled(f->engine, 42))
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(l.started, 1);
	assert_int_equal(l.progressed, 1);
	assert_int_equal(l.finished, 1);
	assert_int_equal(l.failed + l.refused, 0);
	assert_false(f->started || f->ended || f->failed);
}

static void a_sink_hears_of_every_attach_that_failed(void **state)
{
	struct fixture *f = *state;
	struct listener l = {0};

	add_listener(f, &l);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(attach(f, 42), -EBUSY);
	assert_int_equal(l.refused, 1);
	assert_int_equal(l.error, EBUSY);
	assert_false(f->failed); /* Who asked has been told by the call. */
	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	assert_int_equal(l.failed, 1);
	assert_int_equal(l.error, ESRCH);
	assert_int_equal(l.finished, 0);
}

/* ---------------------------------------------------------------- side effects */

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

	s.objects = true;
	s.objects_max = 100;
	for (size_t i = 0; i < PAIR_KINDS; i++)
		s.kinds[pair_kinds[i].kind] = pairs;
	return s;
}

static void objects_are_switched_off_in_mid_window_when_collections_rise(void **state)
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

static void a_window_for_objects_alone_then_ends_early_and_says_why(void **state)
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

static void a_broker_without_watchers_leaves_objects_without_a_baseline(void **state)
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

static void events_are_asked_of_the_broker_and_passed_on(void **state)
{
	struct broker_reply reply = {.operation = BROKER_PERF_OPEN, .fds = 1};
	struct fixture *f = *state;
	int agent = start(f), fds[FD_PASS_MAX], opened = dup(0);
	Jxp__EngineFrame *frame;
	size_t count;

	agent_send_perf_open(agent, 99);
	loop_settle(&f->loop);
	assert_int_not_equal(fake_broker.perf_id, 0);
	assert_int_equal(fake_broker.perf_tid, 99);
	fake_broker.perf_fn(fake_broker.perf_arg, &reply, &opened);
	assert_int_equal(opened, -1); /* taken */
	loop_settle(&f->loop);
	frame = agent_receive(agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_PERF_OPENED);
	assert_int_equal(count, 1);
	fd_close_all(fds, count);
	jxp__engine_frame__free_unpacked(frame, NULL);
	(void)close(agent);
}

static void a_broker_that_has_no_room_is_an_answer_too(void **state)
{
	struct fixture *f = *state;
	int agent = start(f), fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	fake_broker.refuse = EAGAIN;
	agent_send_perf_open(agent, 99);
	loop_settle(&f->loop);
	frame = agent_receive(agent, fds, &count);
	assert_int_equal(frame->perf_opened->error, EAGAIN);
	jxp__engine_frame__free_unpacked(frame, NULL);
	(void)close(agent);
}

static void an_open_question_to_the_broker_is_forgotten_with_the_session(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);

	agent_send_perf_open(agent, 99);
	loop_settle(&f->loop);
	assert_int_not_equal(fake_broker.perf_id, 0);
	(void)close(agent);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(fake_broker.perf_id, 0);
}

static void on_stopped(void *arg)
{
	((struct fixture *)arg)->stopped = true;
}
static void a_window_that_waits_ends_with_the_daemon(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	engine_stop(f->engine, on_stopped, f);
	assert_false(f->stopped);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->stopped);
	assert_true(f->failed);
}

static void stopping_waits_for_the_windows_to_end(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);

	engine_stop(f->engine, on_stopped, f);
	loop_settle(&f->loop);
	assert_false(f->stopped);
	assert_int_equal(attach(f, 43), -EBUSY);
	agent_leave(agent, "");
	loop_until(&f->loop, &f->stopped);
	assert_true(f->ended);
}

static void stopping_an_idle_engine_is_immediate(void **state)
{
	struct fixture *f = *state;

	engine_stop(f->engine, on_stopped, f);
	assert_true(f->stopped);
}

static void too_many_windows_are_refused(void **state)
{
	struct fixture *f = *state;

	for (int pid = 1; pid <= ENGINE_RUNNING_MAX; pid++)
		assert_int_equal(attach(f, pid), 0);
	assert_int_equal(attach(f, 1000), -EBUSY);
	assert_non_null(strstr(f->err.message, "limit"));
}

/* ---------------------------------------------------------------- gate */

/* Attaches to 42 where the kernel has a gate. The agent's socket; its hello is sent. */
static int start_gated(struct fixture *f)
{
	int agent;

	fake_broker.gate = true;
	assert_int_equal(attach(f, 42), 0);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	return agent;
}

static void open_gate(struct fixture *f, int agent)
{
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	fake_broker_answer_gate(0, NULL, fcntl(agent, F_DUPFD_CLOEXEC, 0)); /* Any descriptor. */
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_HELLO);
	frame = agent_receive(agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_START);
	assert_true(frame->start->kernel_gate);
	assert_int_equal(count, 1);
	assert_int_equal(fake_broker.gate_limits.window_end_ns, frame->start->deadline_ns);
	jxp__engine_frame__free_unpacked(frame, NULL);
	fd_close_all(fds, count);
}

static void a_window_starts_when_its_gate_is_open(void **state)
{
	struct fixture *f = *state;
	int agent = start_gated(f);

	loop_settle(&f->loop);
	assert_false(f->started);
	assert_true(fake_broker.gate_limits.window_end_ns > clock_monotonic_ns());
	open_gate(f, agent);
	assert_string_equal(window_result_gate(engine_find_running(f->engine, 42)), "bpf");
	(void)close(agent);
}

static void without_a_gate_the_window_says_why_and_starts(void **state)
{
	struct fixture *f = *state;
	int agent = start_gated(f);

	fake_broker_answer_gate(EPERM, NULL, -1);
	loop_until(&f->loop, &f->started);
	assert_string_equal(window_result_gate(engine_find_running(f->engine, 42)), "agent");
	assert_string_equal(engine_find_running(f->engine, 42)->findings.gate_reason, "not today");
	(void)close(agent);
}

static void a_window_has_the_gates_last_counts(void **state)
{
	struct gate_counts counts = {
	    .samples = {[GATE_PASSED] = 7, [GATE_BUDGET_SPENT] = 3, [GATE_UNKNOWN] = 5}};
	struct fixture *f = *state;
	int agent = start_gated(f);
	const struct window_result *w;
	struct listener l = {0};

	add_listener(f, &l);
	open_gate(f, agent);
	fake_broker_answer_gate(0, &counts, -1); /* What was asked at the start. */
	agent_leave(agent, "");
	while (fake_broker.gate_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_true(fake_broker.gate_removed);
	assert_false(f->ended);
	counts.samples[GATE_BUDGET_SPENT] = 4;
	fake_broker_answer_gate(0, &counts, -1);
	assert_true(f->ended);
	w = engine_find_window(f->engine, "w1");
	assert_int_equal(w->counters[JXP__COUNTER__COUNTER_GATE_PASSED], 7);
	assert_int_equal(w->counters[JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT], 4);
	assert_int_equal(l.strangers, 5);
}

static void detaching_shuts_the_gate_at_once(void **state)
{
	struct fixture *f = *state;
	int agent = start_gated(f);
	char id[WINDOW_ID_BYTES];

	open_gate(f, agent);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_true(fake_broker.gate_limits.window_end_ns <= clock_monotonic_ns());
	assert_false(fake_broker.gate_removed);
	(void)close(agent);
}

/* To where the session is over and the broker has been asked for the gate's last counts. */
static void end_up_to_the_last_counts(struct fixture *f)
{
	int agent = start_gated(f);

	open_gate(f, agent);
	fake_broker_answer_gate(0, NULL, -1); /* What was asked at the start. */
	agent_leave(agent, "");
	while (fake_broker.gate_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_true(fake_broker.gate_removed);
	assert_false(f->ended);
}

static void a_detach_that_comes_while_the_last_counts_are_awaited_loses_nothing(void **state)
{
	struct gate_counts counts = {.samples = {[GATE_PASSED] = 7}};
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	end_up_to_the_last_counts(f);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_true(fake_broker.gate_removed); /* Still the last request. */
	fake_broker_answer_gate(0, &counts, -1);
	assert_true(f->ended);
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(
	    engine_find_window(f->engine, "w1")->counters[JXP__COUNTER__COUNTER_GATE_PASSED], 7);
	assert_int_equal(attach(f, 42), 0);
}

static void a_client_that_leaves_while_the_last_counts_are_awaited_strands_nothing(void **state)
{
	struct fixture *f = *state;

	end_up_to_the_last_counts(f);
	engine_forget_observer(f->engine, f);
	fake_broker_answer_gate(0, NULL, -1);
	assert_false(f->ended); /* Nobody was told, */
	assert_false(engine_is_profiled(f->engine, 42));
	assert_non_null(engine_find_window(f->engine, "w1")); /* and it is there. */
}

static void stopping_while_the_last_counts_are_awaited_comes_to_an_end(void **state)
{
	struct fixture *f = *state;

	end_up_to_the_last_counts(f);
	engine_stop(f->engine, on_stopped, f);
	assert_false(f->stopped);
	fake_broker_answer_gate(0, NULL, -1);
	assert_true(f->ended);
	assert_true(f->stopped);
}

/* ---------------------------------------------------------------- a broker that does not answer */

static void an_attach_that_is_never_answered_fails_in_time(void **state)
{
	struct fixture *f = *state;

	engine_set_patience(f->engine, 20);
	assert_int_equal(attach(f, 42), 0);
	loop_until(&f->loop, &f->failed);
	assert_non_null(strstr(f->message, "does not answer"));
	assert_int_equal(fake_broker.attach_id, 0); /* forgotten, */
	assert_int_equal(fake_broker.released, 42); /* and called off */
	assert_false(engine_is_profiled(f->engine, 42));
}

static void stopping_does_not_wait_for_an_attach_that_is_never_answered(void **state)
{
	struct fixture *f = *state;

	engine_set_patience(f->engine, 20);
	assert_int_equal(attach(f, 42), 0);
	engine_stop(f->engine, on_stopped, f);
	loop_until(&f->loop, &f->stopped);
	assert_string_equal(f->message, "the daemon was stopped");
}

static void last_counts_that_never_come_do_not_hold_the_window_up(void **state)
{
	struct fixture *f = *state;

	end_up_to_the_last_counts(f);
	engine_set_patience(f->engine, 20);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(fake_broker.gate_id, 0);
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_ENDED_EARLY);
}

static void the_gate_follows_the_period_that_the_budget_leads_to(void **state)
{
	struct fixture *f = *state;
	Jxp__Batch batch = JXP__BATCH__INIT;
	int agent = start_gated(f);
	uint64_t interval_ns;

	open_gate(f, agent);
	interval_ns = fake_broker.gate_limits.interval_ns;
	fake_broker_answer_gate(0, NULL, -1);
	batch.period = 10 * sample_findings.period;
	do {
		agent_send_batch(agent, &batch);
		loop_settle(&f->loop);
	} while (fake_broker.gate_id == 0);
	assert_int_equal(fake_broker.gate_limits.interval_ns, 10 * interval_ns);
	(void)close(agent);
}

/* ---------------------------------------------------------------- whose a JVM is */

static void the_broker_is_told_whose_the_process_has_to_be(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(attach_for(f, &others, 41), 0);
	assert_int_equal(fake_broker.attach_owner, others.uid);
	assert_int_equal(engine_find_window(f->engine, "w1")->owner, others.uid);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(fake_broker.attach_owner, PROC_ANY_UID);
}

static void a_window_is_of_whom_the_broker_says(void **state)
{
	struct fixture *f = *state;
	const struct window_result *w;
	int agent;

	assert_int_equal(attach(f, 42), 0);
	w = engine_find_running(f->engine, 42);
	assert_false(window_asker_sees(&owners, w->owner)); /* Nobody's that is known. */
	agent = fake_broker_connect_agent();
	assert_int_equal(w->owner, FAKE_OWNER);
	assert_true(window_asker_sees(&owners, w->owner));
	assert_false(window_asker_sees(&others, w->owner));
	assert_true(window_asker_sees(&everybodys, w->owner));
	assert_int_equal(w->asker.pid, everybodys.pid);
	(void)close(agent);
}

static void who_may_see_a_window_is_told_of_it_and_others_as_if_there_were_no_process(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);
	struct err absent;

	assert_int_equal(attach_for(f, &owners, 42), -EBUSY);
	assert_non_null(strstr(f->err.message, "already being profiled (window w1)"));
	assert_int_equal(attach_for(f, &others, 42), -ESRCH);
	(void)proc_absent(42, &absent); /* Only its text is wanted. */
	assert_string_equal(f->err.message, absent.message);
	assert_true(engine_is_profiled(f->engine, 42));
	assert_int_equal(fake_broker.releases, 0);
	(void)close(agent);
}

/* Numbers and the list of windows are the same whether another user's JVM is being profiled or
 * there is no such process. */
static void a_hidden_window_leaves_the_trace_of_a_pid_that_nobody_has(void **state)
{
	struct fixture *f = *state;
	int agent = start(f);
	const struct window_result *hidden, *absent;

	assert_int_equal(attach_for(f, &others, 42), -ESRCH);
	assert_int_equal(attach_for(f, &others, 43), 0);
	fake_broker_fail_attach(ESRCH, "no process has the pid 43; see 'jxperfctl list'");
	hidden = engine_find_window(f->engine, "w2");
	absent = engine_find_window(f->engine, "w3");
	assert_non_null(hidden);
	assert_non_null(absent);
	assert_int_equal(hidden->state, absent->state);
	assert_int_equal(hidden->owner, absent->owner);
	assert_string_equal(hidden->reason, "no process has the pid 42; see 'jxperfctl list'");
	assert_int_equal(engine_attach_failures(f->engine), 2);
	(void)close(agent);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_broker_is_told_whose_the_process_has_to_be),
	    TEST(a_window_is_of_whom_the_broker_says),
	    TEST(who_may_see_a_window_is_told_of_it_and_others_as_if_there_were_no_process),
	    TEST(a_hidden_window_leaves_the_trace_of_a_pid_that_nobody_has),
	    cmocka_unit_test_setup_teardown(a_window_runs_from_attach_to_history, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(
		a_scheduled_window_gives_way_to_one_that_somebody_asks_for, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		a_scheduled_window_that_attaches_gives_way_to_the_jvms_owner, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(one_user_has_a_limit_of_windows_and_others_have_room,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_waits_may_be_detached, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_waits_ends_with_the_daemon, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_waits_fails_when_the_broker_does, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_second_attach_names_the_window_and_the_way_out,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_failed_attach_is_told_and_keeps_its_number, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_broker_that_refuses_fails_the_call, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(detaching_ends_the_window_early_with_its_reason, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(detaching_what_is_not_profiled_is_refused, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(detaching_while_the_helper_works_cancels_it, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_comes_after_a_cancel_is_sent_away, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_client_that_leaves_ends_its_window_and_hears_nothing,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_sink_hears_of_windows_that_nobody_waits_for, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_sink_hears_of_every_attach_that_failed, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(
		objects_are_switched_off_in_mid_window_when_collections_rise, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_window_for_objects_alone_then_ends_early_and_says_why,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		a_broker_without_watchers_leaves_objects_without_a_baseline, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(events_are_asked_of_the_broker_and_passed_on, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_broker_that_has_no_room_is_an_answer_too, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(
		an_open_question_to_the_broker_is_forgotten_with_the_session, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(stopping_waits_for_the_windows_to_end, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(stopping_an_idle_engine_is_immediate, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(too_many_windows_are_refused, set_up, tear_down),
	    TEST(a_window_starts_when_its_gate_is_open),
	    TEST(without_a_gate_the_window_says_why_and_starts),
	    TEST(a_window_has_the_gates_last_counts),
	    TEST(detaching_shuts_the_gate_at_once),
	    TEST(the_gate_follows_the_period_that_the_budget_leads_to),
	    TEST(a_detach_that_comes_while_the_last_counts_are_awaited_loses_nothing),
	    TEST(a_client_that_leaves_while_the_last_counts_are_awaited_strands_nothing),
	    TEST(stopping_while_the_last_counts_are_awaited_comes_to_an_end),
	    TEST(an_attach_that_is_never_answered_fails_in_time),
	    TEST(stopping_does_not_wait_for_an_attach_that_is_never_answered),
	    TEST(last_counts_that_never_come_do_not_hold_the_window_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
