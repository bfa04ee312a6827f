#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/arguments.h"

struct settings {
	const char *name;
	bool verbose;
	int number;
	char copy[6];
	size_t length;
	unsigned choice;
};

static const char *const names[] = {"red", "green", "blue", NULL};

static int parse_length(const char *text, void *field, struct err *err)
{
	if (strcmp(text, "bad") == 0)
		return err_set(err, EINVAL, "'%s' has no length", text);
	*(size_t *)field = strlen(text);
	return 0;
}

#define FIELD(member) .field = offsetof(struct settings, member)

static const struct argument_option options[] = {
    {.name = "name", .letter = 'n', .type = ARGUMENT_TEXT, FIELD(name), .noun = "a name"},
    {.name = "verbose", FIELD(verbose)},
    {.name = "number", .type = ARGUMENT_NUMBER, FIELD(number), .least = -1, .most = 10},
    {.name = "copy",
     .type = ARGUMENT_COPY,
     FIELD(copy),
     .size = sizeof(((struct settings *)0)->copy)},
    {.name = "choice",
     .type = ARGUMENT_CHOICE,
     FIELD(choice),
     .names = names,
     .least = 3,
     .noun = "a colour"},
    {.name = "length",
     .letter = 'l',
     .type = ARGUMENT_PARSED,
     FIELD(length),
     .parse = parse_length},
    {0},
};

