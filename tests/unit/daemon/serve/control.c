#include "tests/unit/support/test.h"

#include "daemon/serve/connection.h"
#include "daemon/engine/pause.h"
#include "tests/unit/support/control_fixture.h"
#include "tests/unit/support/sample_batch.h"

TEST(an_attach_ends_with_its_report, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	struct sample_batch sample;
	Jxp__ControlReply *reply;

	sample_batch_init(&sample);
	(void)sample_pair(&sample, JXP__KIND__KIND_DEAD_STORE, 2, 3, 8, 1);
	agent_send_batch(agent, &sample.batch);
	agent_leave(agent, "");
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	assert_string_equal(reply->document->window, "w1");
	assert_int_equal(memcmp(reply->document->text.data, "{\n \"schema\": 1,", 15), 0);
	assert_int_equal(reply->document->end, JXP__DOCUMENT__END__TARGET_ENDED);
	assert_string_equal(reply->document->reason, "the target exited");
	jxp__control_reply__free_unpacked(reply, NULL);
	assert_null(receive(f, client));
	(void)close(client);
}

TEST(progress_comes_while_the_window_runs, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	Jxp__ControlReply *reply = receive(f, client);

	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_PROGRESS);
	assert_true(reply->progress->elapsed_ns >= CONNECTION_PROGRESS_MS * NS_PER_MS / 2);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(agent);
}

TEST(a_failed_attach_is_a_failure_in_the_brokers_words, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	send_attach(client, 42, NS_PER_S);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42; see 'jxperfctl list'");
	expect_failure(f, client, false, "no process has the pid 42");
}

TEST(a_jvm_that_is_being_profiled_is_listed_as_such, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f), inspector = start_list(f, other);
	Jxp__ControlReply *reply;

	answer_list(inspector, 42);
	reply = receive(f, other);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_JVMS);
	assert_string_equal(reply->jvms->jvms[0]->state, "profiled");
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(inspector);
	(void)close(other);
	(void)close(client);
	(void)close(agent);
}

TEST(an_inspector_that_ends_without_an_answer_is_a_failure, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), inspector = start_list(f, client);

	(void)close(inspector);
	expect_failure(f, client, false, "looking at processes");
}

TEST(a_client_may_leave_before_the_inspector_answers, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), inspector = start_list(f, client);

	(void)close(client);
	loop_settle(&f->loop);
	/* It has its place until it ends, and nobody hears of it. */
	answer_list(inspector, 42);
	loop_settle(&f->loop);
	(void)close(inspector);
}

TEST(wrong_arguments_are_usage_errors, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	send_attach(client, 0, NS_PER_S);
	expect_failure(f, client, true, "not a process id");
	client = connect_client(f);
	send_attach(client, 42, 0);
	expect_failure(f, client, true, "duration");
	assert_int_equal(fake_broker.last_id, 0); /* Nothing was done to any target. */
}

TEST(detaching_on_another_connection_still_gives_the_report, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f);
	Jxp__ControlReply *reply;

	send_detach(other, 42);
	reply = receive(f, other);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DONE);
	assert_non_null(strstr(reply->done->message, "w1"));
	jxp__control_reply__free_unpacked(reply, NULL);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP);
	agent_leave(agent, "");
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(other);
}

TEST(a_client_that_leaves_ends_the_window, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	Jxp__ControlReply *reply;

	(void)close(client);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_STOP);
	agent_leave(agent, "");
	while (engine_is_profiled(f->engine, 42))
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	client = connect_client(f);
	send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
}

TEST(a_format_that_is_not_there_is_refused_before_the_attach, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AttachRequest attach = JXP__ATTACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	int client = connect_client(f);

	attach.pid = 42;
	attach.duration_ns = NS_PER_S;
	attach.format = (Jxp__Format)77;
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	send_request(client, &request);
	expect_failure(f, client, false, "not available");
	assert_int_equal(fake_broker.attach_id, 0);
}

TEST(a_second_attach_is_refused_in_one_line, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f);

	send_attach(other, 42, NS_PER_S);
	expect_failure(f, other, false, "already being profiled (window w1)");
	(void)close(client);
	(void)close(agent);
}

TEST(a_window_that_is_not_there_has_no_report, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	send_report(client, "w9\n", JXP__FORMAT__FORMAT_TEXT);
	expect_failure(f, client, false, "no window 'w9?'");
}

TEST(threads_show_what_each_register_watches, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f);
	Jxp__ThreadsRequest threads = JXP__THREADS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	struct sample_batch sample;
	struct event_transition *armed;
	Jxp__ControlReply *reply;

	sample_batch_init(&sample);
	armed = sample_pair(&sample, JXP__KIND__KIND_SILENT_LOAD, 2, 0, 4, 0);
	armed->type = JXP__TRANSITION__TYPE__ARMED;
	armed->reg = 3;
	armed->address = 0x1234;
	agent_send_batch(agent, &sample.batch);
	loop_settle(&f->loop);
	threads.pid = 42;
	request.body_case = JXP__CONTROL_REQUEST__BODY_THREADS;
	request.threads = &threads;
	send_request(other, &request);
	reply = receive(f, other);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_THREADS);
	assert_int_equal(reply->threads->n_threads, 1);
	assert_string_equal(reply->threads->threads[0]->name, "main");
	assert_int_equal(reply->threads->threads[0]->n_registers, 4);
	assert_int_equal(reply->threads->threads[0]->registers[3]->kind,
			 JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(reply->threads->threads[0]->registers[3]->address, 0x1234);
	assert_int_equal(reply->threads->threads[0]->registers[0]->kind, JXP__KIND__KIND_NONE);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(other);
	(void)close(agent);
}

