/*
 * Stands in for daemon/broker/client.c: remembers what the engine asked and lets the test answer.
 * The test that includes it defines the functions of daemon/broker/client.h, so that the real ones
 * are not linked.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_FAKE_BROKER_H
#define JXPERF_TESTS_UNIT_SUPPORT_FAKE_BROKER_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "daemon/broker/client.h"

/* Whose every process is that is attached to. */
#define FAKE_OWNER 1234

#define FAKE_DISCOVER_ID 1000000

static struct fake_broker {
	int last_id;
	int attach_id; /* the pending attach, or 0 */
	pid_t attach_pid;
	uid_t attach_owner;
	uint64_t attach_start_ticks;
	uint32_t attach_timeout_ms;
	broker_reply_fn attach_fn;
	void *attach_arg;
	int perf_id; /* the pending perf_open, or 0 */
	pid_t perf_tid;
	broker_reply_fn perf_fn;
	void *perf_arg;
	int inspect_id; /* the pending inspect, or 0 */
	int inspect_pid;
	uid_t inspect_owner;
	broker_reply_fn inspect_fn;
	void *inspect_arg;
	int some_id; /* the pending inspect of some, or 0; its callback is that of the other */
	pid_t some[BROKER_PIDS_MAX];
	size_t some_count;
	bool asks_jars;  /* the last of these did */
	int discover_id; /* the pending discover, or 0 */
	bool discover_on;
	broker_reply_fn discover_fn;
	void *discover_arg;
	pid_t followed[BROKER_PIDS_MAX]; /* of the last follow */
	size_t followed_count;
	bool tells_login;
	int login_id; /* the pending login, or 0 */
	uid_t login_owner;
	broker_reply_fn login_fn;
	void *login_arg;
	int watch_id; /* the pending watch, or 0 */
	broker_reply_fn watch_fn;
	void *watch_arg;
	int pages_id; /* the pending pages, or 0 */
	uint64_t pages[BROKER_PAGES_MAX];
	size_t page_count;
	broker_reply_fn pages_fn;
	void *pages_arg;
	bool gate;
	int gate_id; /* the pending gate request, or 0 */
	bool gate_removed;
	struct gate_limits gate_limits; /* the last ones set */
	broker_reply_fn gate_fn;
	void *gate_arg;
	pid_t released; /* the last one */
	unsigned releases;
	int refuse; /* errno with which requests fail at once, or 0 */
	bool away;
} fake_broker;

bool broker_client_serves(const struct broker_client *client)
{
	(void)client;
	return !fake_broker.away;
}

/* Remembers who waits for a reply. */
static int fake_broker_await(int *id, broker_reply_fn *to, void **to_arg, broker_reply_fn fn,
			     void *arg)
{
	*id = ++fake_broker.last_id;
	*to = fn;
	*to_arg = arg;
	return *id;
}

static int fake_broker_attach(const struct broker_request *request, broker_reply_fn fn, void *arg)
{
	struct fake_broker *f = &fake_broker;

	f->attach_start_ticks = request->start_ticks;
	f->attach_timeout_ms = request->timeout_ms;
	if (f->refuse)
		return -f->refuse;
	f->attach_pid = request->pid;
	f->attach_owner = request->owner;
	return fake_broker_await(&f->attach_id, &f->attach_fn, &f->attach_arg, fn, arg);
}

static int fake_broker_inspect(const struct broker_request *request, broker_reply_fn fn, void *arg)
{
	struct fake_broker *f = &fake_broker;

	if (f->refuse)
		return -f->refuse;
	f->inspect_pid = request->pid;
	f->inspect_owner = request->owner;
	if (request->pid_count == 0)
		return fake_broker_await(&f->inspect_id, &f->inspect_fn, &f->inspect_arg, fn, arg);
	memcpy(f->some, request->pids, sizeof(f->some));
	f->some_count = request->pid_count;
	f->asks_jars = request->jars;
	return fake_broker_await(&f->some_id, &f->inspect_fn, &f->inspect_arg, fn, arg);
}

/* Tests count the other ids. */
static int fake_broker_discover(const struct broker_request *request, broker_reply_fn fn, void *arg)
{
	fake_broker.discover_id = FAKE_DISCOVER_ID;
	fake_broker.discover_on = request->switch_on;
	fake_broker.discover_fn = fn;
	fake_broker.discover_arg = arg;
	return fake_broker.discover_id;
}

/* Without fake_broker.gate the kernel has no gate. */
static int fake_broker_gate(const struct broker_request *request, broker_reply_fn fn, void *arg)
{
	struct fake_broker *f = &fake_broker;

	if (!f->gate)
		return -EOPNOTSUPP;
	f->gate_removed = request->gate.window_end_ns == 0;
	if (!f->gate_removed)
		f->gate_limits = request->gate;
	return fake_broker_await(&f->gate_id, &f->gate_fn, &f->gate_arg, fn, arg);
}

