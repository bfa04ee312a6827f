#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "daemon/engine/app_name.h"
#include "daemon/questions/inspections.h"
#include "daemon/engine/run.h"
#include "proto/code_image.h"
#include "tests/unit/support/busy_machine.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	uv_loop_t loop;
	struct window_result *window; /* kept, for what it is in the end */
	struct run *run;
	int agent;
	bool started;
	bool progressed;
	uint64_t told; /* ticks whose loops were known when it last had */
	bool ended;
	int error;
	char message[256];
	struct inspections *inspections; /* NULL: no name is looked for */
};

static void on_started(void *arg, const struct run *r)
{
	struct fixture *f = arg;

	assert_ptr_equal(run_result(r), f->window);
	f->started = true;
}

static void on_progressed(void *arg, const struct run *r)
{
	struct fixture *f = arg;

	f->progressed = true;
	f->told = run_result(r)->loops.looked_at.samples;
}

static void on_ended(void *arg, struct run *r, int error, const char *message)
{
	struct fixture *f = arg;

	assert_false(f->ended);
	assert_ptr_equal(r, f->run);
	assert_int_equal(run_state(r), RUN_ENDED);
	assert_true(run_result(r)->finished);
	assert_int_equal(run_result(r)->state == WINDOW_FAILED, error != 0);
	f->ended = true;
	f->error = error;
	(void)snprintf(f->message, sizeof(f->message), "%s", message);
	run_free(r);
	f->run = NULL;
}

static bool has_rules(void *arg)
{
	(void)arg;
	return true;
}

static bool name_nothing(void *arg, const Jxp__Jvm *jvm, char app[WINDOW_NAME_BYTES],
			 char version[WINDOW_NAME_BYTES])
{
	(void)version;
	(void)arg;
	(void)jvm;
	(void)app;
	return false;
}

/* The broker has been asked to attach, and has so long for an answer. */
static int begin_attaching(void **state, uint64_t patience_ms, bool named_by_rules)
{
	static struct fixture f;
	static const struct window_request request = {.kinds = {false, true, false, true},
						      .duration_ns = 60 * NS_PER_S,
						      .budget = 0.01,
						      .registers = 4,
						      .max_frames = 128};
	struct run_callbacks callbacks = {
	    .arg = &f, .started = on_started, .progressed = on_progressed, .ended = on_ended};
	struct run_context context = {.loop = &f.loop, .patience_ms = patience_ms};
	const struct run_namer namer = {.rules = has_rules, .name = name_nothing};

	f = (struct fixture){.agent = -1};
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	if (named_by_rules) {
		f.inspections = context.inspections = inspections_new(&f.loop, NULL);
		context.namer = namer;
	}
	f.window = window_result_new(1, 42, &request, &sample_findings);
	assert_int_equal(run_new(&f.run, &context, window_result_keep(f.window), &callbacks, NULL),
			 0);
	assert_int_equal(run_state(f.run), RUN_WAITING);
	assert_int_equal(run_begin(f.run, NULL), 0);
	assert_int_equal(run_state(f.run), RUN_ATTACHING);
	*state = &f;
	return 0;
}

static int set_up_attaching(void **state)
{
	return begin_attaching(state, 30000, false);
}

static int set_up_impatient(void **state)
{
	return begin_attaching(state, 10, false);
}

static int set_up_named(void **state)
{
	return begin_attaching(state, 100, true);
}

/* The agent is connected, without a gate. */
static int set_up(void **state)
{
	struct fixture *f;
	int r = set_up_attaching(state);

	f = *state;
	f->agent = fake_broker_connect_agent();
	assert_int_equal(run_state(f->run), RUN_GREETING);
	return r;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	run_free(f->run);
	inspections_free(f->inspections);
	if (f->agent >= 0)
		(void)close(f->agent);
	loop_finish(&f->loop);
	window_result_free(f->window);
	return 0;
}

