#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/inspector/inspector.h"
#include "daemon/serve/connection.h"
#include "daemon/serve/control.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_batch.h"

struct fixture {
	uv_loop_t loop;
	struct engine *engine;
	struct control *control;
	char directory[64];
	char path[96];
};

static int set_up(void **state)
{
	static struct fixture f;
	struct control_settings settings = {.http = ""};

	f = (struct fixture){0};
	fake_broker = (struct fake_broker){0};
	strcpy(f.directory, "/tmp/jxperf-test-XXXXXX");
	assert_non_null(mkdtemp(f.directory));
	(void)snprintf(f.path, sizeof(f.path), "%s/s", f.directory);
	settings.socket_path = f.path;
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(engine_new(&f.engine, &f.loop, NULL, NULL), 0);
	assert_int_equal(control_new(&f.control, &f.loop, f.engine, &settings, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	control_free(f->control);
	engine_free(f->engine);
	loop_finish(&f->loop);
	assert_int_not_equal(access(f->path, F_OK), 0); /* The socket file is gone. */
	return rmdir(f->directory);
}

static int connect_client(const struct fixture *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	return fd;
}

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

static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
}

/* Turns the loop until size bytes came; false at the end of the stream. */
static bool read_exactly(struct fixture *f, int fd, uint8_t *to, size_t size)
{
	uint64_t deadline = clock_monotonic_ns() + LOOP_PATIENCE_MS * NS_PER_MS;

	while (size > 0) {
		ssize_t n = read(fd, to, size);

		if (n == 0)
			return false;
		if (n > 0) {
			to += n;
			size -= (size_t)n;
		}
		assert_true(clock_monotonic_ns() < deadline);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	return true;
}

/* The next reply, to be freed; NULL when the daemon closed the connection. */
static Jxp__ControlReply *receive(struct fixture *f, int fd)
{
	static uint8_t bytes[1u << 20];
	Jxp__ControlReply *reply;
	uint32_t length;

	if (!read_exactly(f, fd, bytes, FRAME_HEADER_BYTES))
		return NULL;
	memcpy(&length, bytes, sizeof(length));
	assert_in_range(length, 1, sizeof(bytes));
	assert_true(read_exactly(f, fd, bytes, length));
	reply = jxp__control_reply__unpack(NULL, length, bytes);
	assert_non_null(reply);
	return reply;
}

static void send_request(int fd, Jxp__ControlRequest *request)
{
	struct buffer out;

	buffer_init(&out, FRAME_MAX_CONTROL + FRAME_HEADER_BYTES);
	if (request->protocol == 0)
		request->protocol = PROTOCOL_VERSION;
	assert_int_equal(frame_append(&out, &request->base, FRAME_MAX_CONTROL), 0);
	assert_int_equal(fd_write_all(fd, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
}

static void send_attach(int fd, uint32_t pid, uint64_t duration_ns)
{
	Jxp__AttachRequest attach = JXP__ATTACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	attach.pid = pid;
	attach.duration_ns = duration_ns;
	attach.format = JXP__FORMAT__FORMAT_JSON;
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	send_request(fd, &request);
}

static void send_detach(int fd, uint32_t pid)
{
	Jxp__DetachRequest detach = JXP__DETACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	detach.pid = pid;
	request.body_case = JXP__CONTROL_REQUEST__BODY_DETACH;
	request.detach = &detach;
	send_request(fd, &request);
}

static void send_report(int fd, const char *window, Jxp__Format format)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	report.window = (char *)window;
	report.format = format;
	request.body_case = JXP__CONTROL_REQUEST__BODY_REPORT;
	request.report = &report;
	send_request(fd, &request);
}

static void send_windows(int fd)
{
	Jxp__WindowsRequest windows = JXP__WINDOWS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_WINDOWS;
	request.windows = &windows;
	send_request(fd, &request);
}

/* The reply is a Failure that says words, and the last one; closes fd. */
static void expect_failure(struct fixture *f, int fd, bool usage, const char *words)
{
	Jxp__ControlReply *reply = receive(f, fd);

	assert_non_null(reply);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_FAILURE);
	assert_int_equal(reply->failure->usage, usage);
	if (!strstr(reply->failure->message, words))
		fail_msg("'%s' does not say '%s'", reply->failure->message, words);
	jxp__control_reply__free_unpacked(reply, NULL);
	assert_null(receive(f, fd));
	(void)close(fd);
}

/* Attaches to 42 with its agent ready and the first progress read. */
static int start_window(struct fixture *f, int client, uint64_t duration_ns)
{
	Jxp__ControlReply *reply;
	int agent;

	send_attach(client, 42, duration_ns);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	reply = receive(f, client);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_PROGRESS);
	assert_string_equal(reply->progress->window, "w1");
	assert_int_equal(reply->progress->duration_ns, duration_ns);
	jxp__control_reply__free_unpacked(reply, NULL);
	loop_settle(&f->loop);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_HELLO);
	agent_expect(agent, JXP__ENGINE_FRAME__BODY_START);
	return agent;
}

