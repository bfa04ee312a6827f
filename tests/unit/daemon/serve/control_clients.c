#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>

#include "daemon/serve/connection.h"
#include "tests/unit/support/control_fixture.h"

static void garbage_is_answered_and_the_connection_closed(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	assert_int_equal(fd_write_all(client, "GET / HTTP/1.1\r\n\r\n", 18), 0);
	expect_failure(f, client, true, "not the jxperf protocol");
	client = connect_client(f);
	assert_int_equal(fd_write_all(client, "\4\0\0\0\xff\xff\xff\xff", 8), 0);
	expect_failure(f, client, true, "malformed");
	client = connect_client(f);
	assert_int_equal(fd_write_all(client, "\2\0\0\0\x78\4", 6), 0); /* the protocol, no body */
	expect_failure(f, client, true, "unknown kind");
}

static void a_truncated_request_is_answered_and_closed(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	assert_int_equal(fd_write_all(client, "\11\0\0\0ab", 6), 0);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	expect_failure(f, client, true, "inside a frame");
}

static void another_protocol_is_refused_in_words(void **state)
{
	struct fixture *f = *state;
	Jxp__WindowsRequest windows = JXP__WINDOWS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	int client = connect_client(f);

	request.protocol = PROTOCOL_VERSION + 1;
	request.body_case = JXP__CONTROL_REQUEST__BODY_WINDOWS;
	request.windows = &windows;
	send_request(client, &request);
	expect_failure(f, client, true, "protocol 5 and this daemon 4");
}

static void connections_beyond_the_limit_are_told_so(void **state)
{
	struct fixture *f = *state;
	int clients[CONTROL_CONNECTIONS_MAX], refused;
	size_t n = CONTROL_CONNECTIONS_MAX;
	Jxp__ControlReply *reply;
	char byte;

	for (size_t i = 0; i < n; i++) {
		clients[i] = connect_client(f);
		loop_settle(&f->loop);
	}
	assert_int_equal(read(clients[n - 1], &byte, 1), -1); /* It is let in. */
	refused = connect_client(f);
	expect_failure(f, refused, false, "there are 288 connections to the daemon open");
	/* Even so it may have sent its request by the time it is looked at. */
	refused = connect_client(f);
	send_report(refused, "w1", JXP__FORMAT__FORMAT_TEXT);
	reply = receive(f, refused);
	assert_non_null(strstr(reply->failure->message, "there are 288 connections"));
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(refused);
	fd_close_all(clients, n);
	loop_settle(&f->loop);
}

/* Connects from a process of another user, which keeps as many connections until it is told to end.
 * Its pid, with the end of a pipe in *told that ends it when closed. */
static pid_t other_users_connections(struct fixture *f, uid_t uid, size_t count, int *told)
{
	int tell[2], ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
		(void)close(tell[1]);
		assert_int_equal(setresuid(uid, uid, uid), 0);
		while (count-- > 0) {
			(void)connect_client(f); /* The parent's loop accepts. */
			assert_int_equal(write(ready[1], "", 1), 1);
		}
		(void)read(tell[0], &byte, 1);
		_exit(EXIT_SUCCESS);
	}
	(void)close(tell[0]);
	(void)close(ready[1]);
	*told = tell[1];
	assert_int_equal(fd_set_nonblocking(ready[0], true), 0);
	for (;;) {
		ssize_t r = read(ready[0], &byte, 1);

		if (r == 1 && --count == 0)
			break;
		assert_int_not_equal(r, 0);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	(void)close(ready[0]);
	return pid;
}

static void users_who_fill_their_places_keep_out_neither_root_nor_others(void **state)
{
	static const uid_t users[] = {54321, 54322, 54323, 54324, 54325, 54326};
	enum { USERS = sizeof(users) / sizeof(users[0]) };
	struct fixture *f = *state;
	int told[USERS], status, client;
	pid_t pids[USERS];

	need_root();
	assert_int_equal(chmod(f->directory, 0755), 0);
	assert_int_equal(chmod(f->path, 0666), 0);
	for (size_t i = 0; i < USERS; i++) {
		pids[i] =
		    other_users_connections(f, users[i], CONTROL_CONNECTIONS_OF_USER, &told[i]);
		loop_settle(&f->loop);
		client = connect_client(f);
		send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
		expect_failure(f, client, false, "no window 'w1'"); /* Root is served. */
	}
	for (size_t i = USERS; i-- > 0;) { /* Each has a copy of what tells those before. */
		(void)close(told[i]);
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	loop_settle(&f->loop);
}

static void a_client_may_leave_while_its_report_is_written(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);

	(void)close(agent);
	while (engine_is_profiled(f->engine, 42)) /* The report is begun, not sent. */
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	(void)close(client);
	loop_settle(&f->loop);
	assert_non_null(engine_find_window(f->engine, "w1"));
}

static void on_drained(void *arg)
{
	*(bool *)arg = true;
}

static void draining_lets_a_report_be_read_and_closes_the_rest(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int waiting = connect_client(f);
	bool drained = false;
	Jxp__ControlReply *reply;
	char byte;

	(void)close(agent);
	while (engine_is_profiled(f->engine, 42)) /* The report is queued, not sent. */
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	control_drain(f->control, on_drained, &drained);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	loop_until(&f->loop, &drained);
	assert_int_equal(read(waiting, &byte, 1), 0);
	(void)close(client);
	(void)close(waiting);
}

static void a_socket_file_that_is_not_ours_is_left_alone(void **state)
{
	struct fixture *f = *state;
	char moved[128];

	(void)snprintf(moved, sizeof(moved), "%s/moved", f->directory);
	assert_int_equal(rename(f->path, moved), 0);
	assert_int_equal(fclose(fopen(f->path, "we")), 0); /* Somebody else's. */
	control_free(f->control);
	f->control = NULL;
	assert_int_equal(access(f->path, F_OK), 0);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(unlink(moved), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(garbage_is_answered_and_the_connection_closed),
	    TEST(a_truncated_request_is_answered_and_closed),
	    TEST(another_protocol_is_refused_in_words),
	    TEST(connections_beyond_the_limit_are_told_so),
	    TEST(users_who_fill_their_places_keep_out_neither_root_nor_others),
	    TEST(a_client_may_leave_while_its_report_is_written),
	    TEST(draining_lets_a_report_be_read_and_closes_the_rest),
	    TEST(a_socket_file_that_is_not_ours_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
