/* The engine's side of a broker that listens, which the test is. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "common/fd.h"
#include "common/proc.h"
#include "daemon/broker/client.h"
#include "proto/limits.h"

#define TIME_LIMIT_MS 30000

struct seen {
	int replies;
	int error; /* of the last reply */
	char message[ERR_MESSAGE_MAX];
	int deaths;
	char reason[ERR_MESSAGE_MAX]; /* of the last one */
	int replies_at_death;
	int arrivals;
	int sampler_error;
};

static uv_loop_t loop;
static uv_timer_t limit;
static struct broker_client *client;
static struct seen seen;
static char directory[32];
static struct sockaddr_un address;
static int listener, broker;

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	(void)arg;
	(void)fds;
	seen.replies++;
	seen.error = reply->error;
	strcpy(seen.message, reply->message);
}

static void on_death(void *arg, const char *reason)
{
	(void)arg;
	(void)snprintf(seen.reason, sizeof(seen.reason), "%s", reason);
	seen.deaths++;
	seen.replies_at_death = seen.replies;
}

static void on_arrival(void *arg, const struct broker_reply *hello)
{
	(void)arg;
	seen.arrivals++;
	seen.sampler_error = hello->sampler_error;
}

static const struct broker_client_callbacks callbacks = {.died = on_death, .came = on_arrival};

static void out_of_time(uv_timer_t *timer)
{
	(void)timer;
	fail_msg("nothing happened within %d ms", TIME_LIMIT_MS);
}

static void start_listening(void)
{
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 8), 0);
}

static void stop_listening(void)
{
	(void)close(listener);
	(void)unlink(address.sun_path);
	listener = -1;
}

static int setup(void **state)
{
	struct err err;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	broker = listener = -1;
	strcpy(directory, "/tmp/jxperf-test-XXXXXX");
	assert_non_null(mkdtemp(directory));
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/broker.sock", directory);
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(uv_timer_init(&loop, &limit), 0);
	assert_int_equal(uv_timer_start(&limit, out_of_time, TIME_LIMIT_MS, 0), 0);
	uv_unref((uv_handle_t *)&limit);
	assert_int_equal(broker_client_connect(&client, &loop, address.sun_path, &callbacks, &err),
			 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fd_close_all(&broker, 1);
	stop_listening();
	broker_client_free(client);
	uv_close((uv_handle_t *)&limit, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
	return rmdir(directory);
}

static void wait_for(const int *count, int wanted)
{
	while (*count < wanted)
		(void)uv_run(&loop, UV_RUN_ONCE);
}

static void accept_engine(void)
{
	while ((broker = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
}

static void say_hello(int error, const char *message)
{
	struct broker_reply hello = {
	    .operation = BROKER_HELLO, .error = error, .sampler_error = -ENOENT};

	strcpy(hello.message, message);
	assert_int_equal(fd_send(broker, &hello, sizeof(hello), NULL, 0), sizeof(hello));
}

static void serve(void)
{
	int before = seen.arrivals;

	start_listening();
	accept_engine();
	say_hello(0, JXPERF_VERSION);
	wait_for(&seen.arrivals, before + 1);
}

static void ask(void)
{
	const struct broker_request attach = {
	    .operation = BROKER_ATTACH, .pid = 42, .owner = PROC_ANY_UID};

	assert_true(broker_client_ask(client, &attach, on_reply, NULL) > 0);
}

/* Receives the request that waits, and answers it. */
static void answer(void)
{
	struct broker_request request;
	struct broker_reply reply = {0};

	assert_int_equal(recv(broker, &request, sizeof(request), 0), sizeof(request));
	reply.operation = request.operation;
	reply.id = request.id;
	assert_int_equal(fd_send(broker, &reply, sizeof(reply), NULL, 0), sizeof(reply));
}

TEST(requests_wait_for_the_hello, setup, teardown)
{
	struct broker_request request;

	ask();
	start_listening();
	accept_engine();
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(recv(broker, &request, sizeof(request), MSG_DONTWAIT), -1);
	say_hello(0, JXPERF_VERSION);
	wait_for(&seen.arrivals, 1);
	assert_int_equal(seen.sampler_error, -ENOENT);
	if (seen.replies == 0) { /* It was asked while there was no socket, else. */
		answer();
		wait_for(&seen.replies, 1);
		assert_int_equal(seen.error, 0);
	}
}

TEST(without_a_broker_requests_are_answered_from_the_loop, setup, teardown)
{
	const struct broker_request release = {.operation = BROKER_RELEASE, .pid = 42};

	wait_for(&seen.deaths, 1);
	ask();
	assert_int_equal(seen.replies, 0);
	wait_for(&seen.replies, 1);
	assert_int_equal(seen.error, EPIPE);
	assert_non_null(strstr(seen.message, address.sun_path));
	assert_true(broker_client_ask(client, &release, NULL, NULL) >
		    0);                   /* There is nothing of it. */
	assert_int_equal(seen.deaths, 1); /* Told once. */
}

TEST(it_connects_again_when_the_broker_is_back, setup, teardown)
{
	for (int i = 1; i <= 3; i++) {
		serve();
		ask();
		answer();
		wait_for(&seen.replies, 2 * i - 1);
		assert_int_equal(seen.error, 0);
		ask();
		fd_close_all(&broker, 1);
		stop_listening();
		wait_for(&seen.replies, 2 * i);
		assert_int_equal(seen.error, EPIPE);
		while (seen.deaths == 0 || seen.replies_at_death != seen.replies)
			(void)uv_run(&loop, UV_RUN_ONCE);
	}
}

TEST(another_reason_why_it_is_away_is_told_too, setup, teardown)
{
	serve();
	fd_close_all(&broker, 1);
	stop_listening();
	wait_for(&seen.deaths, 1);
	assert_non_null(strstr(seen.reason, "has gone"));
	wait_for(&seen.deaths, 2);
	assert_non_null(strstr(seen.reason, "No such file"));
	assert_false(broker_client_serves(client));
	start_listening();
	accept_engine();
	say_hello(EBUSY, "the broker serves another jxperfd already");
	wait_for(&seen.deaths, 3);
	assert_non_null(strstr(seen.reason, "another jxperfd"));
}

TEST(a_broker_that_refuses_is_named_with_its_reason, setup, teardown)
{
	start_listening();
	accept_engine();
	say_hello(EBUSY, "the broker serves another jxperfd already");
	while (!strstr(seen.message, "another jxperfd")) {
		ask();
		wait_for(&seen.replies, seen.replies + 1);
	}
	assert_int_equal(seen.error, EPIPE);
	assert_int_equal(seen.arrivals, 0);
}

TEST(a_broker_of_another_version_is_none, setup, teardown)
{
	start_listening();
	accept_engine();
	say_hello(0, "0.0.9");
	while (!strstr(seen.message, "another version")) {
		ask();
		wait_for(&seen.replies, seen.replies + 1);
	}
	assert_int_equal(seen.arrivals, 0);
}
