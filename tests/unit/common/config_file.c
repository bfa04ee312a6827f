#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config_file.h"

struct settings {
	char name[8];
	bool loud;
	int number;
};

#define FIELD(member) .field = offsetof(struct settings, member)

static const struct argument_option options[] = {
    {.name = "name",
     .type = ARGUMENT_COPY,
     .in_file = true,
     FIELD(name),
     .size = sizeof(((struct settings *)0)->name)},
    {.name = "secret", FIELD(loud)},
    {.name = "loud", .in_file = true, FIELD(loud)},
    {.name = "number", .type = ARGUMENT_NUMBER, .in_file = true, FIELD(number), .most = 9},
    {0},
};

static char path[] = "/tmp/jxperf-test-XXXXXX";
static struct settings settings;
static struct err err;

static int read_text(const char *text)
{
	FILE *file;
	int fd, r;

	strcpy(path, "/tmp/jxperf-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	settings = (struct settings){.name = "none", .number = 5};
	err.message[0] = '\0';
	r = config_file_read(path, options, &settings, &err);
	assert_int_equal(unlink(path), 0);
	return r;
}

static void lines_set_what_they_name(void **state)
{
	(void)state;
	assert_int_equal(read_text("# a comment\n\n  name = some  \nloud=yes"), 0);
	assert_string_equal(settings.name, "some");
	assert_true(settings.loud);
	assert_int_equal(settings.number, 5);
	assert_int_equal(read_text("loud = yes\nloud = no\nnumber = 9\n"), 0);
	assert_false(settings.loud);
	assert_int_equal(settings.number, 9);
}

/* In the second line. */
static void assert_refused(const char *line, const char *expected)
{
	char text[256], message[ERR_MESSAGE_MAX];

	(void)snprintf(text, sizeof(text), "\n%s\n", line);
	assert_int_equal(read_text(text), -EINVAL);
	(void)snprintf(message, sizeof(message), "%s:2: %s", path, expected);
	assert_string_equal(err.message, message);
	assert_string_equal(settings.name, "none");
}

static void mistakes_are_named_with_their_line(void **state)
{
	(void)state;
	assert_refused("nmae = x", "unknown key 'nmae': use name, loud or number");
	assert_refused("secret = yes", "unknown key 'secret': use name, loud or number");
	assert_refused("just words", "'just words' is not 'key = value'");
	assert_refused("name =", "'name' needs a value");
	assert_refused("name = too long a name", "name: the value is longer than 7 bytes");
	assert_refused("loud = maybe", "'loud' is 'yes' or 'no', not 'maybe'");
	assert_refused("number = 10", "number: '10' is not a number from 0 to 9");
}

static void a_line_that_never_ends_is_refused(void **state)
{
	static char text[10000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(read_text(text), -EINVAL);
	assert_non_null(strstr(err.message, ":1: the line is too long"));
}

static void a_file_that_cannot_be_opened_is_named(void **state)
{
	(void)state;
	assert_int_equal(config_file_read("/nonexistent/file", options, &settings, &err), -ENOENT);
	assert_non_null(strstr(err.message, "'/nonexistent/file'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_set_what_they_name),
	    cmocka_unit_test(mistakes_are_named_with_their_line),
	    cmocka_unit_test(a_line_that_never_ends_is_refused),
	    cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