static void agent_close(struct fixture *f)
{
	(void)close(f->agent);
	f->agent = -1;
}

static void leave(struct fixture *f, const char *error)
{
	agent_leave(f->agent, error);
	f->agent = -1;
}

/* Hello, answered by hello and start. */
static void start(struct fixture *f)
{
	agent_send_hello(f->agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_START);
}

/* Its time is over, and the agent was told. */
static void stop_in_time(struct fixture *f)
{
	while (run_state(f->run) == RUN_RUNNING)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(run_state(f->run), RUN_STOPPING);
}

static void send_pair(struct fixture *f)
{
	struct sample_batch sample;

	sample_batch_init(&sample);
	sample.counters[JXP__COUNTER__COUNTER_TICKS] = 1;
	(void)sample_pair(&sample, JXP__KIND__KIND_DEAD_STORE, 2, 3, 8, 1);
	agent_send_batch(f->agent, &sample.batch);
}

static void assert_ended_early(struct fixture *f, const char *why)
{
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_ENDED_EARLY);
	assert_non_null(strstr(f->window->reason, why));
}

static void assert_failed(struct fixture *f, const char *why)
{
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_FAILED);
	assert_non_null(strstr(f->window->reason, why));
}

TEST(hello_is_answered_and_the_window_starts_as_asked, set_up, tear_down)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	agent_send_hello(f->agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_HELLO);
	assert_int_equal(frame->hello->protocol, PROTOCOL_VERSION);
	assert_string_equal(frame->hello->refusal, "");
	jxp__engine_frame__free_unpacked(frame, NULL);
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_START);
	assert_int_equal(frame->start->n_kinds, 2);
	assert_int_equal(frame->start->kinds[0], JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(frame->start->kinds[1], JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(frame->start->period_ns, 5 * NS_PER_MS);
	assert_int_equal(frame->start->registers, 4);
	assert_true(frame->start->deadline_ns > clock_monotonic_ns() + 55 * NS_PER_S);
	assert_true(frame->start->deadline_ns < clock_monotonic_ns() + 61 * NS_PER_S);
	jxp__engine_frame__free_unpacked(frame, NULL);
	assert_string_equal(f->window->app, "Main"); /* Not for the agent to say. */
	assert_string_equal(f->window->gc, "G1");
	assert_int_equal(f->window->state, WINDOW_RUNNING);
}

TEST(another_protocol_is_refused_in_words_to_both_sides, set_up, tear_down)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	agent_send_hello(f->agent, PROTOCOL_VERSION + 1);
	assert_failed(f, "protocol 5 and this daemon 4");
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_HELLO);
	assert_non_null(strstr(frame->hello->refusal, "protocol 5 and this daemon 4"));
	jxp__engine_frame__free_unpacked(frame, NULL);
	assert_false(f->started);
}

TEST(a_stopped_window_is_done_when_the_agent_says_so, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.duration_ns = 20 * NS_PER_MS;
	start(f);
	send_pair(f);
	loop_until(&f->loop, &f->progressed);
	stop_in_time(f);
	loop_settle(&f->loop);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_STOP);
	assert_false(f->ended);
	leave(f, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_DONE);
	assert_int_equal(f->window->profile.pair_count, 1);
}

TEST(batches_after_the_stop_still_count, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	run_stop(f->run, "it was detached on request");
	send_pair(f);
	leave(f, "");
	assert_ended_early(f, "detached on request");
	assert_int_equal(f->window->profile.pair_count, 1);
}

TEST(an_agent_that_ends_by_itself_at_its_deadline_is_done, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct timespec duration = {.tv_nsec = 20 * (long)NS_PER_MS};

	f->window->request.duration_ns = 20 * NS_PER_MS;
	start(f);
	assert_int_equal(nanosleep(&duration, NULL), 0);
	leave(f, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_DONE);
}