static void an_attach_ends_with_its_report(void **state)
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

static void progress_comes_while_the_window_runs(void **state)
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

static void a_failed_attach_is_a_failure_in_the_brokers_words(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	send_attach(client, 42, NS_PER_S);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42; see 'jxperfctl list'");
	expect_failure(f, client, false, "no process has the pid 42");
}

/* A client that asked for the list, and the inspector that is to answer. */
static int start_list(struct fixture *f, int client)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_LIST;
	request.list = &list;
	send_request(client, &request);
	while (fake_broker.inspect_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(fake_broker.inspect_pid, INSPECTOR_LIST);
	return fake_broker_connect_inspector();
}

static void answer_list(int inspector, uint32_t pid)
{
	Jxp__Jvm jvm = JXP__JVM__INIT, *jvms[] = {&jvm};
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct buffer out;

	jvm.pid = pid;
	jvm.state = (char *)"attachable";
	list.jvms = jvms;
	list.n_jvms = 1;
	reply.body_case = JXP__CONTROL_REPLY__BODY_JVMS;
	reply.jvms = &list;
	buffer_init(&out, FRAME_MAX_CONTROL);
	assert_int_equal(frame_append(&out, &reply.base, FRAME_MAX_CONTROL), 0);
	assert_int_equal(fd_write_all(inspector, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
}

static void a_jvm_that_is_being_profiled_is_listed_as_such(void **state)
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

static void an_inspector_that_ends_without_an_answer_is_a_failure(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), inspector = start_list(f, client);

	(void)close(inspector);
	expect_failure(f, client, false, "looking at processes");
}

static void a_client_may_leave_before_the_inspector_answers(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), inspector = start_list(f, client);

	(void)close(client);
	loop_settle(&f->loop);
	/* Nobody listens any more. */
	assert_int_equal(send(inspector, "x", 1, MSG_NOSIGNAL), -1);
	(void)close(inspector);
}

static void wrong_arguments_are_usage_errors(void **state)
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

static void detaching_on_another_connection_still_gives_the_report(void **state)
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

static void a_client_that_leaves_ends_the_window(void **state)
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

static void a_format_that_is_not_there_is_refused_before_the_attach(void **state)
{
	struct fixture *f = *state;
	Jxp__AttachRequest attach = JXP__ATTACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	int client = connect_client(f);

	attach.pid = 42;
	attach.duration_ns = NS_PER_S;
	attach.format = JXP__FORMAT__FORMAT_PPROF;
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	send_request(client, &request);
	expect_failure(f, client, false, "pprof");
	assert_int_equal(fake_broker.attach_id, 0);
}

static void a_second_attach_is_refused_in_one_line(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f);

	send_attach(other, 42, NS_PER_S);
	expect_failure(f, other, false, "already being profiled (window w1)");
	(void)close(client);
	(void)close(agent);
}

static void a_window_that_is_not_there_has_no_report(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f);

	send_report(client, "w9\n", JXP__FORMAT__FORMAT_TEXT);
	expect_failure(f, client, false, "no window 'w9?'");
}

static void threads_show_what_each_register_watches(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f), agent = start_window(f, client, 60 * NS_PER_S);
	int other = connect_client(f);
	Jxp__ThreadsRequest threads = JXP__THREADS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	struct sample_batch sample;
	Jxp__Transition *armed;
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

static void status_and_windows_tell_what_runs(void **state)
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

/* ---------------------------------------------------------------- what there is for whom */

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

static void windows_of_others_do_not_exist(void **state)
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
	expect_windows(f, OTHER, 0, 1); /* The one of its own that failed. */
	expect_windows(f, FAKE_OWNER, 1, 1);
	expect_windows(f, 0, 1, 2);
	assert_true(engine_is_profiled(f->engine, 42));
	(void)close(root);
	(void)close(agent);
}

/* Whoever asked for it: root's window of a JVM is its owner's, too. */
static void the_owner_of_a_jvm_may_do_everything_with_its_windows(void **state)
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

static void the_broker_is_asked_for_the_clients_own_processes_only(void **state)
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

static void members_of_the_admin_group_see_everything_from_then_on(void **state)
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
static void who_is_handed_to_us_sees_everything(void **state)
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

static void an_admin_group_that_is_none_keeps_the_daemon_from_starting(void **state)
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
	assert_int_equal(fd_write_all(client, "\2\0\0\0\x78\2", 6), 0); /* the protocol, no body */
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
	expect_failure(f, client, true, "protocol 3 and this daemon 2");
}

