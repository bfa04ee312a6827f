#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void a_command_gets_its_operand(void **state)
{
	char said[128];

	(void)state;
	result = 0;
	assert_int_equal(run("PID", "42", said), EXIT_SUCCESS);
	assert_string_equal(seen, "42");
	assert_int_equal(run("", NULL, said), EXIT_SUCCESS);
	assert_null(seen);
	assert_string_equal(said, "");
}

static void wrong_usage_is_told_apart_from_failure(void **state)
{
	char said[128];

	(void)state;
	result = -ESRCH;
	assert_int_equal(run("PID", "42", said), EXIT_FAILURE);
	assert_string_equal(said, "jxperfctl: not today\n");
	result = -EINVAL;
	assert_int_equal(run("PID", "42", said), EXIT_USAGE);
}

static void without_what_it_needs_a_command_is_not_run(void **state)
{
	char said[128];

	(void)state;
	assert_int_equal(run("PID", NULL, said), EXIT_USAGE);
	assert_string_equal(said, "jxperfctl: 'cmd' needs PID: see 'jxperfctl --help'\n");
	assert_string_equal(seen, "nothing");
	assert_int_equal(run("", "--json", said), EXIT_USAGE);
	assert_string_equal(said, "jxperfctl: unknown option '--json': see 'jxperfctl --help'\n");
	assert_string_equal(seen, "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_command_gets_its_operand),
	    cmocka_unit_test(wrong_usage_is_told_apart_from_failure),
	    cmocka_unit_test(without_what_it_needs_a_command_is_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
