#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "daemon/engine/session.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	uv_loop_t loop;
	struct window *window;
	struct session *session;
	int agent;
	bool started;
	bool progressed;
	bool ended;
	bool asked;
	bool answer_at_once;
	int answer; /* errno to answer with, 0: EMFILE */
	unsigned questions;
	uint32_t tid;
};

static void on_started(void *arg)
{
	((struct fixture *)arg)->started = true;
}

static void on_progressed(void *arg)
{
	((struct fixture *)arg)->progressed = true;
}

static void on_perf_open(void *arg, const Jxp__PerfOpenRequest *request)
{
	struct fixture *f = arg;

	f->asked = true;
	f->questions++;
	f->tid = request->tid;
	if (f->answer_at_once)
		session_perf_opened(f->session, request->tid, f->answer ? f->answer : EMFILE, NULL,
				    0);
}

static void on_ended(void *arg)
{
	struct fixture *f = arg;

	assert_false(f->ended);
	f->ended = true;
	session_free(f->session);
	f->session = NULL;
}

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds = {false, true, false, true},
					 .duration_ns = 60 * NS_PER_S,
					 .budget = 0.01,
					 .registers = 4,
					 .max_frames = 128};
	struct session_callbacks callbacks = {.arg = &f,
					      .started = on_started,
					      .progressed = on_progressed,
					      .perf_open = on_perf_open,
					      .ended = on_ended};
	int pair[2];

	f = (struct fixture){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	f.window = window_new(1, 42, &request, &sample_findings);
	f.agent = pair[1];
	assert_int_equal(session_new(&f.session, &f.loop, pair[0], f.window, &callbacks, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	session_free(f->session);
	if (f->agent >= 0)
		(void)close(f->agent);
	loop_finish(&f->loop);
	window_free(f->window);
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

static void hello_is_answered_and_the_window_starts_as_asked(void **state)
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
	assert_string_equal(f->window->app, ""); /* Not for the agent to say. */
	assert_string_equal(f->window->gc, "G1");
	assert_int_equal(f->window->state, WINDOW_RUNNING);
}

/* The frame that comes after the hello. */
static Jxp__EngineFrame *receive_start(struct fixture *f)
{
	int fds[FD_PASS_MAX];
	size_t count;

	agent_send_hello(f->agent, PROTOCOL_VERSION);
	loop_until(&f->loop, &f->started);
	loop_settle(&f->loop);
	jxp__engine_frame__free_unpacked(agent_receive(f->agent, fds, &count), NULL);
	return agent_receive(f->agent, fds, &count);
}

static void what_was_asked_of_objects_reaches_the_agent(void **state)
{
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;

	f->window->request.kinds[JXP__KIND__KIND_SILENT_LOAD] = false;
	f->window->request.objects = f->window->request.numa = true;
	f->window->findings.numa.node_count = 2;
	f->window->request.object_min_size = 4096;
	f->window->request.objects_max = 77;
	frame = receive_start(f);
	assert_int_equal(frame->start->n_kinds, 3);
	assert_int_equal(frame->start->kinds[1], JXP__KIND__KIND_OBJECTS);
	assert_int_equal(frame->start->kinds[2], JXP__KIND__KIND_NUMA);
	assert_int_equal(frame->start->object_min_size, 4096);
	assert_int_equal(frame->start->objects_max, 77);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

static void the_hardware_events_and_their_period_reach_the_agent(void **state)
{
	struct fixture *f = *state;
	Jxp__EngineFrame *frame;

	f->window->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	f->window->findings.period = 1000;
	f->window->findings.event_count = 2;
	f->window->findings.events[0] = (struct perf_hardware_event){.config = 98};
	f->window->findings.events[1] = (struct perf_hardware_event){.config = 99};
	frame = receive_start(f);
	assert_int_equal(frame->start->n_events, 2);
	assert_int_equal(frame->start->events[1]->config, 99);
	assert_int_equal(frame->start->period_ns, 0);
	assert_int_equal(frame->start->event_period, 1000);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

static void another_protocol_is_refused_in_words_to_both_sides(void **state)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	agent_send_hello(f->agent, PROTOCOL_VERSION + 1);
	assert_failed(f, "protocol 3 and this daemon 2");
	frame = agent_receive(f->agent, fds, &count);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_HELLO);
	assert_non_null(strstr(frame->hello->refusal, "protocol 3 and this daemon 2"));
	jxp__engine_frame__free_unpacked(frame, NULL);
	assert_false(f->started);
}

static void a_stopped_window_is_done_when_the_agent_says_so(void **state)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	loop_until(&f->loop, &f->progressed);
	session_stop(f->session, NULL);
	loop_settle(&f->loop);
	agent_expect(f->agent, JXP__ENGINE_FRAME__BODY_STOP);
	assert_false(f->ended);
	leave(f, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_DONE);
	assert_int_equal(f->window->profile.pair_count, 1);
}

static void batches_after_the_stop_still_count(void **state)
{
	struct fixture *f = *state;

	start(f);
	session_stop(f->session, "it was detached on request");
	send_pair(f);
	leave(f, "");
	assert_ended_early(f, "detached on request");
	assert_int_equal(f->window->profile.pair_count, 1);
}

static void an_agent_that_ends_by_itself_at_its_deadline_is_done(void **state)
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

static void an_agent_that_ends_before_its_deadline_ends_early(void **state)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	leave(f, "");
	assert_ended_early(f, "the target exited");
	assert_true(f->window->target_ended);
	assert_int_equal(f->window->profile.pair_count, 1);
}

