#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "common/log.h"

static char text[8192];
static int kept_stderr, pipe_out;

/* From here to said(), stderr is ours. */
static void hear(void)
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
	hear();
	log_each();
	assert_string_equal(said(), "me: error: a 1\nme: warning: b\nme: c\nme: debug: d\n");
}

/* Fields as the journal's native protocol has them. */
static size_t add_field(char *to, size_t used, const char *name, const char *value)
{
	uint64_t length = strlen(value);

	used += (size_t)sprintf(to + used, "%s\n", name);
	memcpy(to + used, &length, sizeof(length));
	used += sizeof(length);
	return used + (size_t)sprintf(to + used, "%s\n", value);
}

TEST(the_journal_gets_fields_that_no_text_can_forge)
{
	const struct log_subject subject = {
	    .window = "w7", .schedule = "often", .app = "a\nJXPERF_WINDOW=w1", .pid = 815};
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/tmp/jxperf-log-test"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char wanted[1024], got[1024];
	size_t used;

	(void)unlink(address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	log_init("me", false);
	log_to_journal(address.sun_path);
	log_about(&subject, LOG_WARNING, "said %s", "x\nPRIORITY=0");
	used = add_field(wanted, 0, "MESSAGE", "said x\nPRIORITY=0");
	used = add_field(wanted, used, "PRIORITY", "4");
	used = add_field(wanted, used, "SYSLOG_IDENTIFIER", "me");
	used = add_field(wanted, used, "JXPERF_WINDOW", "w7");
	used = add_field(wanted, used, "JXPERF_SCHEDULE", "often");
	used = add_field(wanted, used, "JXPERF_APP", "a\nJXPERF_WINDOW=w1");
	used = add_field(wanted, used, "JXPERF_PID", "815");
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), used);
	assert_memory_equal(got, wanted, used);
	/* A journal that is gone: the line goes to stderr. */
	(void)close(fd);
	(void)unlink(address.sun_path);
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	hear();
	log_warn("here");
	assert_string_equal(said(), "me: warning: here\n");
	log_to_journal(NULL);
}

TEST(the_journal_reads_priorities)
{
	assert_int_equal(setenv("JOURNAL_STREAM", "8:1", 1), 0);
	log_init("me", true);
	hear();
	log_each();
	assert_string_equal(said(), "<3>a 1\n<4>b\n<6>c\n<7>d\n");
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
}

TEST(details_are_for_those_who_ask)
{
	log_init("me", false);
	hear();
	log_each();
	assert_null(strstr(said(), "debug"));
}

TEST(a_long_line_is_cut_and_ends)
{
	static char word[4096];
	const char *line;

	memset(word, 'x', sizeof(word) - 1);
	log_init("me", false);
	hear();
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
	hear();
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