TEST(an_agent_that_ends_before_its_deadline_ends_early, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	leave(f, "");
	assert_ended_early(f, "the target exited");
	assert_true(f->window->target_ended);
	assert_int_equal(f->window->profile.pair_count, 1);
}

TEST(the_end_is_told_when_the_agent_has_left, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.duration_ns = 20 * NS_PER_MS;
	start(f);
	stop_in_time(f);
	agent_send_ended(f->agent, "");
	loop_settle(&f->loop);
	assert_int_equal(f->window->state, WINDOW_DONE);
	assert_false(f->ended);
	agent_close(f);
	loop_settle(&f->loop);
	assert_true(f->ended);
}

TEST(an_agent_that_does_not_leave_is_not_waited_for_long, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.duration_ns = 20 * NS_PER_MS;
	start(f);
	stop_in_time(f);
	agent_send_ended(f->agent, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_DONE);
}

TEST(the_window_is_stopped_when_its_time_is_over, set_up, tear_down)
{
	struct fixture *f = *state;
	char byte;

	f->window->request.duration_ns = 20 * NS_PER_MS;
	start(f);
	while (recv(f->agent, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_STOP);
	assert_false(f->ended);
}

TEST(a_target_that_dies_leaves_what_had_arrived, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	agent_close(f);
	assert_ended_early(f, "exited or was killed");
	assert_true(f->window->target_ended);
	assert_int_equal(f->window->profile.pair_count, 1);
}

TEST(a_window_that_cannot_run_fails_with_the_agents_reason, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	leave(f, "no perf event may be opened");
	assert_failed(f, "no perf event may be opened");
}

TEST(an_agent_error_after_the_first_tick_ends_early, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	leave(f, "out of memory");
	assert_ended_early(f, "out of memory");
	assert_false(f->window->target_ended);
}

TEST(an_agent_that_closes_before_hello_fails, set_up, tear_down)
{
	struct fixture *f = *state;

	agent_close(f);
	assert_failed(f, "exited or was killed");
}

TEST(stopping_before_hello_fails_at_once, set_up, tear_down)
{
	struct fixture *f = *state;

	run_stop(f->run, "it was detached on request");
	assert_false(f->ended); /* never from inside the call */
	assert_failed(f, "detached on request");
}

TEST(a_malformed_frame_ends_the_window, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	assert_int_equal(fd_write_all(f->agent, "\3\0\0\0\xff\xff\xff", 7), 0);
	assert_ended_early(f, "malformed");
	assert_int_equal(f->window->profile.pair_count, 1);
}

/* Of a batch that has a whole record, and one more byte, or fewer. */
static void expect_malformed(struct fixture *f, uint16_t type, uint16_t size, int more)
{
	static struct sample_events events;
	Jxp__Batch batch = JXP__BATCH__INIT;
	struct event_head *head = sample_event(&events, &batch, EVENT_TICK);

	*head = (struct event_head){.type = type, .size = size};
	batch.events.len += (size_t)more;
	start(f);
	agent_send_batch(f->agent, &batch);
	assert_ended_early(f, "malformed");
	assert_int_equal(f->window->cpu.context_count, 0);
}

TEST(events_of_an_unknown_type_end_the_window, set_up, tear_down)
{
	expect_malformed(*state, EVENT_TYPES, sizeof(struct event_tick), 0);
}

TEST(events_of_another_size_end_the_window, set_up, tear_down)
{
	expect_malformed(*state, EVENT_TICK, sizeof(struct event_tick) - 8, 0);
}

TEST(events_that_are_cut_off_end_the_window, set_up, tear_down)
{
	expect_malformed(*state, EVENT_TICK, sizeof(struct event_tick), -1);
}

TEST(bytes_behind_the_events_end_the_window, set_up, tear_down)
{
	expect_malformed(*state, EVENT_TICK, sizeof(struct event_tick), 1);
}

TEST(a_frame_of_an_absurd_length_ends_the_window, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	assert_int_equal(fd_write_all(f->agent, "\xff\xff\xff\xff", 4), 0);
	assert_ended_early(f, "limits");
}

TEST(an_unknown_frame_ends_the_window, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	assert_int_equal(fd_write_all(f->agent, "\3\0\0\0\xf2\x7f\0", 7), 0); /* field 2046 */
	assert_ended_early(f, "unknown kind");
}

TEST(a_second_hello_ends_the_window, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	agent_send_hello(f->agent, PROTOCOL_VERSION);
	assert_ended_early(f, "hello out of turn");
}

TEST(nothing_is_accepted_before_hello, set_up, tear_down)
{
	struct fixture *f = *state;

	send_pair(f);
	assert_failed(f, "outside its window");
	assert_int_equal(f->window->profile.pair_count, 0);
}

/* ---------------------------------------------------------------- questions about events */

TEST(events_are_asked_of_the_broker_and_passed_on, set_up, tear_down)
{
	struct broker_reply reply = {.operation = BROKER_PERF_OPEN, .error = EACCES};
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	start(f);
	agent_send_perf_open(f->agent, 99);
	loop_settle(&f->loop);
	assert_int_equal(fake_broker.perf_tid, 99);
	fake_broker.perf_fn(fake_broker.perf_arg, &reply, NULL);
	loop_settle(&f->loop);
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->perf_opened->error, EACCES);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(an_agent_that_does_not_read_is_cut_off, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	fake_broker.refuse = EAGAIN; /* At once. */
	for (int i = 0; i < 200000 && !f->ended; i++) {
		agent_send_perf_open(f->agent, 9);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	assert_ended_early(f, "asked for more events than a JVM has threads");
}

/* ---------------------------------------------------------------- before the agent is there */

TEST(a_refused_attach_fails_with_the_brokers_words, set_up_attaching, tear_down)
{
	struct fixture *f = *state;

	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	assert_true(f->ended);
	assert_int_equal(f->error, ESRCH);
	assert_string_equal(f->message, "no process has the pid 42");
	assert_int_equal(fake_broker.released, 42);
}

TEST(a_stop_before_the_agent_is_there_waits_for_the_brokers_answer, set_up_attaching, tear_down)
{
	struct fixture *f = *state;

	run_stop(f->run, "it was detached on request");
	assert_int_equal(run_state(f->run), RUN_CANCELLED);
	assert_int_equal(fake_broker.released, 42);
	run_stop(f->run, "the daemon was stopped"); /* The last word. */
	f->agent = fake_broker_connect_agent();
	assert_true(f->ended);
	assert_int_equal(f->error, ECANCELED);
	assert_string_equal(f->message, "the daemon was stopped");
}

TEST(a_stop_while_the_gate_is_opened_does_too, set_up_attaching, tear_down)
{
	struct fixture *f = *state;

	fake_broker.gate = true;
	f->agent = fake_broker_connect_agent();
	assert_int_equal(run_state(f->run), RUN_OPENING_GATE);
	run_stop(f->run, "it was detached on request");
	assert_int_equal(run_state(f->run), RUN_CANCELLED);
	fake_broker_answer_gate(EPERM, NULL, -1);
	assert_true(f->ended);
	assert_int_equal(f->error, ECANCELED);
}

TEST(a_broker_that_never_answers_is_given_up, set_up_impatient, tear_down)
{
	struct fixture *f = *state;

	run_stop(f->run, "it was detached on request");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->error, ETIMEDOUT);
	assert_string_equal(f->message, "it was detached on request");
}

TEST(an_open_gate_that_is_never_heard_of_fails_the_run, set_up_impatient, tear_down)
{
	struct fixture *f = *state;

	fake_broker.gate = true;
	f->agent = fake_broker_connect_agent();
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->error, ETIMEDOUT);
	assert_non_null(strstr(f->message, "does not answer"));
	assert_int_equal(fake_broker.gate_id, 0);
}