static void connections_beyond_a_users_limit_are_told_so(void **state)
{
	struct fixture *f = *state;
	int clients[CONTROL_CONNECTIONS_OF_USER], refused;
	size_t n = CONTROL_CONNECTIONS_OF_USER;
	Jxp__ControlReply *reply;
	char byte;

	for (size_t i = 0; i < n; i++) {
		clients[i] = connect_client(f);
		loop_settle(&f->loop);
	}
	assert_int_equal(read(clients[n - 1], &byte, 1), -1); /* It is let in. */
	refused = connect_client(f);
	expect_failure(f, refused, false, "has 96 connections to the daemon open");
	/* Even so it may have sent its request by the time it is looked at. */
	refused = connect_client(f);
	send_report(refused, "w1", JXP__FORMAT__FORMAT_TEXT);
	reply = receive(f, refused);
	assert_non_null(strstr(reply->failure->message, "has 96 connections"));
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
	static const uid_t users[] = {54321, 54322};
	struct fixture *f = *state;
	int told[2], status, client;
	pid_t pids[2];

	need_root();
	assert_int_equal(chmod(f->directory, 0755), 0);
	assert_int_equal(chmod(f->path, 0666), 0);
	for (size_t i = 0; i < 2; i++) {
		pids[i] =
		    other_users_connections(f, users[i], CONTROL_CONNECTIONS_OF_USER, &told[i]);
		loop_settle(&f->loop);
		client = connect_client(f);
		send_report(client, "w1", JXP__FORMAT__FORMAT_TEXT);
		expect_failure(f, client, false, "no window 'w1'"); /* Root is served. */
	}
	for (size_t i = 2; i-- > 0;) { /* The second has a copy of what tells the first. */
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

static void a_window_that_failed_says_why_it_has_no_report(void **state)
{
	struct fixture *f = *state;
	int client = connect_client(f);
	Jxp__ControlReply *reply;

	send_attach(client, 42, 60 * NS_PER_S);
	while (fake_broker.attach_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	expect_failure(f, client, false, "no process has the pid 42");
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
	expect_failure(f, client, false, "it could not run: no process has the pid 42");
}

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

static void a_window_in_the_background_is_told_when_it_has_started(void **state)
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

static void a_client_that_leaves_before_the_start_ends_nothing_in_the_background(void **state)
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

static void an_attach_in_the_background_that_fails_says_so(void **state)
{
	struct fixture *f = *state;
	int client = ask_for_background(f);

	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	expect_failure(f, client, false, "no process has the pid 42");
}

static void waiting_ends_with_the_window_for_everybody(void **state)
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

static void who_waits_no_longer_ends_nothing(void **state)
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

static void waiting_for_a_window_that_failed_or_is_not_there_is_refused(void **state)
{
	struct fixture *f = *state;
	int client = ask_for_background(f), waiting = connect_client(f);

	send_wait(waiting, "w1");
	loop_settle(&f->loop);
	fake_broker_fail_attach(ESRCH, "no process has the pid 42");
	expect_failure(f, waiting, false, "no process has the pid 42");
	(void)close(client);
	client = connect_client(f);
	send_wait(client, "w1");
	expect_failure(f, client, false, "no process has the pid 42");
	client = connect_client(f);
	send_wait(client, "w2");
	expect_failure(f, client, false, "no window 'w2'");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(an_attach_ends_with_its_report, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(progress_comes_while_the_window_runs, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_failed_attach_is_a_failure_in_the_brokers_words,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_jvm_that_is_being_profiled_is_listed_as_such, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_inspector_that_ends_without_an_answer_is_a_failure,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_client_may_leave_before_the_inspector_answers, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(wrong_arguments_are_usage_errors, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(detaching_on_another_connection_still_gives_the_report,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_client_that_leaves_ends_the_window, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_format_that_is_not_there_is_refused_before_the_attach,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_second_attach_is_refused_in_one_line, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_is_not_there_has_no_report, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(threads_show_what_each_register_watches, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(status_and_windows_tell_what_runs, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(windows_of_others_do_not_exist, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_owner_of_a_jvm_may_do_everything_with_its_windows,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(the_broker_is_asked_for_the_clients_own_processes_only,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(members_of_the_admin_group_see_everything_from_then_on,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(who_is_handed_to_us_sees_everything, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		an_admin_group_that_is_none_keeps_the_daemon_from_starting, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(garbage_is_answered_and_the_connection_closed, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_truncated_request_is_answered_and_closed, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(another_protocol_is_refused_in_words, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(connections_beyond_a_users_limit_are_told_so, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(
		users_who_fill_their_places_keep_out_neither_root_nor_others, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_client_may_leave_while_its_report_is_written, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_window_that_failed_says_why_it_has_no_report, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(a_window_in_the_background_is_told_when_it_has_started,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		a_client_that_leaves_before_the_start_ends_nothing_in_the_background, set_up,
		tear_down),
	    cmocka_unit_test_setup_teardown(an_attach_in_the_background_that_fails_says_so, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(waiting_ends_with_the_window_for_everybody, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(who_waits_no_longer_ends_nothing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
		waiting_for_a_window_that_failed_or_is_not_there_is_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(draining_lets_a_report_be_read_and_closes_the_rest,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_socket_file_that_is_not_ours_is_left_alone, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
