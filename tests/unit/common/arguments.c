#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/arguments.h"

struct settings {
	const char *name;
	int verbose;
};

static int set_name(void *settings, const char *value, struct err *err)
{
	if (strcmp(value, "bad") == 0)
		return err_set(err, EINVAL, "'%s' is a bad name", value);
	((struct settings *)settings)->name = value;
	return 0;
}

static int set_verbose(void *settings, const char *value, struct err *err)
{
	(void)err;
	assert_null(value);
	((struct settings *)settings)->verbose++;
	return 0;
}

static const struct argument_option options[] = {
    {"name", 'n', true, set_name},
    {"verbose", 0, false, set_verbose},
    {0},
};

/* Parses a NULL-terminated command line of at most 8 arguments. */
static int parse(const char *operands, const char *const *line, struct settings *s,
		 const char **operand, struct err *err)
{
	struct argument_spec spec = {.options = options, .operands = operands};
	char *argv[8];
	int argc = 0;

	*s = (struct settings){0};
	for (; line[argc]; argc++)
		argv[argc] = (char *)line[argc];
	return arguments_parse(&spec, argc, argv, s, operand, NULL, err);
}

#define LINE(...) ((const char *const[]){"cmd", __VA_ARGS__, NULL})

static void assert_name(const char *const *line)
{
	const char *operand = "unchanged";
	struct settings s;
	struct err err;

	assert_int_equal(parse("", line, &s, &operand, &err), 0);
	assert_string_equal(s.name, "value");
	assert_null(operand);
}

static void a_value_follows_or_is_joined(void **state)
{
	(void)state;
	assert_name(LINE("--name", "value"));
	assert_name(LINE("--name=value"));
	assert_name(LINE("-n", "value"));
}

static void the_last_value_counts(void **state)
{
	(void)state;
	assert_name(LINE("--name", "first", "--name=value"));
}

static void options_and_operand_come_in_any_order(void **state)
{
	const char *operand;
	struct settings s;
	struct err err;

	(void)state;
	assert_int_equal(parse("PID", LINE("--verbose", "42", "-n", "x"), &s, &operand, &err), 0);
	assert_string_equal(operand, "42");
	assert_string_equal(s.name, "x");
	assert_int_equal(s.verbose, 1);
}

static void a_value_may_look_like_an_option(void **state)
{
	const char *operand;
	struct settings s;
	struct err err;

	(void)state;
	assert_int_equal(parse("", LINE("--name", "--verbose"), &s, &operand, &err), 0);
	assert_string_equal(s.name, "--verbose");
	assert_int_equal(s.verbose, 0);
}

static void two_dashes_end_the_options(void **state)
{
	const char *operand;
	struct settings s;
	struct err err;

	(void)state;
	assert_int_equal(parse("NAME", LINE("--", "--verbose"), &s, &operand, &err), 0);
	assert_string_equal(operand, "--verbose");
	assert_int_equal(s.verbose, 0);
}

static void an_optional_operand_may_be_missing(void **state)
{
	const char *operand = "unchanged";
	struct settings s;
	struct err err;

	(void)state;
	assert_int_equal(parse("[PID]", LINE("--verbose"), &s, &operand, &err), 0);
	assert_null(operand);
}

static void parsing_stops_at_a_subcommand(void **state)
{
	struct argument_spec spec = {
	    .options = options, .operands = "[COMMAND]", .stop_at_operand = true};
	char *argv[] = {"cmd", "--verbose", "list", "--unknown", "x"};
	struct settings s = {0};
	const char *operand;
	struct err err;
	int index;

	(void)state;
	assert_int_equal(arguments_parse(&spec, 5, argv, &s, &operand, &index, &err), 0);
	assert_string_equal(operand, "list");
	assert_int_equal(index, 2);
}

static void assert_refused(const char *operands, const char *const *line, const char *message)
{
	const char *operand = "unchanged";
	struct settings s;
	struct err err;

	assert_int_equal(parse(operands, line, &s, &operand, &err), -EINVAL);
	assert_string_equal(err.message, message);
	assert_string_equal(operand, "unchanged");
}

static void mistakes_are_quoted(void **state)
{
	(void)state;
	assert_refused("", LINE("--nope"), "unknown option '--nope': see 'jxperfctl --help'");
	assert_refused("", LINE("--nope=1"), "unknown option '--nope': see 'jxperfctl --help'");
	assert_refused("", LINE("-x"), "unknown option '-x': see 'jxperfctl --help'");
	assert_refused("", LINE("-nvalue"), "unknown option '-nvalue': see 'jxperfctl --help'");
	assert_refused("", LINE("--verbose=1"), "option '--verbose' takes no value");
	assert_refused("", LINE("--name"), "option '--name' needs a value");
	assert_refused("", LINE("-n"), "option '-n' needs a value");
	assert_refused("", LINE("x"), "unexpected argument 'x'");
	assert_refused("PID", LINE("1", "2"), "unexpected argument '2'");
	assert_refused("PID", LINE("--verbose"), "'cmd' needs PID: see 'jxperfctl --help'");
}

static void names_are_not_abbreviated(void **state)
{
	(void)state;
	assert_refused("", LINE("--verb"), "unknown option '--verb': see 'jxperfctl --help'");
}

static void a_wrong_value_names_its_option(void **state)
{
	(void)state;
	assert_refused("", LINE("--name=bad"), "--name: 'bad' is a bad name");
	assert_refused("", LINE("-n", "bad"), "-n: 'bad' is a bad name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_follows_or_is_joined),
	    cmocka_unit_test(the_last_value_counts),
	    cmocka_unit_test(options_and_operand_come_in_any_order),
	    cmocka_unit_test(a_value_may_look_like_an_option),
	    cmocka_unit_test(two_dashes_end_the_options),
	    cmocka_unit_test(an_optional_operand_may_be_missing),
	    cmocka_unit_test(parsing_stops_at_a_subcommand),
	    cmocka_unit_test(mistakes_are_quoted),
	    cmocka_unit_test(names_are_not_abbreviated),
	    cmocka_unit_test(a_wrong_value_names_its_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
