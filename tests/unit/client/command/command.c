#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/command/command.h"

static struct client client;
static const char *seen; /* the operand that the command got */
static int result;       /* of the command */

static int command(struct client *c, const char *operand, struct err *err)
{
	assert_ptr_equal(c, &client);
	seen = operand;
	return result < 0 ? err_set(err, -result, "not today") : 0;
}

/* Runs `cmd WORD`, without the word when it is NULL. What it says on stderr goes to said. */
static int run(const char *operands, const char *word, char said[128])
{
	char *argv[] = {(char *)"cmd", (char *)word, NULL};
	FILE *file = tmpfile();
	int status, kept = dup(STDERR_FILENO);

	assert_non_null(file);
	seen = "nothing";
	(void)fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	status = command_run_plain(&client, word ? 2 : 1, argv, operands, command);
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
	assert_string_equal(said, "jxperfctl: 'cmd' needs PID: see 'jxperfctl --help'\n");
	assert_string_equal(seen, "nothing");
	assert_int_equal(run("", "--json", said), EXIT_USAGE);
	assert_string_equal(said, "jxperfctl: unknown option '--json': see 'jxperfctl --help'\n");
	assert_string_equal(seen, "nothing");
}