TEST(an_agent_without_a_processor_has_more_time_to_say_hello, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t until = clock_monotonic_ns() + (RUN_GREETING_MS + 500) * NS_PER_MS;

	busy_machine_begin();
	while (clock_monotonic_ns() < until) {
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
		(void)usleep(10000);
	}
	busy_machine_end();
	assert_false(f->ended);
	assert_int_equal(run_state(f->run), RUN_GREETING);
}

/* ---------------------------------------------------------------- the gate's last counts */

TEST(the_last_counts_are_awaited_and_nothing_disturbs_them, set_up_attaching, tear_down)
{
	struct gate_counts counts = {.samples = {[GATE_PASSED] = 7}};
	struct fixture *f = *state;

	fake_broker.gate = true;
	f->agent = fake_broker_connect_agent();
	fake_broker_answer_gate(0, NULL, open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_int_equal(run_state(f->run), RUN_GREETING);
	agent_close(f);
	while (run_state(f->run) != RUN_CLOSING_GATE)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	run_stop(f->run, "the daemon was stopped");
	assert_int_equal(run_state(f->run), RUN_CLOSING_GATE);
	assert_true(fake_broker.gate_removed);
	fake_broker_answer_gate(0, &counts, -1);
	assert_true(f->ended);
	assert_int_equal(f->error, ECONNABORTED);
	assert_non_null(strstr(f->message, "exited or was killed"));
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_GATE_PASSED], 7);
}

