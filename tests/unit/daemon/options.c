#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/options.h"

static struct options options;
static struct config config;
static struct err err;

/* Parses a command line given as words; returns what options_parse does. */
static int parse(const char *first, ...)
{
	char *argv[16] = {(char *)"jxperfd"};
	int argc = 1;
	va_list ap;

	va_start(ap, first);
	for (const char *word = first; word; word = va_arg(ap, const char *))
		argv[argc++] = (char *)word;
	va_end(ap);
	err.message[0] = '\0';
	config_release(&config);
	return options_parse(&options, &config, argc, argv, &err);
}

/* A file with the text; to be unlinked. */
static const char *config_file(const char *text)
{
	static char path[] = "/tmp/jxperf-test-XXXXXX";
	FILE *file;
	int fd;

	strcpy(path, "/tmp/jxperf-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

TEST(defaults_are_those_of_a_service)
{
	assert_int_equal(parse(NULL), 0);
	assert_false(options.version || options.help || options.check_config);
	assert_string_equal(options.socket, "/run/jxperf/control.sock");
	assert_int_equal(strncmp(options.http, "127.0.0.1:", 10), 0);
	assert_non_null(strstr(options.bundle, "lib/jxperf"));
	assert_int_equal(options.broker_fd, -1);
	assert_int_equal(options.client_fd, -1);
}

TEST(the_command_line_sets_what_it_names)
{
	assert_int_equal(parse("--socket", "/x/s", "--http", "[::1]:80", "--bundle=/b",
			       "--state-dir", "/st", "--verbose", "--broker-fd", "7", NULL),
			 0);
	assert_string_equal(options.socket, "/x/s");
	assert_string_equal(options.http, "[::1]:80");
	assert_string_equal(options.bundle, "/b");
	assert_string_equal(options.state_dir, "/st");
	assert_true(options.verbose);
	assert_int_equal(options.broker_fd, 7);
}

TEST(actions_are_recognised)
{
	assert_int_equal(parse("--version", NULL), 0);
	assert_true(options.version);
	assert_int_equal(parse("--help", NULL), 0);
	assert_true(options.help);
	assert_int_equal(parse("--check-config", NULL), 0);
	assert_true(options.check_config);
}

TEST(a_private_daemon_serves_no_http)
{
	assert_int_equal(parse("--client-fd", "3", "--http", "127.0.0.1:1", NULL), 0);
	assert_string_equal(options.http, "");
	assert_int_equal(parse("--http", "none", NULL), 0);
	assert_string_equal(options.http, "");
}

TEST(wrong_words_are_quoted_in_the_error)
{
	assert_int_equal(parse("--frobnicate", NULL), -EINVAL);
	assert_non_null(strstr(err.message, "'--frobnicate'"));
	assert_int_equal(parse("--socket", NULL), -EINVAL);
	assert_non_null(strstr(err.message, "'--socket' needs a value"));
	assert_int_equal(parse("extra", NULL), -EINVAL);
	assert_non_null(strstr(err.message, "'extra'"));
	assert_int_equal(parse("--broker-fd", "x", NULL), -EINVAL);
	assert_int_equal(parse("--http", "nowhere", NULL), -EINVAL);
	assert_non_null(strstr(err.message, "'nowhere'"));
}

TEST(the_file_sets_keys_and_the_command_line_wins)
{
	const char *path = config_file("# settings\n\nsocket: /from/file\nverbose: true\n"
				       "state-dir: /var/x\nwindows-at-once: 9\n");

	assert_int_equal(parse("--socket", "/from/line", "--config", path, NULL), 0);
	assert_string_equal(options.socket, "/from/line");
	assert_string_equal(options.state_dir, "/var/x");
	assert_true(options.verbose);
	assert_int_equal(config.windows_at_once, 9);
	assert_int_equal(unlink(path), 0);
	config_release(&config);
}

TEST(a_wrong_file_is_named_with_the_place)
{
	const char *path = config_file("\nsockte: /x\n");
	char expected[ERR_MESSAGE_MAX];

	(void)snprintf(expected, sizeof(expected),
		       "%s:2:1: sockte: there is no such key: see jxperfd.yaml(5)", path);
	assert_int_equal(parse("--config", path, NULL), -EINVAL);
	assert_string_equal(err.message, expected);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(parse("--config", path, NULL), -ENOENT);
}

TEST(a_broker_is_had_or_been)
{
	assert_int_equal(parse(NULL), 0);
	assert_string_equal(options.broker, "");
	assert_null(options.broker_for);
	assert_int_equal(parse("--broker", "/run/b.sock", NULL), 0);
	assert_string_equal(options.broker, "/run/b.sock");
	assert_int_equal(parse("--broker-for", "jxperf", NULL), 0);
	assert_string_equal(options.broker_for, "jxperf");
}
