#include "tests/unit/support/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "common/clock.h"
#include "daemon/child/helper.h"
#include "tests/unit/support/broker_fixture.h"
#include "tests/unit/support/busy_machine.h"

static struct attach_helper helper;
static char name[ATTACH_NAME_BYTES];
static struct err err;

static void start(const char *behaviour)
{
	const struct agent_files agent = broker_fixture_agent(behaviour);

	assert_int_equal(
	    attach_helper_start(&helper, getpid(), PROC_ANY_UID, &agent, 0, false, &err), 0);
}

static void wait_until_readable(void)
{
	struct pollfd p = {.fd = attach_helper_fd(&helper), .events = POLLIN};

	assert_int_equal(poll(&p, 1, 30000), 1);
}

static void wait_until_done(void)
{
	do {
		wait_until_readable();
	} while (!attach_helper_advance(&helper));
}

TEST(a_result_gives_the_descriptor)
{
	char bytes[8];
	int fd;

	start("ok");
	wait_until_done();
	fd = attach_helper_finish(&helper, name, &err);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 5);
	assert_string_equal(name, "shop.jar");
	(void)close(fd);
}

TEST(a_late_helper_is_killed_and_called_late)
{
	pid_t pid;

	start("wait");
	helper.patient = false;
	pid = helper.pid;
	assert_true(helper.due_ns > clock_monotonic_ns());
	if (!attach_helper_advance(&helper)) /* As if it were late; asks and does not wait. */
		wait_until_done();
	assert_int_equal(attach_helper_finish(&helper, name, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "did not end in time and was killed"));
	assert_int_equal(kill(pid, 0), -1); /* And reaped. */
	assert_int_equal(errno, ESRCH);
}

TEST(a_late_helper_on_an_overloaded_machine_has_more_time_once)
{
	uint64_t due_ns;

	start("wait");
	due_ns = helper.due_ns;
	busy_machine_begin();
	assert_false(attach_helper_advance(&helper));
	busy_machine_end();
	assert_true(helper.due_ns - due_ns ==
		    (ATTACH_TIMEOUT_MS_OVERLOADED - ATTACH_TIMEOUT_MS_DEFAULT) * NS_PER_MS);
	if (!attach_helper_advance(&helper))
		wait_until_done();
	assert_int_equal(attach_helper_finish(&helper, name, &err), -ETIMEDOUT);
}

TEST(a_cancelled_helper_ends_by_itself)
{
	start("wait");
	attach_helper_cancel(&helper);
	assert_true(helper.cancelled);
	wait_until_done();
	assert_true(attach_helper_finish(&helper, name, &err) < 0);
}

TEST(a_probe_gives_the_helpers_sentence)
{
	char text[ERR_MESSAGE_MAX] = "before";
	bool unasked;

	/* A success without descriptor, which is right for a probe alone. */
	assert_int_equal(
	    attach_helper_probe(getpid(), PROC_ANY_UID,
				&(struct agent_files){broker_fixture_bundle("no-fd"), ""}, text,
				&unasked, &err),
	    0);
	assert_string_equal(text, "");
	assert_int_equal(
	    attach_helper_probe(getpid(), PROC_ANY_UID,
				&(struct agent_files){broker_fixture_bundle("refuse"), ""}, text,
				&unasked, &err),
	    -EPERM);
	assert_false(unasked);
	assert_string_equal(err.message, "not today");
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
