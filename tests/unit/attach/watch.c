#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/watch.h"
#include "common/clock.h"
#include "tests/unit/support/broker_fixture.h"
#include "tests/unit/support/busy_machine.h"

static struct watch watch;
static struct err err;
static pid_t target;
static int ends[2];

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	target = broker_fixture_start_target();
	return pipe(ends);
}

static int teardown(void **state)
{
	(void)state;
	watch_close(&watch);
	broker_fixture_end_target(target);
	(void)close(ends[0]);
	(void)close(ends[1]);
	return 0;
}

static void open_watch(unsigned timeout_ms)
{
	assert_int_equal(watch_open(&watch, target, timeout_ms, 0, &err), 0);
}

static int wait_for(int at_most_ms)
{
	return watch_wait(&watch, ends[0], POLLIN, at_most_ms, "a byte", &err);
}

TEST(a_ready_descriptor_ends_the_wait, setup, teardown)
{
	open_watch(60000);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(wait_for(-1), 1);
	assert_int_equal(wait_for(0), 1);
	assert_string_equal(err.message, "");
}

TEST(the_waits_own_limit_is_no_error, setup, teardown)
{
	open_watch(60000);
	assert_int_equal(wait_for(5), 0);
	assert_int_equal(wait_for(0), 0);
	assert_string_equal(err.message, "");
}

TEST(the_deadline_is_that_of_all_waits_together, setup, teardown)
{
	uint64_t start = clock_monotonic_ns();
	int r;

	open_watch(60);
	while ((r = wait_for(10)) == 0)
		;
	assert_int_equal(r, -ETIMEDOUT);
	assert_true(clock_monotonic_ns() - start >= 60 * NS_PER_MS);
	assert_non_null(strstr(err.message, "no sign of a byte within 60 ms"));
	assert_int_equal(wait_for(-1), -ETIMEDOUT);
}

TEST(the_targets_end_is_noticed, setup, teardown)
{
	open_watch(60000);
	assert_false(watch_target_ended(&watch, 0));
	assert_int_equal(kill(target, SIGKILL), 0);
	assert_int_equal(wait_for(-1), -ESRCH);
	assert_true(watch_target_ended(&watch, 0));
}

TEST(what_is_ready_comes_before_the_targets_end, setup, teardown)
{
	open_watch(60000);
	assert_int_equal(kill(target, SIGKILL), 0);
	assert_int_equal(waitpid(target, NULL, 0), target);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(wait_for(-1), 1);
}

TEST(signals_that_ask_to_stop_are_noticed, setup, teardown)
{
	open_watch(60000);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(wait_for(-1), -EINTR);
	assert_int_equal(wait_for(-1), -EINTR); /* It stays asked. */
	assert_int_equal(read(watch.signal_fd, (char[256]){0}, 256) > 0, 1);
}

TEST(a_process_that_is_not_there_cannot_be_watched, setup, teardown)
{
	assert_int_equal(watch_open(&watch, INT_MAX, 60000, 0, &err), -ESRCH);
	assert_non_null(strstr(err.message, "no process has the pid"));
}

static uint64_t time_of_timeout(pid_t pid, unsigned timeout_ms, unsigned overloaded_ms)
{
	uint64_t start = clock_monotonic_ns();
	int r;

	assert_int_equal(watch_open(&watch, pid, timeout_ms, overloaded_ms, &err), 0);
	while ((r = wait_for(20)) == 0)
		;
	assert_int_equal(r, -ETIMEDOUT);
	watch_close(&watch);
	return (clock_monotonic_ns() - start) / NS_PER_MS;
}

TEST(a_target_that_works_on_an_overloaded_machine_has_more_time, setup, teardown)
{
	busy_machine_begin();
	assert_true(time_of_timeout(busy_machine.spinners[0], 400, 1000) >= 1000);
	assert_non_null(strstr(err.message, "within 1000 ms: it is starved of CPU"));
	assert_non_null(strstr(err.message, "--timeout"));
	busy_machine_end();
}

TEST(a_target_that_makes_no_progress_has_not, setup, teardown)
{
	busy_machine_begin();
	(void)time_of_timeout(target, 400, 60000);
	assert_non_null(strstr(err.message, "within 400 ms"));
	(void)time_of_timeout(busy_machine.spinners[0], 400,
			      0); /* What was asked for is kept to. */
	assert_non_null(strstr(err.message, "within 400 ms"));
	busy_machine_end();
}

TEST(a_target_that_is_stopped_is_said_to_be, setup, teardown)
{
	int status;

	assert_int_equal(kill(target, SIGSTOP), 0);
	assert_int_equal(waitpid(target, &status, WUNTRACED), target);
	(void)time_of_timeout(target, 60, 0);
	assert_non_null(strstr(err.message, "it is stopped, by a signal or a debugger"));
}
