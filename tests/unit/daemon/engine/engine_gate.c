#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/support/engine_fixture.h"

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

TEST(a_window_starts_when_its_gate_is_open, set_up, tear_down)
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

TEST(without_a_gate_the_window_says_why_and_starts, set_up, tear_down)
{
	struct fixture *f = *state;
	int agent = start_gated(f);

	fake_broker_answer_gate(EPERM, NULL, -1);
	loop_until(&f->loop, &f->started);
	assert_string_equal(window_result_gate(engine_find_running(f->engine, 42)), "agent");
	assert_string_equal(engine_find_running(f->engine, 42)->findings.gate_reason, "not today");
	(void)close(agent);
}

TEST(a_window_has_the_gates_last_counts, set_up, tear_down)
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

TEST(detaching_shuts_the_gate_at_once, set_up, tear_down)
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

TEST(a_detach_that_comes_while_the_last_counts_are_awaited_loses_nothing, set_up, tear_down)
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

TEST(a_client_that_leaves_while_the_last_counts_are_awaited_strands_nothing, set_up, tear_down)
{
	struct fixture *f = *state;

	end_up_to_the_last_counts(f);
	engine_forget_observer(f->engine, f);
	fake_broker_answer_gate(0, NULL, -1);
	assert_false(f->ended); /* Nobody was told, */
	assert_false(engine_is_profiled(f->engine, 42));
	assert_non_null(engine_find_window(f->engine, "w1")); /* and it is there. */
}

TEST(stopping_while_the_last_counts_are_awaited_comes_to_an_end, set_up, tear_down)
{
	struct fixture *f = *state;

	end_up_to_the_last_counts(f);
	engine_stop(f->engine, on_stopped, f);
	assert_false(f->stopped);
	fake_broker_answer_gate(0, NULL, -1);
	assert_true(f->ended);
	assert_true(f->stopped);
}

TEST(last_counts_that_never_come_do_not_hold_the_window_up, set_up, tear_down)
{
	struct fixture *f = *state;

	f->limits.patience_ms = 500; /* The answers on the way come sooner. */
	end_up_to_the_last_counts(f);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(fake_broker.gate_id, 0);
	assert_false(engine_is_profiled(f->engine, 42));
	assert_int_equal(engine_find_window(f->engine, "w1")->state, WINDOW_ENDED_EARLY);
}

TEST(the_gate_follows_the_period_that_the_budget_leads_to, set_up, tear_down)
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
