/* The wire to an agent: frames both ways, and its questions about events one by one. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "daemon/engine/conversation.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	uv_loop_t loop;
	struct conversation *conversation;
	int agent;
	Jxp__AgentFrame__BodyCase frame; /* the last one that came */
	bool asked;
	bool answer_at_once;
	int answer; /* errno to answer with, 0: EMFILE */
	unsigned questions;
	uint32_t tid;
	uint64_t unasked;
	int ask_error; /* of the last question */
	bool ended;
	bool broken;
	char reason[128]; /* of either */
};

static void on_frame(void *arg, const Jxp__AgentFrame *frame)
{
	struct fixture *f = arg;

	f->frame = frame->body_case;
	if (frame->body_case == JXP__AGENT_FRAME__BODY_PERF_OPEN)
		f->ask_error = conversation_ask(f->conversation, frame->perf_open);
}

static void on_question(void *arg, const Jxp__PerfOpenRequest *request)
{
	struct fixture *f = arg;

	f->asked = true;
	f->questions++;
	f->tid = request->tid;
	if (f->answer_at_once)
		conversation_answer(f->conversation, request->tid, f->answer ? f->answer : EMFILE,
				    NULL, 0);
}

static void on_ended(void *arg, const char *reason)
{
	struct fixture *f = arg;

	assert_false(f->ended);
	f->ended = true;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "closed");
	conversation_close(f->conversation);
}

static void on_broken(void *arg, const char *reason)
{
	struct fixture *f = arg;

	f->broken = true;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

static int set_up(void **state)
{
	static struct fixture f;
	const struct conversation_callbacks callbacks = {.arg = &f,
							 .frame = on_frame,
							 .question = on_question,
							 .ended = on_ended,
							 .broken = on_broken};
	int pair[2];

	f = (struct fixture){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	f.agent = pair[1];
	assert_int_equal(
	    conversation_new(&f.conversation, &f.loop, pair[0], &f.unasked, &callbacks, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	conversation_free(f->conversation);
	if (f->agent >= 0)
		(void)close(f->agent);
	loop_finish(&f->loop);
	return 0;
}

/* ---------------------------------------------------------------- frames */

TEST(frames_are_handed_on_in_whatever_order_they_come, set_up, tear_down)
{
	struct fixture *f = *state;

	agent_send_ended(f->agent, "");
	loop_settle(&f->loop);
	assert_int_equal(f->frame, JXP__AGENT_FRAME__BODY_ENDED);
	agent_send_hello(f->agent, PROTOCOL_VERSION);
	loop_settle(&f->loop);
	assert_int_equal(f->frame, JXP__AGENT_FRAME__BODY_HELLO);
	assert_false(f->ended);
}

TEST(what_is_no_frame_ends_it, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(fd_write_all(f->agent, "\3\0\0\0\xff\xff\xff", 7), 0);
	loop_until(&f->loop, &f->ended);
	assert_non_null(strstr(f->reason, "malformed"));
}

TEST(the_agents_end_has_no_reason, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)close(f->agent);
	f->agent = -1;
	loop_until(&f->loop, &f->ended);
	assert_string_equal(f->reason, "closed");
}

TEST(each_order_is_one_frame, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(conversation_send_hello(f->conversation, PROTOCOL_VERSION, ""), 0);
	assert_int_equal(conversation_send_stop_objects(f->conversation), 0);
	assert_int_equal(conversation_send_objects_met(f->conversation, 20, 3, 64), 0);
	assert_int_equal(conversation_send_stop(f->conversation), 0);
	loop_settle(&f->loop);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_STOP_OBJECTS);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_OBJECTS_MET);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_STOP);
}

TEST(what_is_wanted_of_loops_reaches_the_agent, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_plan plans[2] = {
	    {.plan = 2, .code = 77, .header = 0x40, .count = 3, .places = {1, 5, 9}},
	    {.plan = 3, .code = 78, .load_count = 1, .loads = {{.offset = 0x48, .bytes = 8}}}};
	Jxp__EngineFrame *frame;
	int fds[FD_PASS_MAX];
	size_t passed;

	assert_int_equal(conversation_send_code_request(f->conversation, 77, 6), 0);
	assert_int_equal(conversation_send_loop_plans(f->conversation, plans, 2), 0);
	loop_settle(&f->loop);
	frame = agent_receive(f->agent, fds, &passed);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_CODE_REQUEST);
	assert_int_equal(frame->code_request->code, 77);
	assert_int_equal(frame->code_request->method, 6);
	jxp__engine_frame__free_unpacked(frame, NULL);
	frame = agent_receive(f->agent, fds, &passed);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_LOOP_PLANS);
	assert_int_equal(frame->loop_plans->plans.len, sizeof(plans));
	assert_memory_equal(frame->loop_plans->plans.data, plans, sizeof(plans));
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(an_agent_that_reads_nothing_breaks_it, set_up, tear_down)
{
	struct fixture *f = *state;
	int r = 0;

	for (int i = 0; i < 100000 && r == 0; i++)
		r = conversation_send_stop(f->conversation);
	assert_int_equal(r, -ENOBUFS);
	assert_true(f->broken);
	assert_string_equal(f->reason, "the agent stopped reading what it was sent");
}

