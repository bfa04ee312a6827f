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
	int discover_id; /* the pending discover, or 0 */
	bool discover_on;
	broker_reply_fn discover_fn;
	void *discover_arg;
	pid_t followed[BROKER_PIDS_MAX]; /* of the last follow */
	size_t followed_count;
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

int broker_client_attach(struct broker_client *client, const struct broker_attach *attach,
			 broker_reply_fn fn, void *arg)
{
	(void)client;
	fake_broker.attach_start_ticks = attach->start_ticks;
	fake_broker.attach_timeout_ms = attach->timeout_ms;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	fake_broker.attach_id = ++fake_broker.last_id;
	fake_broker.attach_pid = attach->pid;
	fake_broker.attach_owner = attach->owner;
	fake_broker.attach_fn = fn;
	fake_broker.attach_arg = arg;
	return fake_broker.attach_id;
}

int broker_client_perf_open(struct broker_client *client, pid_t pid,
			    const Jxp__PerfOpenRequest *asked, broker_reply_fn fn, void *arg)
{
	(void)client;
	(void)pid;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	fake_broker.perf_id = ++fake_broker.last_id;
	fake_broker.perf_tid = (pid_t)asked->tid;
	fake_broker.perf_fn = fn;
	fake_broker.perf_arg = arg;
	return fake_broker.perf_id;
}

int broker_client_inspect(struct broker_client *client, int pid, uid_t owner, broker_reply_fn fn,
			  void *arg)
{
	(void)client;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	fake_broker.inspect_id = ++fake_broker.last_id;
	fake_broker.inspect_pid = pid;
	fake_broker.inspect_owner = owner;
	fake_broker.inspect_fn = fn;
	fake_broker.inspect_arg = arg;
	return fake_broker.inspect_id;
}

int broker_client_inspect_some(struct broker_client *client, const pid_t *pids, size_t count,
			       broker_reply_fn fn, void *arg)
{
	(void)client;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	fake_broker.some_id = ++fake_broker.last_id;
	memcpy(fake_broker.some, pids, count * sizeof(*pids));
	fake_broker.some_count = count;
	fake_broker.inspect_fn = fn;
	fake_broker.inspect_arg = arg;
	return fake_broker.some_id;
}

int broker_client_discover(struct broker_client *client, bool on, broker_reply_fn fn, void *arg)
{
	(void)client;
	fake_broker.discover_id = FAKE_DISCOVER_ID; /* Tests count the others. */
	fake_broker.discover_on = on;
	fake_broker.discover_fn = fn;
	fake_broker.discover_arg = arg;
	return fake_broker.discover_id;
}

int broker_client_follow(struct broker_client *client, const pid_t *pids, size_t count)
{
	(void)client;
	assert_true(count <= BROKER_PIDS_MAX);
	memcpy(fake_broker.followed, pids, count * sizeof(*pids));
	fake_broker.followed_count = count;
	return 0;
}

int broker_client_watch(struct broker_client *client, pid_t pid, uid_t owner, broker_reply_fn fn,
			void *arg)
{
	(void)owner;
	(void)client;
	(void)pid;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	fake_broker.watch_id = ++fake_broker.last_id;
	fake_broker.watch_fn = fn;
	fake_broker.watch_arg = arg;
	return fake_broker.watch_id;
}

int broker_client_pages(struct broker_client *client, pid_t pid, const uint64_t *pages,
			size_t count, broker_reply_fn fn, void *arg)
{
	(void)client;
	(void)pid;
	if (fake_broker.refuse)
		return -fake_broker.refuse;
	memcpy(fake_broker.pages, pages, count * sizeof(*pages));
	fake_broker.page_count = count;
	fake_broker.pages_id = ++fake_broker.last_id;
	fake_broker.pages_fn = fn;
	fake_broker.pages_arg = arg;
	return fake_broker.pages_id;
}

/* Without fake_broker.gate the kernel has no gate. */
int broker_client_gate(struct broker_client *client, pid_t pid, const struct gate_limits *limits,
		       broker_reply_fn fn, void *arg)
{
	(void)client;
	(void)pid;
	if (!fake_broker.gate)
		return -EOPNOTSUPP;
	fake_broker.gate_id = ++fake_broker.last_id;
	fake_broker.gate_removed = !limits;
	if (limits)
		fake_broker.gate_limits = *limits;
	fake_broker.gate_fn = fn;
	fake_broker.gate_arg = arg;
	return fake_broker.gate_id;
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
	if (id == fake_broker.watch_id)
		fake_broker.watch_id = 0;
	if (id == fake_broker.pages_id)
		fake_broker.pages_id = 0;
	if (id == fake_broker.gate_id)
		fake_broker.gate_id = 0;
}

int broker_client_release(struct broker_client *client, pid_t pid)
{
	(void)client;
	fake_broker.released = pid;
	fake_broker.releases++;
	return 0;
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
