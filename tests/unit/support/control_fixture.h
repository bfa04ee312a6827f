/*
 * A control socket over a broker that a test stands in for (tests/unit/support/fake_broker.h), and
 * its clients. Everything is static so that each test stays one file.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_CONTROL_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_CONTROL_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/inspector/inspector.h"
#include "daemon/serve/control.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"

struct fixture {
	uv_loop_t loop;
	struct engine *engine;
	struct control *control;
	char directory[64];
	char path[96];
};

__attribute__((unused)) static int set_up(void **state)
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
	assert_int_equal(engine_new(&f.engine, &f.loop, NULL, &engine_limits_usual, NULL), 0);
	assert_int_equal(control_new(&f.control, &f.loop, f.engine, &settings, NULL), 0);
	*state = &f;
	return 0;
}

__attribute__((unused)) static int tear_down(void **state)
{
	struct fixture *f = *state;

	control_free(f->control);
	engine_free(f->engine);
	loop_finish(&f->loop);
	assert_int_not_equal(access(f->path, F_OK), 0); /* The socket file is gone. */
	return rmdir(f->directory);
}

__attribute__((unused)) static int connect_client(const struct fixture *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	return fd;
}

__attribute__((unused)) static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
}

/* Turns the loop until size bytes came; false at the end of the stream. */
__attribute__((unused)) static bool read_exactly(struct fixture *f, int fd, uint8_t *to,
						 size_t size)
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
__attribute__((unused)) static Jxp__ControlReply *receive(struct fixture *f, int fd)
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

__attribute__((unused)) static void send_request(int fd, Jxp__ControlRequest *request)
{
	struct buffer out;

	buffer_init(&out, FRAME_MAX_CONTROL + FRAME_HEADER_BYTES);
	if (request->protocol == 0)
		request->protocol = PROTOCOL_VERSION;
	assert_int_equal(frame_append(&out, &request->base, FRAME_MAX_CONTROL), 0);
	assert_int_equal(fd_write_all(fd, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
}

__attribute__((unused)) static void send_attach(int fd, uint32_t pid, uint64_t duration_ns)
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

__attribute__((unused)) static void send_detach(int fd, uint32_t pid)
{
	Jxp__DetachRequest detach = JXP__DETACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	detach.pid = pid;
	request.body_case = JXP__CONTROL_REQUEST__BODY_DETACH;
	request.detach = &detach;
	send_request(fd, &request);
}

__attribute__((unused)) static void send_report(int fd, const char *window, Jxp__Format format)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	report.window = (char *)window;
	report.format = format;
	request.body_case = JXP__CONTROL_REQUEST__BODY_REPORT;
	request.report = &report;
	send_request(fd, &request);
}

__attribute__((unused)) static void send_windows(int fd)
{
	Jxp__WindowsRequest windows = JXP__WINDOWS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_WINDOWS;
	request.windows = &windows;
	send_request(fd, &request);
}

/* The reply is a Failure that says words, and the last one; closes fd. */
__attribute__((unused)) static void expect_failure(struct fixture *f, int fd, bool usage,
						   const char *words)
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
__attribute__((unused)) static int start_window(struct fixture *f, int client, uint64_t duration_ns)
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

__attribute__((unused)) static void send_list(int client)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;

	request.body_case = JXP__CONTROL_REQUEST__BODY_LIST;
	request.list = &list;
	send_request(client, &request);
}

/* A client that asked for the list, and the inspector that is to answer. */
__attribute__((unused)) static int start_list(struct fixture *f, int client)
{
	send_list(client);
	while (fake_broker.inspect_id == 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(fake_broker.inspect_pid, INSPECTOR_LIST);
	return fake_broker_connect_inspector();
}

__attribute__((unused)) static void answer_list(int inspector, uint32_t pid)
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

#endif