/* Parses a NULL-terminated command line of at most 8 arguments. */
static int parse(const char *operands, const char *const *line, struct settings *s,
		 const char **operand, struct err *err)
{
	struct argument_spec spec = {
	    .program = "program", .options = options, .operands = operands};
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

TEST(a_value_follows_or_is_joined)
{
	assert_name(LINE("--name", "value"));
	assert_name(LINE("--name=value"));
	assert_name(LINE("-n", "value"));
}

TEST(the_last_value_counts)
{
	assert_name(LINE("--name", "first", "--name=value"));
}

TEST(options_and_operand_come_in_any_order)
{
	const char *operand;
	struct settings s;
	struct err err;

	assert_int_equal(parse("PID", LINE("--verbose", "42", "-n", "x"), &s, &operand, &err), 0);
	assert_string_equal(operand, "42");
	assert_string_equal(s.name, "x");
	assert_true(s.verbose);
}

TEST(a_value_may_look_like_an_option)
{
	const char *operand;
	struct settings s;
	struct err err;

	assert_int_equal(parse("", LINE("--name", "--verbose"), &s, &operand, &err), 0);
	assert_string_equal(s.name, "--verbose");
	assert_false(s.verbose);
}

TEST(two_dashes_end_the_options)
{
	const char *operand;
	struct settings s;
	struct err err;

	assert_int_equal(parse("NAME", LINE("--", "--verbose"), &s, &operand, &err), 0);
	assert_string_equal(operand, "--verbose");
	assert_false(s.verbose);
}

TEST(an_optional_operand_may_be_missing)
{
	const char *operand = "unchanged";
	struct settings s;
	struct err err;

	assert_int_equal(parse("[PID]", LINE("--verbose"), &s, &operand, &err), 0);
	assert_null(operand);
}

TEST(parsing_stops_at_a_subcommand)
{
	struct argument_spec spec = {.program = "program",
				     .options = options,
				     .operands = "[COMMAND]",
				     .stop_at_operand = true};
	char *argv[] = {"cmd", "--verbose", "list", "--unknown", "x"};
	struct settings s = {0};
	const char *operand;
	struct err err;
	int index;

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

TEST(mistakes_are_quoted)
{
	assert_refused("", LINE("--nope"), "unknown option '--nope': see 'program --help'");
	assert_refused("", LINE("--nope=1"), "unknown option '--nope': see 'program --help'");
	assert_refused("", LINE("-x"), "unknown option '-x': see 'program --help'");
	assert_refused("", LINE("-nvalue"), "unknown option '-nvalue': see 'program --help'");
	assert_refused("", LINE("--verbose=1"), "option '--verbose' takes no value");
	assert_refused("", LINE("--name"), "option '--name' needs a value");
	assert_refused("", LINE("-n"), "option '-n' needs a value");
	assert_refused("", LINE("x"), "unexpected argument 'x': see 'program --help'");
	assert_refused("PID", LINE("1", "2"), "unexpected argument '2': see 'program --help'");
	assert_refused("PID", LINE("--verbose"), "'cmd' needs PID: see 'program --help'");
}

TEST(names_are_not_abbreviated)
{
	assert_refused("", LINE("--verb"), "unknown option '--verb': see 'program --help'");
}

TEST(a_wrong_value_names_its_option)
{
	assert_refused("", LINE("--length=bad"), "--length: 'bad' has no length");
	assert_refused("", LINE("-l", "bad"), "-l: 'bad' has no length");
	assert_refused("", LINE("--name="), "--name: '' is not a name");
	assert_refused("", LINE("--copy", "longer"), "--copy: the value is longer than 5 bytes");
	assert_refused("", LINE("--number", "11"), "--number: '11' is not a number from -1 to 10");
	assert_refused("", LINE("--number", "-2"), "--number: '-2' is not a number from -1 to 10");
	assert_refused("", LINE("--number", "1x"), "--number: '1x' is not a number from -1 to 10");
	assert_refused("", LINE("--number="), "--number: '' is not a number from -1 to 10");
	assert_refused("", LINE("--choice", "gre"),
		       "--choice: 'gre' is not a colour: use red, green or blue");
	assert_refused("", LINE("--choice="),
		       "--choice: '' is not a colour: use red, green or blue");
	assert_refused("", LINE("--number", "99999999999999999999"),
		       "--number: '99999999999999999999' is not a number from -1 to 10");
}

TEST(values_arrive_in_the_fields_of_their_types)
{
	const char *operand;
	struct settings s;
	struct err err;

	assert_int_equal(
	    parse("", LINE("--number", "-1", "--copy=short", "--length", "four", "--choice=green"),
		  &s, &operand, &err),
	    0);
	assert_int_equal(s.number, -1);
	assert_string_equal(s.copy, "short");
	assert_int_equal(s.length, 4);
	assert_int_equal(s.choice, 4);
	assert_null(s.name);
}

TEST(two_operands_are_both_wanted)
{
	static const struct argument_spec spec = {.program = "program",
						  .options = options,
						  .operands = "two windows",
						  .operand_count = 2};
	char *line[] = {"diff", "w1", "--verbose", "w2", "w3", NULL};
	const char *operands[2];
	struct settings s = {0};
	struct err err;

	assert_int_equal(arguments_parse(&spec, 4, line, &s, operands, NULL, &err), 0);
	assert_string_equal(operands[0], "w1");
	assert_string_equal(operands[1], "w2");
	assert_int_equal(arguments_parse(&spec, 3, line, &s, operands, NULL, &err), -EINVAL);
	assert_string_equal(err.message, "'diff' needs two windows: see 'program --help'");
	assert_int_equal(arguments_parse(&spec, 5, line, &s, operands, NULL, &err), -EINVAL);
	assert_string_equal(err.message, "unexpected argument 'w3': see 'program --help'");
}

/* ---------------------------------------------------------------- groups */

static const char *colour_at(size_t i)
{
	return i < 2 ? names[i] : NULL;
}

struct outer {
	char before[16];
	struct settings inner;
	unsigned colour;
};

static const struct argument_option outer_options[] = {
    {.name = "colour",
     .type = ARGUMENT_CHOICE,
     .field = offsetof(struct outer, colour),
     .name_at = colour_at,
     .noun = "a colour"},
    {.group = options, .field = offsetof(struct outer, inner)},
    {0},
};

TEST(the_options_of_a_group_are_set_in_their_part_of_the_settings)
{
	const struct argument_spec spec = {
	    .program = "program", .options = outer_options, .operands = ""};
	const char *line[] = {"cmd", "-n", "value", "--number=7", "--colour", "green"};
	struct outer outer = {.before = "unchanged"};
	struct err err;

	assert_int_equal(arguments_parse(&spec, 6, (char **)line, &outer, NULL, NULL, &err), 0);
	assert_string_equal(outer.inner.name, "value");
	assert_int_equal(outer.inner.number, 7);
	assert_int_equal(outer.colour, 1);
	assert_string_equal(outer.before, "unchanged");
}

TEST(the_words_of_a_choice_are_listed)
{
	char text[64];

	assert_string_equal(argument_names(&outer_options[0], text, sizeof(text)), "red or green");
	assert_string_equal(argument_names(&options[4], text, sizeof(text)), "red, green or blue");
	assert_string_equal(argument_names(&options[0], text, sizeof(text)), "");
}