/* ---------------------------------------------------------------- stopping */

TEST(a_stop_is_the_first_ones_whatever_comes_later, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	run_stop(f->run, "it was detached on request");
	assert_int_equal(run_state(f->run), RUN_STOPPING);
	run_stop(f->run, "the daemon was stopped");
	agent_send_ended(f->agent, "");
	while (run_state(f->run) != RUN_LEAVING)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	run_stop(f->run, "the daemon was stopped");
	assert_int_equal(run_state(f->run), RUN_LEAVING);
	agent_close(f);
	assert_ended_early(f, "detached on request");
}

TEST(events_after_the_end_are_out_of_turn, set_up, tear_down)
{
	struct fixture *f = *state;

	start(f);
	run_stop(f->run, "it was detached on request");
	agent_send_ended(f->agent, "");
	send_pair(f);
	assert_ended_early(f, "detached on request");
	assert_int_equal(f->window->profile.pair_count, 0);
}

TEST(numa_alone_on_one_node_is_done_at_once, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_DEAD_STORE] = false;
	f->window->request.kinds[JXP__KIND__KIND_SILENT_LOAD] = false;
	f->window->request.kinds[JXP__KIND__KIND_NUMA] = true;
	agent_send_hello(f->agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->ended);
	assert_true(f->started);
	assert_int_equal(f->error, 0);
	assert_int_equal(f->window->state, WINDOW_DONE);
}

TEST(threads_are_known_while_the_agent_talks, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(run_result(f->run)->threads.count, 0);
	start(f);
	send_pair(f);
	loop_until(&f->loop, &f->progressed);
	assert_int_not_equal(run_result(f->run)->threads.count, 0);
}

static void send_ticks(struct fixture *f, unsigned count)
{
	static struct sample_events events;
	Jxp__Batch batch = JXP__BATCH__INIT;

	for (unsigned i = 0; i < count; i++) {
		struct event_tick *tick = sample_event(&events, &batch, EVENT_TICK);

		tick->state = JXP__CPU_SAMPLE__STATE__COMPILED;
		tick->cpu_ns = 5 * NS_PER_MS;
		tick->code = 77;
	}
	f->progressed = false;
	agent_send_batch(f->agent, &batch);
	loop_until(&f->loop, &f->progressed);
}

