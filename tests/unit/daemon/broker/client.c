#include "tests/unit/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/broker/client.h"
#include "daemon/inspector/startup.h"
#include "tests/unit/support/broker_fixture.h"

#define TIME_LIMIT_MS 30000

/* What the callbacks saw. */
struct seen {
	int replies;
	int error; /* of the last reply */
	uint32_t fds;
	int fd; /* taken from it, when take is set */
	bool take;
	char message[ERR_MESSAGE_MAX];
	int events;
	struct broker_event event; /* the last one */
	int deaths;
	int replies_at_death;
	char reason[ERR_MESSAGE_MAX];
};

static uv_loop_t loop;
static uv_timer_t limit;
static struct broker_client *client;
static struct seen seen;
static pid_t target;

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	struct seen *s = arg;

	s->replies++;
	s->error = reply->error;
	s->fds = reply->fds;
	strcpy(s->message, reply->message);
	if (s->take && reply->fds > 0)
		s->fd = TAKE_FD(fds[0]);
}

static void on_death(void *arg, const char *reason)
{
	struct seen *s = arg;

	s->deaths++;
	s->replies_at_death = s->replies;
	strcpy(s->reason, reason);
}

static void on_event(void *arg, const struct broker_event *event)
{
	struct seen *s = arg;

	s->events++;
	s->event = *event;
}

static const struct broker_client_callbacks callbacks = {
    .arg = &seen, .died = on_death, .event = on_event};

static void out_of_time(uv_timer_t *timer)
{
	(void)timer;
	fail_msg("nothing happened within %d ms", TIME_LIMIT_MS);
}

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.fd = -1;
	target = broker_fixture_start_target();
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(uv_timer_init(&loop, &limit), 0);
	assert_int_equal(uv_timer_start(&limit, out_of_time, TIME_LIMIT_MS, 0), 0);
	uv_unref((uv_handle_t *)&limit);
	client = NULL;
	return 0;
}

static void start(const char *behaviour)
{
	const struct startup startup = {
	    .agent = broker_fixture_agent(behaviour), .environment = "", .pod_labels = ""};
	struct err err;

	assert_int_equal(
	    broker_client_new(&client, &loop, "/proc/self/exe", &startup, &callbacks, &err), 0);
}

