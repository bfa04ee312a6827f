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

static void assert_called_late(void)
{
	assert_int_equal(attach_helper_finish(&helper, name, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "did not end in time and was ended"));
}

TEST(a_late_helper_is_asked_to_end_and_called_late)
{
	pid_t pid;

	start("wait");
	helper.patient = false;
	pid = helper.pid;
	assert_true(helper.due_ns > clock_monotonic_ns());
	assert_false(attach_helper_advance(&helper)); /* As if it were late. */
	assert_true(helper.asked && !helper.cancelled);
	wait_until_done(); /* It ends by itself: what it has put into the target, it removes. */
	assert_called_late();
	assert_int_equal(kill(pid, 0), -1); /* And reaped. */
	assert_int_equal(errno, ESRCH);
}

TEST(a_late_helper_that_does_not_end_when_it_is_asked_is_killed)
{
	start("deaf");
	helper.patient = false;
	assert_false(attach_helper_advance(&helper));
	helper.patient = false;
	if (!attach_helper_advance(&helper)) /* Asks and does not wait. */
		wait_until_done();
	assert_called_late();
}

/* By how much one that is late is given more time on an overloaded machine, in milliseconds. */
static uint64_t prolonged_by_ms(void)
{
	uint64_t due_ns = helper.due_ns;

	busy_machine_begin();
	assert_false(attach_helper_advance(&helper));
	busy_machine_end();
	return (helper.due_ns - due_ns) / NS_PER_MS;
}

TEST(a_late_helper_on_an_overloaded_machine_has_more_time_once_and_once_more_to_end)
{
	start("deaf");
	assert_int_equal(prolonged_by_ms(),
			 ATTACH_TIMEOUT_MS_OVERLOADED - ATTACH_TIMEOUT_MS_DEFAULT);
	assert_false(helper.asked);
	assert_false(attach_helper_advance(&helper));
	assert_true(helper.asked);
	assert_in_range(prolonged_by_ms(), 1000, 10000);
	if (!attach_helper_advance(&helper))
		wait_until_done();
	assert_called_late();
}

TEST(a_cancelled_helper_ends_by_itself)
{
	start("wait");
	attach_helper_cancel(&helper);
	assert_true(helper.cancelled);
	assert_true(helper.due_ns < clock_monotonic_ns() + 10000 * NS_PER_MS);
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
