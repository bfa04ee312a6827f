#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/command/command.h"

static struct client client;
static const char *seen; /* the operand that the command got */
static int result;       /* of the command */

static int command(struct client *c, struct command_call *call, struct err *err)
{
	assert_ptr_equal(c, &client);
	assert_int_equal(call->exit_status, EXIT_SUCCESS);
	seen = call->operands[0];
	return result < 0 ? err_set(err, -result, "not today") : 0;
}

/* Runs `cmd WORD`, without the word when it is NULL. What it says on stderr goes to said. */
static int run(const char *operands, const char *word, char said[128])
{
	const struct command plain = {.name = "cmd", .operands = operands, .run = command};
	char *argv[] = {(char *)"cmd", (char *)word, NULL};
	FILE *file = tmpfile();
	int status, kept = dup(STDERR_FILENO);

	assert_non_null(file);
	seen = "nothing";
	(void)fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	status = command_run(&plain, &client, word ? 2 : 1, argv);
	(void)fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	(void)close(kept);
	rewind(file);
	if (!fgets(said, 128, file))
		said[0] = '\0';
	(void)fclose(file);
	return status;
}

TEST(a_command_gets_its_operand)
{
	char said[128];

	result = 0;
	assert_int_equal(run("PID", "42", said), EXIT_SUCCESS);
	assert_string_equal(seen, "42");
	assert_int_equal(run("", NULL, said), EXIT_SUCCESS);
	assert_null(seen);
	assert_string_equal(said, "");
}

TEST(what_all_commands_take_may_be_behind_their_names)
{
	char said[128];

	result = 0;
	assert_int_equal(run("", "--json", said), EXIT_SUCCESS);
	assert_string_equal(said, "");
	assert_int_equal(run("", "--socket=/tmp/there", said), EXIT_SUCCESS);
	assert_string_equal(said, "");
}

TEST(wrong_usage_is_told_apart_from_failure)
{
	char said[128];

	result = -ESRCH;
	assert_int_equal(run("PID", "42", said), EXIT_FAILURE);
	assert_string_equal(said, "jxperfctl: not today\n");
	result = -EINVAL;
	assert_int_equal(run("PID", "42", said), EXIT_USAGE);
}

TEST(without_what_it_needs_a_command_is_not_run)
{
	char said[128];

	assert_int_equal(run("PID", NULL, said), EXIT_USAGE);
	assert_string_equal(said, "jxperfctl: 'cmd' needs PID: see 'jxperfctl cmd --help'\n");
	assert_string_equal(seen, "nothing");
	assert_int_equal(run("", "--jso", said), EXIT_USAGE);
	assert_string_equal(said,
			    "jxperfctl: unknown option '--jso': see 'jxperfctl cmd --help'\n");
	assert_string_equal(seen, "nothing");
}

/* What is told of a window that ended so, on stderr, into said; returns the exit status. */
static int tell(Jxp__Document__End end, bool interrupted, char said[256])
{
	Jxp__Document document = JXP__DOCUMENT__INIT;
	int ends[2], status, kept = dup(STDERR_FILENO);
	ssize_t n;

	document.window = (char *)"w7";
	document.end = end;
	document.reason = (char *)"it was detached on request";
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	(void)close(ends[1]);
	status = command_tell_end(&document, interrupted);
	(void)fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	(void)close(kept);
	n = read(ends[0], said, 255);
	(void)close(ends[0]);
	assert_true(n >= 0);
	said[n] = '\0';
	return status;
}

TEST(a_whole_window_is_a_success_without_words)
{
	char said[256];

	assert_int_equal(tell(JXP__DOCUMENT__END__AS_PLANNED, false, said), 0);
	assert_string_equal(said, "");
}

TEST(an_early_end_is_3_and_says_why)
{
	char said[256];

	assert_int_equal(tell(JXP__DOCUMENT__END__EARLY, false, said), 3);
	assert_string_equal(said, "jxperfctl: window w7 ended early: it was detached on request\n");
}

TEST(an_interrupt_is_an_early_end_by_the_user)
{
	char said[256];

	assert_int_equal(tell(JXP__DOCUMENT__END__EARLY, true, said), 3);
	assert_string_equal(said, "jxperfctl: window w7 ended early: interrupted\n");
}

TEST(a_target_that_ended_is_4_whatever_the_user_did)
{
	char said[256];

	assert_int_equal(tell(JXP__DOCUMENT__END__TARGET_ENDED, true, said), 4);
	assert_string_equal(
	    said, "jxperfctl: window w7 ended with its target: it was detached on request\n");
}
