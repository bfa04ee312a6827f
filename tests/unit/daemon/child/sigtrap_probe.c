/* The real trial runs on this machine's kernel; for the others there are stand-ins. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/child/sigtrap_probe.h"

static int error;

static int setup(void **state)
{
	(void)state;
	error = 0;
	return 0;
}

/* No child is left behind by any of them. */
static int teardown(void **state)
{
	(void)state;
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : -1;
}

TEST(on_this_kernel_a_blocked_sigtrap_waits, setup, teardown)
{
	enum sigtrap_verdict verdict = sigtrap_probe(sigtrap_trial, &error);

	if (verdict == SIGTRAP_UNKNOWN) {
		print_message("# a watchpoint cannot be tried: %s\n", strerror(-error));
		skip();
	}
	assert_int_equal(verdict, SIGTRAP_WAITS);
	assert_int_equal(error, 0);
}

static int trapped(void)
{
	return raise(SIGTRAP);
}

TEST(a_child_that_sigtrap_kills_tells_of_a_kernel_that_kills, setup, teardown)
{
	assert_int_equal(sigtrap_probe(trapped, &error), SIGTRAP_KILLS);
	assert_int_equal(error, 0);
}

static int untold(void)
{
	return SIGTRAP_TRIAL_UNTOLD;
}

TEST(a_signal_that_does_not_say_it_waited_is_as_bad, setup, teardown)
{
	assert_int_equal(sigtrap_probe(untold, &error), SIGTRAP_KILLS);
}

static int not_permitted(void)
{
	return EACCES;
}

static int killed(void)
{
	return raise(SIGKILL);
}

TEST(what_cannot_be_tried_is_unknown_for_a_reason, setup, teardown)
{
	assert_int_equal(sigtrap_probe(not_permitted, &error), SIGTRAP_UNKNOWN);
	assert_int_equal(error, -EACCES);
	assert_int_equal(sigtrap_probe(killed, &error), SIGTRAP_UNKNOWN);
	assert_int_equal(error, -EIO);
}

static int hanging(void)
{
	while (pause() < 0)
		;
	return 0;
}

TEST(a_child_that_hangs_is_killed, setup, teardown)
{
	uint64_t start = clock_monotonic_ns();

	assert_int_equal(sigtrap_probe(hanging, &error), SIGTRAP_UNKNOWN);
	assert_int_equal(error, -ETIMEDOUT);
	assert_true(clock_monotonic_ns() - start < 20 * NS_PER_S);
}

static int dumpable(void)
{
	return prctl(PR_GET_DUMPABLE);
}

TEST(the_child_cannot_leave_a_core_file, setup, teardown)
{
	assert_int_equal(sigtrap_probe(dumpable, &error), SIGTRAP_WAITS);
}

TEST(other_children_are_left_to_the_caller, setup, teardown)
{
	pid_t other = fork();
	int status;

	assert_true(other >= 0);
	if (other == 0)
		_exit(7);
	assert_int_equal(sigtrap_probe(trapped, &error), SIGTRAP_KILLS);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}