static int teardown(void **state)
{
	(void)state;
	broker_client_free(client);
	uv_close((uv_handle_t *)&limit, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
	cleanup_close(&seen.fd);
	broker_fixture_end_target(target);
	return 0;
}

static void wait_for_replies(int count)
{
	while (seen.replies < count)
		(void)uv_run(&loop, UV_RUN_ONCE);
}

static void wait_for_death(void)
{
	while (!seen.deaths)
		(void)uv_run(&loop, UV_RUN_ONCE);
}

static int attach(struct seen *to)
{
	const struct broker_request what = {
	    .operation = BROKER_ATTACH, .pid = target, .owner = PROC_ANY_UID};

	return broker_client_ask(client, &what, on_reply, to);
}

/* Its id, or -errno. */
static int release(void)
{
	const struct broker_request what = {.operation = BROKER_RELEASE, .pid = target};

	return broker_client_ask(client, &what, NULL, NULL);
}

TEST(an_attach_gives_the_agents_socket, setup, teardown)
{
	char bytes[8];

	start("ok");
	seen.take = true;
	assert_true(attach(&seen) > 0);
	assert_int_equal(seen.replies, 0); /* Never from inside the call. */
	wait_for_replies(1);
	assert_int_equal(seen.error, 0);
	assert_int_equal(seen.fds, 1);
	assert_int_equal(read(seen.fd, bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "agent", 5);
}

TEST(a_refusal_comes_with_its_reason, setup, teardown)
{
	start("refuse");
	assert_true(attach(&seen) > 0);
	wait_for_replies(1);
	assert_int_equal(seen.error, EPERM);
	assert_string_equal(seen.message, "not today");
}

static int highest_fd(void)
{
	int fd = dup(0);

	(void)close(fd);
	return fd;
}

TEST(descriptors_that_are_not_taken_are_closed, setup, teardown)
{
	int before;

	start("ok");
	before = highest_fd();
	assert_true(attach(&seen) > 0);
	wait_for_replies(1);
	assert_int_equal(seen.fds, 1);
	assert_int_equal(highest_fd(), before);
}

TEST(requests_of_a_process_not_attached_to_are_answered_with_the_reason, setup, teardown)
{
	struct broker_request asked = {.operation = BROKER_PERF_OPEN, .pid = target};

	start("ok");
	asked.namespace_tid = target;
	asked.breakpoints = 4;
	assert_true(broker_client_ask(client, &asked, on_reply, &seen) > 0);
	wait_for_replies(1);
	assert_int_equal(seen.error, EPERM);
	assert_true(strlen(seen.message) > 0);
}

TEST(a_forgotten_request_calls_nobody, setup, teardown)
{
	struct seen other = {.fd = -1};
	int before, id;

	start("ok");
	before = highest_fd();
	id = attach(&other);
	assert_true(id > 0);
	broker_client_forget(client, id);
	broker_client_forget(client, id + 1); /* Not pending: ignored. */
	while (true) { /* Until it is known to be done: a second attach is then refused. */
		seen.replies = 0;
		assert_true(attach(&seen) > 0);
		wait_for_replies(1);
		if (seen.error == EBUSY && strstr(seen.message, "already"))
			break;
	}
	assert_int_equal(other.replies, 0);
	assert_int_equal(highest_fd(), before);
}

TEST(release_cancels_a_running_attach, setup, teardown)
{
	start("wait");
	assert_true(attach(&seen) > 0);
	assert_true(release() > 0);
	wait_for_replies(1);
	assert_int_equal(seen.error, ECANCELED);
}

TEST(pending_requests_are_bounded, setup, teardown)
{
	struct broker_request asked = {.operation = BROKER_PERF_OPEN, .pid = target};
	int sent = 0;

	start("ok");
	asked.namespace_tid = target;
	asked.clock_period_ns = 1000000;
	while (broker_client_ask(client, &asked, on_reply, &seen) > 0)
		sent++;
	assert_int_equal(sent, BROKER_PENDING_MAX);
	assert_int_equal(attach(&seen), -EAGAIN);
	assert_true(release() > 0);
	wait_for_replies(sent);
	assert_int_equal(seen.replies, sent);
	assert_true(attach(&seen) > 0);
	wait_for_replies(sent + 1);
	assert_int_equal(seen.error, 0);
}

TEST(the_brokers_death_answers_everything_and_is_told_once, setup, teardown)
{
	start("murder");
	assert_true(attach(&seen) > 0);
	wait_for_death();
	assert_int_equal(seen.replies, 1);
	assert_int_equal(seen.replies_at_death, 1);
	assert_int_equal(seen.error, EPIPE);
	assert_non_null(strstr(seen.reason, "signal 9"));
	assert_int_equal(attach(&seen), -EPIPE);
	assert_int_equal(release(), -EPIPE);
	assert_int_equal(seen.replies, 1);
}

TEST(free_ends_the_broker_and_calls_nobody, setup, teardown)
{
	start("wait");
	assert_true(attach(&seen) > 0);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	broker_client_free(client);
	client = NULL;
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(seen.replies, 0);
	assert_int_equal(seen.deaths, 0);
	broker_fixture_end_target(target);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* No child is left: it was reaped. */
	assert_int_equal(errno, ECHILD);
	target = broker_fixture_start_target();
}

TEST(what_the_broker_says_unasked_is_handed_on, setup, teardown)
{
	start("event");
	while (!seen.events)
		(void)uv_run(&loop, UV_RUN_ONCE);
	assert_int_equal(seen.event.kind, BROKER_EVENT_WORKER_GIVEN_UP);
	assert_int_equal(seen.event.pid, 42);
	assert_int_equal(seen.event.lost, 7);
	assert_int_equal(seen.deaths, 0);
}

TEST(a_broker_with_events_of_an_unknown_kind_is_ended, setup, teardown)
{
	start("strange-event");
	wait_for_death();
	assert_int_equal(seen.events, 0);
	assert_non_null(strstr(seen.reason, "unexpected message"));
}

TEST(a_broker_that_cannot_be_started_is_an_error, setup, teardown)
{
	const struct startup startup = {.agent = {"/", ""}, .environment = "", .pod_labels = ""};
	struct err err = {""};

	assert_int_equal(
	    broker_client_new(&client, &loop, "/nonexistent/jxperfd", &startup, &callbacks, &err),
	    -ENOENT);
	assert_null(client);
	assert_non_null(strstr(err.message, "/nonexistent/jxperfd"));
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