TEST(status_and_windows_tell_what_runs, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	Jxp__ControlReply *reply;
	int other = connect_client(f);

	request.body_case = JXP__CONTROL_REQUEST__BODY_STATUS;
	request.status = &status;
	send_request(other, &request);
	reply = receive(f, other);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_STATUS);
	assert_string_equal(reply->status->version, JXPERF_VERSION);
	assert_int_equal(reply->status->n_running, 1);
	assert_string_equal(reply->status->running[0]->app, "Main");
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(other);
	(void)close(agent);
	reply = receive(f, client); /* The report of the window whose target died. */
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	other = connect_client(f);
	send_windows(other);
	reply = receive(f, other);
	assert_int_equal(reply->windows->n_windows, 1);
	assert_string_equal(reply->windows->windows[0]->state, "ended early");
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(other);
}

TEST(a_window_that_failed_says_why_it_has_no_report, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f);
	Jxp__ControlReply *reply;

	send_attach(client, 42, 60 * NS_PER_S);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	fake_broker_fail_attach(EPERM, "it may not be");
	expect_failure(f, client, false, "it may not be");
	client = connect_client(f);
	send_windows(client);
	reply = receive(f, client);
	assert_int_equal(reply->windows->n_windows, 1);
	assert_string_equal(reply->windows->windows[0]->id, "w1");
	assert_string_equal(reply->windows->windows[0]->state, "failed");
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	client = connect_client(f);
	send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
	expect_failure(f, client, false, "it could not run: it may not be");
}

TEST(a_pid_that_is_no_jvm_makes_no_window_and_is_no_failure, set_up, tear_down)
{
	static const int errors[] = {ESRCH, ENOEXEC, EPROTONOSUPPORT};
	struct fixture *f = *state;
	Jxp__ControlReply *reply;
	int client;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		client = connect_client(f);
		fake_broker.attach_id = 0;
		send_attach(client, 42, 60 * NS_PER_S);
		while (fake_broker.attach_id == 0)
			(void)uv_run(&f->loop, UV_RUN_ONCE);
		fake_broker_fail_attach(errors[i], "there is none");
		expect_failure(f, client, false, "there is none");
	}
	client = connect_client(f);
	send_windows(client);
	reply = receive(f, client);
	assert_int_equal(reply->windows->n_windows, 0);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	/* An agent that is not spoken with is one. */
	assert_int_equal(engine_attach_failures(f->engine), 1);
}

/* Also where it cannot be kept: windows that schedules have end with the request. */
TEST(a_pause_that_is_not_kept_ends_scheduled_windows_at_once, set_up, tear_down)
{
	static const struct window_request scheduled = {.kinds = {false, true},
							.duration_ns = 60 * NS_PER_S,
							.budget = 0.01,
							.schedule = {.name = "often"}};
	static const struct window_asker daemon = {.sees = PROC_ANY_UID};
	static const struct window_findings findings;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	Jxp__PauseRequest asked = JXP__PAUSE_REQUEST__INIT;
	struct pause pause = {.path = "/dev/null/pause"};
	char id[WINDOW_ID_BYTES];
	struct fixture *f = *state;
	struct err err;
	int client;

	engine_set_pause(f->engine, &pause);
	assert_int_equal(
	    engine_attach(f->engine, &daemon, 42, &scheduled, &findings, NULL, id, &err), 0);
	client = connect_client(f);
	asked.reason = (char *)"the database is on fire";
	request.body_case = JXP__CONTROL_REQUEST__BODY_PAUSE;
	request.pause = &asked;
	send_request(client, &request);
	expect_failure(f, client, false, "but not after a restart");
	assert_int_equal(fake_broker.released, 42);
	engine_set_pause(f->engine, NULL);
}

/* ---------------------------------------------------------------- who has logged in */

/* A client whose request waits for the broker. */
static int ask_for_list(struct fixture *f)
{
	int client = connect_client(f);

	fake_broker.tells_login = true;
	send_list(client);
	loop_settle(&f->loop);
	assert_int_not_equal(fake_broker.login_id, 0);
	assert_int_equal(fake_broker.login_owner, geteuid());
	assert_int_equal(fake_broker.inspect_id, 0);
	return client;
}

TEST(a_request_waits_until_it_is_known_who_has_logged_in, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_list(f);

	fake_broker_answer_login(0, 1000);
	assert_int_not_equal(fake_broker.inspect_id, 0);
	(void)close(client);
}

TEST(a_request_is_handled_where_the_broker_does_not_say_it, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_list(f);

	fake_broker_answer_login(ENODATA, 0);
	assert_int_not_equal(fake_broker.inspect_id, 0);
	(void)close(client);
}

TEST(a_broker_that_is_late_holds_up_nobody, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_list(f);

	while (!fake_broker.inspect_id)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(fake_broker.login_id, 0);
	(void)close(client);
}

TEST(a_client_may_leave_before_it_is_known_who_it_is, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_list(f);

	(void)close(client);
	loop_settle(&f->loop);
	assert_int_equal(fake_broker.login_id, 0);
}