int broker_client_ask(struct broker_client *client, const struct broker_request *request,
		      broker_reply_fn fn, void *arg)
{
	struct fake_broker *f = &fake_broker;

	(void)client;
	switch (request->operation) {
	case BROKER_ATTACH:
		return fake_broker_attach(request, fn, arg);
	case BROKER_INSPECT:
		return fake_broker_inspect(request, fn, arg);
	case BROKER_DISCOVER:
		return fake_broker_discover(request, fn, arg);
	case BROKER_GATE:
		return fake_broker_gate(request, fn, arg);
	case BROKER_LOGIN:
		f->login_owner = request->owner;
		return f->tells_login
			   ? fake_broker_await(&f->login_id, &f->login_fn, &f->login_arg, fn, arg)
			   : -EPIPE;
	case BROKER_FOLLOW:
		memcpy(f->followed, request->pids, sizeof(f->followed));
		f->followed_count = request->pid_count;
		return 1;
	case BROKER_RELEASE:
		f->released = request->pid;
		f->releases++;
		return 1;
	}
	if (f->refuse)
		return -f->refuse;
	switch (request->operation) {
	case BROKER_PERF_OPEN:
		f->perf_tid = request->namespace_tid;
		return fake_broker_await(&f->perf_id, &f->perf_fn, &f->perf_arg, fn, arg);
	case BROKER_WATCH:
		return fake_broker_await(&f->watch_id, &f->watch_fn, &f->watch_arg, fn, arg);
	case BROKER_PAGES:
		memcpy(f->pages, request->pages, sizeof(f->pages));
		f->page_count = request->page_count;
		return fake_broker_await(&f->pages_id, &f->pages_fn, &f->pages_arg, fn, arg);
	default:
		return -EINVAL;
	}
}

void broker_client_forget(struct broker_client *client, int id)
{
	(void)client;
	if (id == fake_broker.attach_id)
		fake_broker.attach_id = 0;
	if (id == fake_broker.perf_id)
		fake_broker.perf_id = 0;
	if (id == fake_broker.inspect_id)
		fake_broker.inspect_id = 0;
	if (id == fake_broker.some_id)
		fake_broker.some_id = 0;
	if (id == fake_broker.discover_id)
		fake_broker.discover_id = 0;
	if (id == fake_broker.login_id)
		fake_broker.login_id = 0;
	if (id == fake_broker.watch_id)
		fake_broker.watch_id = 0;
	if (id == fake_broker.pages_id)
		fake_broker.pages_id = 0;
	if (id == fake_broker.gate_id)
		fake_broker.gate_id = 0;
}

/* Answers the pending attach as the broker would: an error, or a connection whose other end, the
 * agent's, is returned. */
__attribute__((unused)) static void fake_broker_fail_attach(int error, const char *message)
{
	struct broker_reply reply = {.operation = BROKER_ATTACH, .error = error};

	assert_int_not_equal(fake_broker.attach_id, 0);
	fake_broker.attach_id = 0;
	(void)snprintf(reply.message, sizeof(reply.message), "%s", message);
	fake_broker.attach_fn(fake_broker.attach_arg, &reply, NULL);
}

/* Gives a callback one end of a socket pair; the other end is returned. */
static int fake_broker_connect(uint32_t operation, broker_reply_fn done, void *arg)
{
	struct broker_reply reply = {
	    .operation = operation, .fds = 1, .owner = FAKE_OWNER, .message = "org.example.Main"};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	done(arg, &reply, &pair[0]);
	fd_close_all(&pair[0], 1); /* What the callback did not take. */
	return pair[1];
}

/* Answers the pending inspect with a socket, whose other end, the inspector's, is returned. */
__attribute__((unused)) static int fake_broker_connect_inspector(void)
{
	assert_int_not_equal(fake_broker.inspect_id, 0);
	fake_broker.inspect_id = 0;
	return fake_broker_connect(BROKER_INSPECT, fake_broker.inspect_fn, fake_broker.inspect_arg);
}

/* Likewise of the pending inspect of some. */
__attribute__((unused)) static int fake_broker_connect_inspector_of_some(void)
{
	assert_int_not_equal(fake_broker.some_id, 0);
	fake_broker.some_id = 0;
	return fake_broker_connect(BROKER_INSPECT, fake_broker.inspect_fn, fake_broker.inspect_arg);
}

/* Answers the pending login. */
__attribute__((unused)) static void fake_broker_answer_login(int error, uid_t login)
{
	struct broker_reply reply = {.operation = BROKER_LOGIN, .error = error, .login = login};

	assert_int_not_equal(fake_broker.login_id, 0);
	fake_broker.login_id = 0;
	fake_broker.login_fn(fake_broker.login_arg, &reply, NULL);
}

/* Answers the pending discover: 0, or why not. */
__attribute__((unused)) static void fake_broker_answer_discover(int error)
{
	struct broker_reply reply = {
	    .operation = BROKER_DISCOVER, .error = error, .message = "not today"};

	assert_int_not_equal(fake_broker.discover_id, 0);
	fake_broker.discover_id = 0;
	fake_broker.discover_fn(fake_broker.discover_arg, &reply, NULL);
}

/* Likewise of the pending watch. */
__attribute__((unused)) static int fake_broker_connect_watcher(void)
{
	assert_int_not_equal(fake_broker.watch_id, 0);
	fake_broker.watch_id = 0;
	return fake_broker_connect(BROKER_WATCH, fake_broker.watch_fn, fake_broker.watch_arg);
}

__attribute__((unused)) static int fake_broker_connect_agent(void)
{
	assert_int_not_equal(fake_broker.attach_id, 0);
	fake_broker.attach_id = 0;
	return fake_broker_connect(BROKER_ATTACH, fake_broker.attach_fn, fake_broker.attach_arg);
}

/* Answers the pending gate request with these counts and, if there is one, a descriptor. */
__attribute__((unused)) static void fake_broker_answer_gate(int error, const struct gate_counts *c,
							    int fd)
{
	struct broker_reply reply = {
	    .operation = BROKER_GATE, .error = error, .fds = fd >= 0, .message = "not today"};

	assert_int_not_equal(fake_broker.gate_id, 0);
	fake_broker.gate_id = 0;
	if (c)
		reply.gate = *c;
	if (!error)
		reply.message[0] = '\0';
	fake_broker.gate_fn(fake_broker.gate_arg, &reply, &fd);
	fd_close_all(&fd, 1); /* What the callback did not take. */
}

#endif
