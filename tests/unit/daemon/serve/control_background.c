#include "tests/unit/support/test.h"

#include "tests/unit/support/control_fixture.h"

static void send_background_attach(int fd, uint32_t pid)
{
	Jxp__AttachRequest attach = JXP__ATTACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	attach.pid = pid;
	attach.duration_ns = 60 * NS_PER_S;
	attach.background = true;
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	send_request(fd, &request);
}

static void send_wait(int fd, const char *window)
{
	Jxp__WaitRequest wait = JXP__WAIT_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	wait.window = (char *)window;
	request.body_case = JXP__CONTROL_REQUEST__BODY_WAIT;
	request.wait = &wait;
	send_request(fd, &request);
}

/* The reply says how w1 ended, without a report, and is the last one; closes fd. */
static void expect_end(struct fixture *f, int fd, Jxp__Document__End end)
{
	Jxp__ControlReply *reply = receive(f, fd);

	assert_non_null(reply);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	assert_string_equal(reply->document->window, "w1");
	assert_int_equal(reply->document->end, end);
	assert_int_equal(reply->document->text.len, 0);
	jxp__control_reply__free_unpacked(reply, NULL);
	assert_null(receive(f, fd));
	(void)close(fd);
}

/* Attaches to 42 in the background, up to when the broker was asked. */
static int ask_for_background(struct fixture *f)
{
	int client = connect_client(f);

	send_background_attach(client, 42);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	return client;
}

static int start_agent(struct fixture *f)
{
	int agent = fake_broker_connect_agent();

	agent_send_hello(agent, PROTOCOL_VERSION);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_START);
	return agent;
}

/* A window that is nobody's, and its agent. */
static int start_background(struct fixture *f)
{
	int client = ask_for_background(f), agent = start_agent(f);
	Jxp__ControlReply *reply = receive(f, client);

	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_STARTED);
	assert_string_equal(reply->started->window, "w1");
	jxp__control_reply__free_unpacked(reply, NULL);
	assert_null(receive(f, client));
	(void)close(client);
	loop_settle(&f->loop);
	assert_true(engine_is_profiled(f->engine, 42));
	return agent;
}

TEST(a_window_in_the_background_is_told_when_it_has_started, set_up, tear_down)
{
	struct fixture *f = *state;
	int agent = start_background(f), client;

	agent_leave(agent, "");
	while (engine_is_profiled(f->engine, 42))
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	client = connect_client(f);
	send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
	jxp__control_reply__free_unpacked(receive(f, client), NULL);
	(void)close(client);
}

TEST(a_client_that_leaves_before_the_start_ends_nothing_in_the_background, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_background(f), agent;

	(void)close(client);
	loop_settle(&f->loop);
	agent = start_agent(f);
	assert_true(engine_is_profiled(f->engine, 42));
	agent_leave(agent, "");
	while (engine_is_profiled(f->engine, 42))
		(void)uv_run(&f->loop, UV_RUN_ONCE);
}

TEST(an_attach_in_the_background_that_fails_says_so, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_background(f);

	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	expect_failure(f, client, false, "no process has the pid 42");
}

TEST(waiting_ends_with_the_window_for_everybody, set_up, tear_down)
{
	struct fixture *f = *state;
	int agent = start_background(f), first = connect_client(f), second = connect_client(f);

	send_wait(first, "w1");
	send_wait(second, "w1");
	loop_settle(&f->loop);
	agent_leave(agent, "");
	expect_end(f, first, JXP__DOCUMENT__END__TARGET_ENDED);
	expect_end(f, second, JXP__DOCUMENT__END__TARGET_ENDED);
	first = connect_client(f);
	send_wait(first, "w1");
	expect_end(f, first, JXP__DOCUMENT__END__TARGET_ENDED);
}

TEST(who_waits_no_longer_ends_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int waiting = connect_client(f);
	Jxp__ControlReply *reply;

	send_wait(waiting, "w1");
	loop_settle(&f->loop);
	(void)close(waiting);
	loop_settle(&f->loop);
	assert_true(engine_is_profiled(f->engine, 42));
	agent_leave(agent, "");
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
}

TEST(who_waits_makes_room_and_is_told_to_ask_again, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int clients[CONTROL_CONNECTIONS_MAX];
	Jxp__ControlReply *reply;

	clients[0] = client;
	for (size_t i = 1; i < CONTROL_CONNECTIONS_MAX; i++) {
		clients[i] = connect_client(f);
		if (i <= 2)
			send_wait(clients[i], "w1");
		loop_settle(&f->loop);
	}
	for (size_t i = 1; i <= 2; i++) {
		int more = connect_client(f);

		send_windows(more);
		reply = receive(f, more);
		assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_WINDOWS);
		jxp__control_reply__free_unpacked(reply, NULL);
		reply = receive(f, clients[i]);
		assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_FAILURE);
		assert_true(reply->failure->again);
		jxp__control_reply__free_unpacked(reply, NULL);
		(void)close(more);
		loop_settle(&f->loop);
		(void)close(clients[i]);
		clients[i] = connect_client(f);
		loop_settle(&f->loop);
	}
	expect_failure(f, connect_client(f), false, "there are 288 connections"); /* None waits. */
	(void)close(agent);
	fd_close_all(clients, CONTROL_CONNECTIONS_MAX);
	loop_settle(&f->loop);
}

TEST(waiting_for_a_window_that_failed_or_is_not_there_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;
	int client = ask_for_background(f), waiting = connect_client(f);

	send_wait(waiting, "w1");
	loop_settle(&f->loop);
	fake_broker_fail_attach(EPERM, "it may not be");
	expect_failure(f, waiting, false, "it may not be");
	(void)close(client);
	client = connect_client(f);
	send_wait(client, "w1");
	expect_failure(f, client, false, "it may not be");
	client = connect_client(f);
	send_wait(client, "w2");
	expect_failure(f, client, false, "no window 'w2'");
}
