#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static char text[8192];
static int kept_stderr, pipe_out;

/* From here to said(), stderr is ours. */
static void listen(void)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	kept_stderr = dup(STDERR_FILENO);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	(void)close(ends[1]);
	pipe_out = ends[0];
}

static const char *said(void)
{
	ssize_t n = read(pipe_out, text, sizeof(text) - 1);

	assert_true(dup2(kept_stderr, STDERR_FILENO) >= 0);
	(void)close(kept_stderr);
	(void)close(pipe_out);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void log_each(void)
{
	log_error("a %d", 1);
	log_warn("b");
	log_info("c");
	log_debug("d");
}

TEST(people_read_the_name_and_the_level)
{
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	log_init("me", true);
	listen();
	log_each();
	assert_string_equal(said(), "me: error: a 1\nme: warning: b\nme: c\nme: debug: d\n");
}

TEST(the_journal_reads_priorities)
{
	assert_int_equal(setenv("JOURNAL_STREAM", "8:1", 1), 0);
	log_init("me", true);
	listen();
	log_each();
	assert_string_equal(said(), "<3>a 1\n<4>b\n<6>c\n<7>d\n");
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
}

TEST(details_are_for_those_who_ask)
{
	log_init("me", false);
	listen();
	log_each();
	assert_null(strstr(said(), "debug"));
}

TEST(a_long_line_is_cut_and_ends)
{
	static char word[4096];
	const char *line;

	memset(word, 'x', sizeof(word) - 1);
	log_init("me", false);
	listen();
	log_warn("%s", word);
	log_warn("next");
	line = said();
	assert_ptr_equal(strstr(line, "\nme: warning: next\n"), strchr(line, '\n'));
	assert_in_range(strcspn(line, "\n"), 1000, 1023);
}

TEST(errno_survives_a_stderr_that_is_closed)
{
	int r;

	log_init("me", false);
	listen();
	(void)close(STDERR_FILENO);
	errno = ENOENT;
	log_error("nobody reads this");
	r = errno;
	(void)said();
	assert_int_equal(r, ENOENT);
}

TEST(texts_of_others_are_quoted)
{
	char quoted[16];

	assert_int_equal(log_quote(quoted, sizeof(quoted), "a \"b\" \\"), 12);
	assert_string_equal(quoted, "\"a \\\"b\\\" \\\\\"");
	/* Cut before a character that does not fit, with its last quote. */
	(void)log_quote(quoted, sizeof(quoted), "0123456789\xe2\x82\xac\xe2\x82\xac");
	assert_string_equal(quoted, "\"0123456789\"");
}