static void the_end_is_told_when_the_agent_has_left(void **state)
{
	struct fixture *f = *state;

	start(f);
	session_stop(f->session, NULL);
	agent_send_ended(f->agent, "");
	loop_settle(&f->loop);
	assert_int_equal(f->window->state, WINDOW_DONE);
	assert_false(f->ended);
	agent_close(f);
	loop_settle(&f->loop);
	assert_true(f->ended);
}

static void an_agent_that_does_not_leave_is_not_waited_for_long(void **state)
{
	struct fixture *f = *state;

	start(f);
	session_stop(f->session, NULL);
	agent_send_ended(f->agent, "");
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->window->state, WINDOW_DONE);
}

static void the_window_is_stopped_when_its_time_is_over(void **state)
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

static void a_target_that_dies_leaves_what_had_arrived(void **state)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	agent_close(f);
	assert_ended_early(f, "exited or was killed");
	assert_true(f->window->target_ended);
	assert_int_equal(f->window->profile.pair_count, 1);
}

static void a_window_that_cannot_run_fails_with_the_agents_reason(void **state)
{
	struct fixture *f = *state;

	start(f);
	leave(f, "no perf event may be opened");
	assert_failed(f, "no perf event may be opened");
}

static void an_agent_error_after_the_first_tick_ends_early(void **state)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	leave(f, "out of memory");
	assert_ended_early(f, "out of memory");
	assert_false(f->window->target_ended);
}

static void an_agent_that_closes_before_hello_fails(void **state)
{
	struct fixture *f = *state;

	agent_close(f);
	assert_failed(f, "exited or was killed");
}

static void stopping_before_hello_fails_at_once(void **state)
{
	struct fixture *f = *state;

	session_stop(f->session, "it was detached on request");
	assert_false(f->ended); /* never from inside the call */
	assert_failed(f, "detached on request");
}

static void a_malformed_frame_ends_the_window(void **state)
{
	struct fixture *f = *state;

	start(f);
	send_pair(f);
	assert_int_equal(fd_write_all(f->agent, "\3\0\0\0\xff\xff\xff", 7), 0);
	assert_ended_early(f, "malformed");
	assert_int_equal(f->window->profile.pair_count, 1);
}

static void a_frame_of_an_absurd_length_ends_the_window(void **state)
{
	struct fixture *f = *state;

	start(f);
	assert_int_equal(fd_write_all(f->agent, "\xff\xff\xff\xff", 4), 0);
	assert_ended_early(f, "limits");
}

static void an_unknown_frame_ends_the_window(void **state)
{
	struct fixture *f = *state;

	start(f);
	assert_int_equal(fd_write_all(f->agent, "\3\0\0\0\xf2\x7f\0", 7), 0); /* field 2046 */
	assert_ended_early(f, "unknown kind");
}

static void a_second_hello_ends_the_window(void **state)
{
	struct fixture *f = *state;

	start(f);
	agent_send_hello(f->agent, PROTOCOL_VERSION);
	assert_ended_early(f, "hello out of turn");
}

static void nothing_is_accepted_before_hello(void **state)
{
	struct fixture *f = *state;

	send_pair(f);
	assert_failed(f, "outside its window");
	assert_int_equal(f->window->profile.pair_count, 0);
}

