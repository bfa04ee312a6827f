#include "tests/unit/support/test.h"

#include <grp.h>

#include "tests/unit/support/control_fixture.h"

/* The same of another user. */
static int connect_as(const struct fixture *f, uid_t uid)
{
	int fd;

	assert_int_equal(chmod(f->directory, 0755), 0);
	assert_int_equal(chmod(f->path, 0666), 0);
	assert_int_equal(seteuid(uid), 0);
	fd = connect_client(f);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

#define OTHER 4321 /* neither root nor FAKE_OWNER, whose every JVM is */

static void send_status(int fd)
{
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_STATUS;
	request.status = &status;
	send_request(fd, &request);
}

static void send_threads(int fd, uint32_t pid)
{
	Jxp__ThreadsRequest threads = JXP__THREADS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	threads.pid = pid;
	request.body_case = JXP__CONTROL_REQUEST__BODY_THREADS;
	request.threads = &threads;
	send_request(fd, &request);
}

static void expect_windows(struct fixture *f, uid_t uid, size_t running, size_t all)
{
	int client = connect_as(f, uid);
	Jxp__ControlReply *reply;

	send_status(client);
	reply = receive(f, client);
	assert_int_equal(reply->status->n_running, running);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	client = connect_as(f, uid);
	send_windows(client);
	reply = receive(f, client);
	assert_int_equal(reply->windows->n_windows, all);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
}

TEST(windows_of_others_do_not_exist, set_up, tear_down)
{
	struct fixture *f = *state;
	int client, root, agent;

	need_root();
	root = connect_client(f);
	agent = start_window(f, root, 60 * NS_PER_S);
	client = connect_as(f, OTHER);
	send_attach(client, 42, NS_PER_S);
	expect_failure(f, client, false, "no process has the pid 42; see 'jxperfctl list'");
	client = connect_as(f, OTHER);
	send_detach(client, 42);
	expect_failure(f, client, false, "pid 42 is not being profiled: see 'jxperfctl status'");
	client = connect_as(f, OTHER);
	send_threads(client, 42);
	expect_failure(f, client, false, "pid 42 is not being profiled: see 'jxperfctl status'");
	client = connect_as(f, OTHER);
	send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
	expect_failure(f, client, false, "no window 'w1': see 'jxperfctl windows'");
	expect_windows(f, OTHER, 0, 0); /* What is refused is no window. */
	expect_windows(f, FAKE_OWNER, 1, 1);
	expect_windows(f, 0, 1, 1);
	assert_true(engine_is_profiled(f->engine, 42));
	(void)close(root);
	(void)close(agent);
}

/* Whoever asked for it: root's window of a JVM is its owner's, too. */
TEST(the_owner_of_a_jvm_may_do_everything_with_its_windows, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__ControlReply *reply;
	int client, root, agent;

	need_root();
	root = connect_client(f);
	agent = start_window(f, root, 60 * NS_PER_S);
	client = connect_as(f, FAKE_OWNER);
	send_threads(client, 42);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_THREADS);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	client = connect_as(f, FAKE_OWNER);
	send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	client = connect_as(f, FAKE_OWNER);
	send_detach(client, 42);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DONE);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(root);
	(void)close(agent);
}

TEST(the_broker_is_asked_for_the_clients_own_processes_only, set_up, tear_down)
{
	struct fixture *f = *state;
	int client, inspector;
	Jxp__ControlReply *reply;

	need_root();
	client = connect_as(f, OTHER);
	send_attach(client, 42, NS_PER_S);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(fake_broker.attach_owner, OTHER);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	expect_failure(f, client, false, "no process has the pid 42");
	client = connect_as(f, OTHER);
	inspector = start_list(f, client);
	assert_int_equal(fake_broker.inspect_owner, OTHER);
	answer_list(inspector, 42); /* Of uid 0, which it became while it was looked at. */
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_JVMS);
	assert_int_equal(reply->jvms->n_jvms, 0);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(client);
	(void)close(inspector);
}

TEST(members_of_the_admin_group_see_everything_from_then_on, set_up, tear_down)
{
	static const gid_t group = 0; /* "root", which is there everywhere */
	struct fixture *f = *state;
	int root, agent;

	need_root();
	root = connect_client(f);
	agent = start_window(f, root, 60 * NS_PER_S);
	assert_int_equal(setgroups(0, NULL), 0);
	assert_int_equal(setegid(77), 0);
	assert_int_equal(control_set_admin_group(f->control, "root", NULL), 0);
	expect_windows(f, OTHER, 0, 0);
	assert_int_equal(setgroups(1, &group), 0);
	expect_windows(f, OTHER, 1, 1);
	assert_int_equal(control_set_admin_group(f->control, "jxperf-none", NULL), -ENOENT);
	expect_windows(f, OTHER, 1, 1);
	assert_int_equal(control_set_admin_group(f->control, "", NULL), 0);
	expect_windows(f, OTHER, 0, 0);
	assert_int_equal(setegid(0), 0);
	(void)close(root);
	(void)close(agent);
}

/* As a private daemon's client is. */
TEST(who_is_handed_to_us_sees_everything, set_up, tear_down)
{
	struct fixture *f = *state;
	int root, agent, pair[2];
	Jxp__ControlReply *reply;

	need_root();
	root = connect_client(f);
	agent = start_window(f, root, 60 * NS_PER_S);
	assert_int_equal(seteuid(OTHER), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(fd_set_nonblocking(pair[1], true), 0);
	control_adopt(f->control, pair[0]);
	send_windows(pair[1]);
	reply = receive(f, pair[1]);
	assert_int_equal(reply->windows->n_windows, 1);
	jxp__control_reply__free_unpacked(reply, NULL);
	(void)close(pair[1]);
	(void)close(root);
	(void)close(agent);
}

TEST(an_admin_group_that_is_none_keeps_the_daemon_from_starting, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct control_settings settings = {
	    .socket_path = "", .http = "", .admin_group = "jxperf-none"};
	struct control *control = NULL;
	struct err err;

	assert_int_equal(control_new(&control, &f->loop, f->engine, &settings, &err), -ENOENT);
	assert_non_null(strstr(err.message, "there is no group 'jxperf-none'"));
	assert_null(control);
}
