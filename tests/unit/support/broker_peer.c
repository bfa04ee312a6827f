#include "tests/unit/support/broker_peer.h"
#include "tests/unit/support/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"

/* A reply that never comes fails the test instead of stopping it. */
#define PATIENCE_S 60

struct peer peer;

int peer_set_up(void **state)
{
	(void)state;
	memset(&peer, 0, sizeof(peer));
	for (size_t i = 0; i < FD_PASS_MAX; i++)
		peer.fds[i] = -1;
	peer.socket = -1;
	peer.target = broker_fixture_start_target();
	return 0;
}

int peer_tear_down(void **state)
{
	(void)state;
	fd_close_all(peer.fds, FD_PASS_MAX);
	peer_end();
	broker_fixture_end_target(peer.target);
	return 0;
}

void peer_start(const char *behaviour)
{
	const char *bundle = broker_fixture_bundle(behaviour);
	struct timeval limit = {.tv_sec = PATIENCE_S};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	peer.broker = fork();
	assert_true(peer.broker >= 0);
	if (peer.broker == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(pair[1], 3);
		(void)execl("/proc/self/exe", "jxperfd", "--broker-fd", "3", "--bundle", bundle,
			    NULL);
		_exit(1);
	}
	(void)close(pair[1]);
	peer.socket = pair[0];
	assert_int_equal(setsockopt(peer.socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
			 0);
	assert_int_equal(peer_receive(), 0);
	assert_int_equal(peer.reply.operation, BROKER_HELLO);
}

void peer_end(void)
{
	int status;

	if (peer.socket < 0)
		return;
	(void)close(peer.socket);
	peer.socket = -1;
	assert_int_equal(waitpid(peer.broker, &status, 0), peer.broker);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

struct broker_request peer_request(uint32_t operation)
{
	bool of_anybody = operation == BROKER_ATTACH || operation == BROKER_INSPECT;

	return (struct broker_request){.operation = operation,
				       .id = 77,
				       .pid = peer.target,
				       .owner = of_anybody ? PROC_ANY_UID : 0};
}

struct broker_request peer_clock_request(void)
{
	struct broker_request r = peer_request(BROKER_PERF_OPEN);

	r.namespace_tid = peer.target;
	r.clock_period_ns = 1000000;
	return r;
}

struct broker_request peer_breakpoint_request(uint32_t count)
{
	struct broker_request r = peer_request(BROKER_PERF_OPEN);

	r.namespace_tid = peer.target;
	r.breakpoints = count;
	return r;
}

void peer_submit(const struct broker_request *r)
{
	assert_int_equal(fd_send(peer.socket, r, sizeof(*r), NULL, 0), sizeof(*r));
}

int peer_receive(void)
{
	union broker_message message;
	size_t count;
	ssize_t n;

	fd_close_all(peer.fds, FD_PASS_MAX);
	for (;;) {
		count = FD_PASS_MAX;
		n = fd_recv(peer.socket, &message, sizeof(message), peer.fds, &count);
		if (n != sizeof(message.event) || message.operation != BROKER_EVENT)
			break;
		peer.event = message.event;
		peer.events++;
	}
	assert_int_equal(n, sizeof(message.reply));
	peer.reply = message.reply;
	assert_int_equal(peer.reply.fds, count);
	if (peer.reply.error) {
		assert_int_equal(count, 0);
		assert_true(strlen(peer.reply.message) > 0);
	}
	return peer.reply.error;
}

int peer_ask(const struct broker_request *r)
{
	int error;

	peer_submit(r);
	error = peer_receive();
	assert_int_equal(peer.reply.operation, r->operation);
	assert_int_equal(peer.reply.id, r->id);
	return error;
}

int peer_attach(void)
{
	struct broker_request r = peer_request(BROKER_ATTACH);

	return peer_ask(&r);
}

void peer_require_events(int error)
{
	if (error == EACCES || error == ENOSYS)
		skip();
	assert_int_equal(error, 0);
}

bool peer_says(const char *text)
{
	return strstr(peer.reply.message, text) != NULL;
}