/* Whatever comes of its code, the window goes on. */
TEST(code_that_ticks_are_in_is_asked_for_and_analysed, set_up, tear_down)
{
	struct fixture *f = *state;
	uint8_t ret = 0xc3;
	struct code_method method = {.name = 2};
	Jxp__CodeImage image = JXP__CODE_IMAGE__INIT, *images[] = {&image};
	struct sample_batch sample;

	f->window->request.kinds[JXP__KIND__KIND_CPU] =
	    f->window->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	start(f);
	send_ticks(f, 50);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_CODE_REQUEST);
	sample_batch_init(&sample);
	image.code = 77;
	image.method = method.name;
	image.methods = (ProtobufCBinaryData){sizeof(method), (uint8_t *)&method};
	image.bytes = (ProtobufCBinaryData){1, &ret};
	sample.batch.codes = images;
	sample.batch.n_codes = 1;
	agent_send_batch(f->agent, &sample.batch);
	while (f->window->loops.looked_at.samples == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->window->loops.looked_at.samples, 50);
	assert_int_equal(f->told, 50);
	assert_int_equal(f->window->losses[LOSS_CODE], 0);
	send_ticks(f, 1);
	assert_int_equal(f->window->loops.looked_at.samples, 51);
}

/* The questions of too many others are before its own. */
TEST(a_window_that_is_not_named_in_time_begins_unnamed, set_up_named, tear_down)
{
	struct fixture *f = *state;

	f->agent = fake_broker_connect_agent();
	assert_int_equal(run_state(f->run), RUN_OPENING_GATE);
	assert_int_not_equal(fake_broker.some_id, 0);
	while (run_state(f->run) == RUN_OPENING_GATE)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(run_state(f->run), RUN_GREETING);
	assert_string_equal(f->window->app, APP_NAME_UNKNOWN);
}

TEST(a_window_that_waits_for_its_name_can_be_ended_at_once, set_up_named, tear_down)
{
	struct fixture *f = *state;

	f->agent = fake_broker_connect_agent();
	run_stop(f->run, "somebody said so");
	assert_int_equal(run_state(f->run), RUN_CANCELLED);
	(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_true(f->ended);
	assert_int_equal(f->error, ECANCELED);
	assert_string_equal(f->window->reason, "somebody said so");
}

/* The counters by application and the alerts go by it. */
TEST(an_agent_that_lies_about_cpu_time_has_what_the_processors_had, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t most_ns = 60 * NS_PER_S * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	Jxp__Batch batch = JXP__BATCH__INIT;

	start(f);
	batch.cpu_ns = batch.overhead_ns = batch.setup_ns = LIMIT_CPU_NS;
	agent_send_batch(f->agent, &batch);
	while (f->window->losses[LOSS_CPU_TIME] == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->window->losses[LOSS_CPU_TIME], 3);
	assert_true(f->window->cpu_ns > 0 && f->window->cpu_ns < most_ns);
	assert_true(f->window->overhead_ns < most_ns && f->window->setup_ns < most_ns);
}

/* The analysis may still be at work. */
TEST(an_agent_may_leave_while_its_code_is_analysed, set_up, tear_down)
{
	struct fixture *f = *state;
	static uint8_t nops[LIMIT_CODE_BYTES];
	struct code_method method = {.name = 2};
	Jxp__CodeImage image = JXP__CODE_IMAGE__INIT, *images[] = {&image};
	struct sample_batch sample;

	f->window->request.kinds[JXP__KIND__KIND_CPU] =
	    f->window->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	start(f);
	send_ticks(f, 50);
	memset(nops, 0x90, sizeof(nops));
	sample_batch_init(&sample);
	image.code = 77;
	image.method = method.name;
	image.methods = (ProtobufCBinaryData){sizeof(method), (uint8_t *)&method};
	image.bytes = (ProtobufCBinaryData){sizeof(nops), nops};
	sample.batch.codes = images;
	sample.batch.n_codes = 1;
	agent_send_batch(f->agent, &sample.batch);
	leave(f, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->error, 0);
}
