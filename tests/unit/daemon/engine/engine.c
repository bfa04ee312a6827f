#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/support/engine_fixture.h"
#include "tests/unit/support/sample_batch.h"

TEST(a_window_runs_from_attach_to_history, set_up, tear_down)
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

TEST(a_second_attach_names_the_window_and_the_way_out, set_up, tear_down)
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

TEST(a_failed_attach_is_told_and_keeps_its_number, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(attach(f, 42), 0);
	fake_broker_fail_attach(EPERM, "it may not be");
	assert_true(f->failed);
	assert_string_equal(f->message, "it may not be");
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(engine_window_count(f->engine), 1);
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_FAILED);
	assert_string_equal(engine_find_window(f->engine, "w1")->reason, "it may not be");
	assert_int_equal(engine_attach_failures(f->engine), 1);
	assert_int_equal(engine_windows_total(f->engine), 0);
	assert_int_equal(attach(f, 42), 0);
	assert_string_equal(f->id, "w2");
}

TEST(a_broker_that_refuses_fails_the_call, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_broker.refuse = EAGAIN;
	assert_int_equal(attach(f, 42), -EAGAIN);
	assert_false(engine_is_profiled(f->engine, 42));
}

static void send_pair(int agent)
{
	struct sample_batch sample;

	sample_batch_init(&sample);
	(void)sample_pair(&sample, JXP__KIND__KIND_DEAD_STORE, 2, 3, 8, 1);
	agent_send_batch(agent, &sample.batch);
}

TEST(a_window_that_takes_too_much_memory_ends_whatever_its_agent_does, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct window_result *w;
	int agent = start(f);

	f->limits.window_bytes = 1;
	send_pair(agent);
	loop_until(&f->loop, &f->ended); /* The agent has not left. */
	w = engine_find_window(f->engine, "w1");
	assert_int_equal(w->state, WINDOW_ENDED_EARLY);
	assert_true(w->took_too_much);
	assert_non_null(strstr(w->reason, "it took more memory"));
	assert_int_equal(w->profile.pair_count, 1); /* What came is in it. */
	(void)close(agent);
}

/* 43 has said nothing yet. */
TEST(where_all_take_too_much_together_the_largest_ends, set_up, tear_down)
{
	struct fixture *f = *state;
	int other, agent = start(f);

	send_pair(agent);
	loop_settle(&f->loop);
	assert_int_equal(attach_for(f, &everybodys, 43), 0);
	(void)snprintf(f->id, sizeof(f->id), "w2");
	f->started = false;
	other = fake_broker_connect_agent();
	agent_send_hello(other, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	f->limits.running_bytes = 1;
	(void)snprintf(f->id, sizeof(f->id), "w1");
	agent_send_batch(other, &(Jxp__Batch)JXP__BATCH__INIT);
	loop_until(&f->loop, &f->ended);
	assert_non_null(
	    strstr(engine_find_window(f->engine, "w1")->reason, "all windows took more memory"));
	assert_true(engine_is_profiled(f->engine, 43));
	(void)close(agent);
	(void)close(other);
}

TEST(detaching_ends_the_window_early_with_its_reason, set_up, tear_down)
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

TEST(detaching_what_is_not_profiled_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	assert_int_equal(engine_detach(f->engine, 42, "", id, &f->err), -ESRCH);
	assert_non_null(strstr(f->err.message, "pid 42"));
}

TEST(detaching_while_the_helper_works_cancels_it, set_up, tear_down)
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

TEST(an_agent_that_comes_after_a_cancel_is_sent_away, set_up, tear_down)
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

TEST(a_client_that_leaves_ends_its_window_and_hears_nothing, set_up, tear_down)
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

TEST(a_sink_hears_of_windows_that_nobody_waits_for, set_up, tear_down)
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

TEST(a_sink_hears_of_every_attach_that_failed, set_up, tear_down)
{
	struct fixture *f = *state;
	struct listener l = {0};

	add_listener(f, &l);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(attach(f, 42), -EBUSY);
	assert_int_equal(l.refused, 1);
	assert_int_equal(l.error, EBUSY);
	assert_false(f->failed); /* Who asked has been told by the call. */
	fake_broker_fail_attach(EPERM, "it may not be");
	assert_int_equal(l.failed, 1);
	assert_int_equal(l.error, EPERM);
	assert_int_equal(l.finished, 0);
}

TEST(events_are_asked_of_the_broker_and_passed_on, set_up, tear_down)
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

TEST(a_broker_that_has_no_room_is_an_answer_too, set_up, tear_down)
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

TEST(an_open_question_to_the_broker_is_forgotten_with_the_session, set_up, tear_down)
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

TEST(stopping_waits_for_the_windows_to_end, set_up, tear_down)
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

TEST(stopping_an_idle_engine_is_immediate, set_up, tear_down)
{
	struct fixture *f = *state;

	engine_stop(f->engine, on_stopped, f);
	assert_true(f->stopped);
}

TEST(too_many_windows_are_refused, set_up, tear_down)
{
	struct fixture *f = *state;

	for (int pid = 1; pid <= ENGINE_RUNNING_MAX; pid++)
		assert_int_equal(attach(f, pid), 0);
	assert_int_equal(attach(f, 1000), -EBUSY);
	assert_non_null(strstr(f->err.message, "limit"));
}

TEST(an_attach_that_is_never_answered_fails_in_time, set_up, tear_down)
{
	struct fixture *f = *state;

	f->limits.patience_ms = 20;
	assert_int_equal(attach(f, 42), 0);
	loop_until(&f->loop, &f->failed);
	assert_non_null(strstr(f->message, "does not answer"));
	assert_int_equal(fake_broker.attach_id, 0); /* forgotten, */
	assert_int_equal(fake_broker.released, 42); /* and called off */
	assert_false(engine_is_profiled(f->engine, 42));
}

TEST(stopping_does_not_wait_for_an_attach_that_is_never_answered, set_up, tear_down)
{
	struct fixture *f = *state;

	f->limits.patience_ms = 20;
	assert_int_equal(attach(f, 42), 0);
	engine_stop(f->engine, on_stopped, f);
	loop_until(&f->loop, &f->stopped);
	assert_string_equal(f->message, "the daemon was stopped");
}
