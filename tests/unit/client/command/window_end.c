#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "client/command/window_end.h"

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
	status = window_end_tell(&document, interrupted);
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
