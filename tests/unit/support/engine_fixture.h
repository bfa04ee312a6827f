/*
 * An engine over a broker that a test stands in for (tests/unit/support/fake_broker.h), and windows
 * of it as a client sees them. Everything is static so that each test stays one file.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_ENGINE_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_ENGINE_FIXTURE_H

#include <stdio.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/run.h"
#include "daemon/shares/miss.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	uv_loop_t loop;
	struct engine_limits limits;
	struct engine *engine;
	char id[WINDOW_ID_BYTES];
	bool started;
	bool ended;
	bool failed;
	bool stopped;
	char message[256];
	struct err err;
};

__attribute__((unused)) static const struct window_request request = {
    .kinds = {false, true, true, true},
    .duration_ns = UINT64_C(60000000000),
    .budget = 0.01,
    .registers = 4,
    .max_frames = 128};

/* Who may see every JVM, and who FAKE_OWNER's, which all of them are, or another user's only. */
__attribute__((unused)) static const struct window_asker everybodys = {
    .uid = 0, .pid = 1, .sees = PROC_ANY_UID};

__attribute__((unused)) static const struct window_asker owners = {
    .uid = FAKE_OWNER, .pid = 2, .sees = FAKE_OWNER};

__attribute__((unused)) static const struct window_asker others = {.uid = 77, .pid = 3, .sees = 77};

__attribute__((unused)) static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.limits = engine_limits_usual};
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(engine_new(&f.engine, &f.loop, NULL, &f.limits, NULL), 0);
	*state = &f;
	return 0;
}

__attribute__((unused)) static int tear_down(void **state)
{
	struct fixture *f = *state;

	engine_free(f->engine);
	loop_finish(&f->loop);
	return 0;
}

__attribute__((unused)) static void on_started(void *arg, const struct window_result *w)
{
	struct fixture *f = arg;

	assert_string_equal(w->id, f->id);
	f->started = true;
}

__attribute__((unused)) static void on_ended(void *arg, const struct window_result *w)
{
	struct fixture *f = arg;

	assert_string_equal(w->id, f->id);
	assert_false(f->ended || f->failed);
	f->ended = true;
}

__attribute__((unused)) static void on_failed(void *arg, const struct window_result *w, int error,
					      const char *message)
{
	struct fixture *f = arg;

	if (attach_error(error)->no_window)
		assert_string_equal(w->id, "");
	else
		assert_string_equal(w->id, f->id);
	assert_true(error > 0);
	assert_false(f->ended || f->failed);
	f->failed = true;
	(void)snprintf(f->message, sizeof(f->message), "%s", message);
}

__attribute__((unused)) static int attach_for(struct fixture *f, const struct window_asker *asker,
					      pid_t pid)
{
	struct window_sink observer = {
	    .arg = f, .started = on_started, .finished = on_ended, .failed = on_failed};

	return engine_attach(f->engine, asker, pid, &request, &sample_findings, &observer, f->id,
			     &f->err);
}

__attribute__((unused)) static int attach(struct fixture *f, pid_t pid)
{
	return attach_for(f, &everybodys, pid);
}

/* Attaches to 42 and starts the window; returns the agent's socket. */
__attribute__((unused)) static int start(struct fixture *f)
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

struct listener {
	unsigned started, progressed, finished, failed, refused;
	uint64_t strangers;
	int error;
};

__attribute__((unused)) static void heard_started(void *arg, const struct window_result *w)
{
	(void)w;
	((struct listener *)arg)->started++;
}

__attribute__((unused)) static void heard_progressed(void *arg, const struct window_result *w)
{
	(void)w;
	((struct listener *)arg)->progressed++;
}

__attribute__((unused)) static void heard_finished(void *arg, const struct window_result *w)
{
	assert_true(w->finished);
	((struct listener *)arg)->finished++;
}

__attribute__((unused)) static void heard_failed(void *arg, const struct window_result *w,
						 int error, const char *message)
{
	struct listener *l = arg;

	assert_true(message[0]);
	l->error = error;
	if (w && w->id[0])
		l->failed++;
	else
		l->refused++;
}

__attribute__((unused)) static void heard_strangers(void *arg, uint64_t total)
{
	((struct listener *)arg)->strangers = total;
}

__attribute__((unused)) static void add_listener(struct fixture *f, struct listener *l)
{
	const struct window_sink sink = {.arg = l,
					 .started = heard_started,
					 .progressed = heard_progressed,
					 .finished = heard_finished,
					 .failed = heard_failed,
					 .strangers = heard_strangers};

	engine_add_sink(f->engine, &sink);
}

__attribute__((unused)) static void on_stopped(void *arg)
{
	((struct fixture *)arg)->stopped = true;
}

#endif