TEST(what_is_said_after_the_close_goes_nowhere, set_up, tear_down)
{
	struct fixture *f = *state;

	conversation_close(f->conversation);
	assert_true(conversation_send_stop(f->conversation) < 0);
	assert_false(f->broken);
}

/* ---------------------------------------------------------------- the start */

/* The start that a window of that request and findings is told, with a gate or without. */
static Jxp__EngineFrame *start_of(struct fixture *f, const struct window_request *request,
				  const struct window_findings *findings, int *gate, size_t *passed)
{
	struct window_result *w = window_result_new(1, 42, request, findings);
	Jxp__EngineFrame *frame;
	int fds[FD_PASS_MAX];

	w->objects_from_ns = 777;
	assert_int_equal(conversation_send_start(f->conversation, w, 1234, gate), 0);
	window_result_free(w);
	loop_settle(&f->loop);
	frame = agent_receive(f->agent, fds, passed);
	fd_close_all(fds, *passed);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_START);
	assert_int_equal(frame->start->deadline_ns, 1234);
	assert_int_equal(frame->start->objects_from_ns, 777);
	return frame;
}

TEST(what_was_asked_of_objects_reaches_the_agent, set_up, tear_down)
{
	const struct window_request request = {.kinds = {false, true},
					       .kinds[JXP__KIND__KIND_OBJECTS] = true,
					       .kinds[JXP__KIND__KIND_NUMA] = true,
					       .object_min_size = 4096,
					       .object_min_size_adapts = true,
					       .objects_max = 77};
	struct window_findings findings = sample_findings;
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;
	size_t passed;
	int none = -1;

	findings.numa.node_count = 2;
	frame = start_of(f, &request, &findings, &none, &passed);
	assert_int_equal(frame->start->n_kinds, 3);
	assert_int_equal(frame->start->kinds[0], JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(frame->start->kinds[1], JXP__KIND__KIND_OBJECTS);
	assert_int_equal(frame->start->kinds[2], JXP__KIND__KIND_NUMA);
	assert_int_equal(frame->start->object_min_size, 4096);
	assert_true(frame->start->object_min_size_adapts);
	assert_int_equal(frame->start->objects_max, 77);
	assert_false(frame->start->kernel_gate);
	assert_int_equal(passed, 0);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(one_node_is_not_measured, set_up, tear_down)
{
	const struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
					       .kinds[JXP__KIND__KIND_NUMA] = true};
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;
	size_t passed;
	int none = -1;

	frame = start_of(f, &request, &sample_findings, &none, &passed);
	assert_int_equal(frame->start->n_kinds, 1);
	assert_int_equal(frame->start->kinds[0], JXP__KIND__KIND_OBJECTS);
	assert_int_equal(frame->start->n_events, 0);
	assert_int_equal(frame->start->event_period, 0);
	assert_int_equal(frame->start->period_ns, sample_findings.period);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(loops_are_asked_for_with_ticks, set_up, tear_down)
{
	const struct window_request request = {.kinds[JXP__KIND__KIND_CPU] = true,
					       .kinds[JXP__KIND__KIND_LOOPS] = true};
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;
	size_t passed;
	int none = -1;

	frame = start_of(f, &request, &sample_findings, &none, &passed);
	assert_int_equal(frame->start->n_kinds, 2);
	assert_int_equal(frame->start->kinds[0], JXP__KIND__KIND_CPU);
	assert_int_equal(frame->start->kinds[1], JXP__KIND__KIND_LOOPS);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(the_hardware_events_and_their_period_reach_the_agent, set_up, tear_down)
{
	const struct window_findings findings = {
	    .sampler = JXP__SAMPLER__SAMPLER_PEBS,
	    .period = 1000,
	    .event_count = 2,
	    .events = {{.config = 98}, {.config = 99, .access = PERF_ACCESS_STORES}},
	    .numa = {.node_count = 1},
	};
	const struct window_request request = {.kinds = {false, true}};
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;
	size_t passed;
	int none = -1;

	frame = start_of(f, &request, &findings, &none, &passed);
	assert_int_equal(frame->start->sampler, JXP__SAMPLER__SAMPLER_PEBS);
	assert_int_equal(frame->start->n_events, 2);
	assert_int_equal(frame->start->events[1]->config, 99);
	assert_int_equal(frame->start->events[1]->access, JXP__HARDWARE_EVENT__ACCESS__STORES);
	assert_int_equal(frame->start->event_period, 1000);
	assert_int_equal(frame->start->period_ns, 0);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(the_gates_program_goes_with_the_start, set_up, tear_down)
{
	const struct window_request request = {.kinds = {false, true}};
	int program = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;
	size_t passed;

	frame = start_of(f, &request, &sample_findings, &program, &passed);
	assert_int_equal(program, -1); /* taken */
	assert_true(frame->start->kernel_gate);
	assert_int_equal(passed, 1);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

/* ---------------------------------------------------------------- questions about events */

TEST(events_are_passed_in_the_order_they_were_asked_for, set_up, tear_down)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	agent_send_perf_open(f->agent, 7);
	agent_send_perf_open(f->agent, 8);
	loop_until(&f->loop, &f->asked);
	loop_settle(&f->loop);
	assert_int_equal(f->questions, 1); /* one at a time */
	assert_int_equal(f->tid, 7);
	conversation_answer(f->conversation, 7, 0, (int[]){dup(0), dup(0), dup(0), dup(0)}, 4);
	loop_settle(&f->loop);
	assert_int_equal(f->questions, 2);
	assert_int_equal(f->tid, 8);
	conversation_answer(f->conversation, 8, EACCES, NULL, 0);
	loop_settle(&f->loop);
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_PERF_OPENED);
	assert_int_equal(frame->perf_opened->tid, 7);
	assert_int_equal(frame->perf_opened->count, 4);
	assert_int_equal(count, 4);
	fd_close_all(fds, count);
	jxp__engine_frame__free_unpacked(frame, NULL);
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->perf_opened->tid, 8);
	assert_int_equal(frame->perf_opened->error, EACCES);
	assert_int_equal(count, 0);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(a_thousand_questions_that_came_together_are_all_answered, set_up, tear_down)
{
	struct fixture *f = *state;

	for (uint32_t tid = 1; tid <= 1000; tid++) {
		agent_send_perf_open(f->agent, tid);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	loop_until(&f->loop, &f->asked);
	f->answer_at_once = true;
	conversation_answer(f->conversation, 1, EMFILE, NULL, 0);
	for (int i = 0; i < 1000; i++) {
		loop_settle(&f->loop);
		agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_PERF_OPENED);
	}
	assert_int_equal(f->questions, 1000);
}

/* Answers whatever is asked with as many descriptors as there can be. Their number, so far. */
static unsigned answer_all(struct fixture *f, unsigned answered)
{
	do {
		f->asked = false;
		if (answered < f->questions) {
			conversation_answer(f->conversation, f->tid, 0,
					    (int[]){dup(0), dup(0), dup(0), dup(0)},
					    PERF_DEBUG_REGISTERS);
			answered++;
		}
		loop_settle(&f->loop);
	} while (f->asked);
	return answered;
}

TEST(an_agent_that_does_not_read_leaves_few_descriptors_on_their_way, set_up, tear_down)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	unsigned answered;
	size_t count;

	for (uint32_t tid = 1; tid <= 200; tid++) {
		agent_send_perf_open(f->agent, tid);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	answered = answer_all(f, 0);
	assert_in_range(answered, 1, 2);
	for (uint32_t tid = 1; tid <= 200; tid++) {
		Jxp__EngineFrame *frame = agent_receive(f->agent, fds, &count);

		assert_int_equal(frame->perf_opened->tid, tid);
		assert_int_equal(count, PERF_DEBUG_REGISTERS);
		fd_close_all(fds, count);
		jxp__engine_frame__free_unpacked(frame, NULL);
		answered = answer_all(f, answered);
		assert_in_range(answered, tid, tid + 2);
	}
}

static void ask_for_threads(struct fixture *f, uint32_t count)
{
	for (uint32_t tid = 1; tid <= count; tid++) {
		agent_send_perf_open(f->agent, tid);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
		agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_PERF_OPENED);
	}
}

TEST(an_agent_that_invents_threads_is_answered_without_a_search, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned searched;

	f->answer_at_once = true;
	f->answer = ESRCH;
	ask_for_threads(f, 1000);
	assert_in_range(f->questions, 64, 80);
	assert_int_equal(f->unasked + f->questions, 1000);
	/* Now they exist, which is noticed after 64 at the latest. */
	searched = f->questions;
	f->answer = EMFILE;
	ask_for_threads(f, 164);
	assert_true(f->questions >= searched + 100);
}

TEST(an_answer_after_the_end_closes_its_descriptors, set_up, tear_down)
{
	struct fixture *f = *state;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	conversation_answer(f->conversation, 7, 0, &ends[1], 1); /* nobody asked */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

TEST(a_question_too_many_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;

	for (int i = 0; i < 200000 && f->ask_error == 0; i++) {
		agent_send_perf_open(f->agent, 9);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	assert_int_equal(f->ask_error, -ENOBUFS);
	assert_int_equal(f->questions, 1); /* It was not answered. */
}