static void events_are_passed_in_the_order_they_were_asked_for(void **state)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	Jxp__EngineFrame *frame;
	size_t count;

	start(f);
	agent_send_perf_open(f->agent, 7);
	agent_send_perf_open(f->agent, 8);
	loop_until(&f->loop, &f->asked);
	loop_settle(&f->loop);
	assert_int_equal(f->questions, 1); /* one at a time */
	assert_int_equal(f->tid, 7);
	session_perf_opened(f->session, 7, 0, (int[]){dup(0), dup(0), dup(0), dup(0)}, 4);
	loop_settle(&f->loop);
	assert_int_equal(f->questions, 2);
	assert_int_equal(f->tid, 8);
	session_perf_opened(f->session, 8, EACCES, NULL, 0);
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

static void a_thousand_questions_that_came_together_are_all_answered(void **state)
{
	struct fixture *f = *state;

	start(f);
	for (uint32_t tid = 1; tid <= 1000; tid++) {
		agent_send_perf_open(f->agent, tid);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	loop_until(&f->loop, &f->asked);
	f->answer_at_once = true;
	session_perf_opened(f->session, 1, EMFILE, NULL, 0);
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
			session_perf_opened(f->session, f->tid, 0,
					    (int[]){dup(0), dup(0), dup(0), dup(0)},
					    PERF_DEBUG_REGISTERS);
			answered++;
		}
		loop_settle(&f->loop);
	} while (f->asked);
	return answered;
}

static void an_agent_that_does_not_read_leaves_few_descriptors_on_their_way(void **state)
{
	struct fixture *f = *state;
	int fds[FD_PASS_MAX];
	unsigned answered;
	size_t count;

	start(f);
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

static void an_agent_that_invents_threads_is_answered_without_a_search(void **state)
{
	struct fixture *f = *state;
	unsigned searched;

	start(f);
	f->answer_at_once = true;
	f->answer = ESRCH;
	ask_for_threads(f, 1000);
	assert_in_range(f->questions, 64, 80);
	assert_int_equal(f->window->losses[LOSS_UNKNOWN_THREADS] + f->questions, 1000);
	/* Now they exist, which is noticed after 64 at the latest. */
	searched = f->questions;
	f->answer = EMFILE;
	ask_for_threads(f, 164);
	assert_true(f->questions >= searched + 100);
}

static void an_answer_after_the_end_closes_its_descriptors(void **state)
{
	struct fixture *f = *state;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	start(f);
	session_perf_opened(f->session, 7, 0, &ends[1], 1); /* nobody asked */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

static void an_agent_that_does_not_read_is_cut_off(void **state)
{
	struct fixture *f = *state;

	start(f);
	f->answer_at_once = true;
	for (int i = 0; i < 200000 && !f->ended; i++) {
		agent_send_perf_open(f->agent, 9);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	assert_ended_early(f, "asked for more events than a JVM has threads");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(hello_is_answered_and_the_window_starts_as_asked,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(what_was_asked_of_objects_reaches_the_agent, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(the_hardware_events_and_their_period_reach_the_agent,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(another_protocol_is_refused_in_words_to_both_sides,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_stopped_window_is_done_when_the_agent_says_so, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(batches_after_the_stop_still_count, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_ends_by_itself_at_its_deadline_is_done,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_ends_before_its_deadline_ends_early,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_end_is_told_when_the_agent_has_left, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_does_not_leave_is_not_waited_for_long,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_window_is_stopped_when_its_time_is_over, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_target_that_dies_leaves_what_had_arrived, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_cannot_run_fails_with_the_agents_reason,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_error_after_the_first_tick_ends_early, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_closes_before_hello_fails, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(stopping_before_hello_fails_at_once, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_malformed_frame_ends_the_window, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_frame_of_an_absurd_length_ends_the_window, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_unknown_frame_ends_the_window, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_second_hello_ends_the_window, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(nothing_is_accepted_before_hello, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(events_are_passed_in_the_order_they_were_asked_for,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		a_thousand_questions_that_came_together_are_all_answered, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		an_agent_that_does_not_read_leaves_few_descriptors_on_their_way, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		an_agent_that_invents_threads_is_answered_without_a_search, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_answer_after_the_end_closes_its_descriptors, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_agent_that_does_not_read_is_cut_off, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
