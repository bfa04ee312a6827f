#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "common/err.h"

TEST(the_message_is_formatted_and_the_code_negated)
{
	struct err err;

	assert_int_equal(err_set(&err, EBUSY, "pid %d is '%s'", 42, "busy"), -EBUSY);
	assert_string_equal(err.message, "pid 42 is 'busy'");
}

TEST(a_system_error_is_put_into_words)
{
	struct err err;

	assert_int_equal(err_set_errno(&err, ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_string_equal(err.message, "cannot open 'x': No such file or directory");
}

TEST(nobody_has_to_want_the_message)
{
	assert_int_equal(err_set(NULL, EIO, "lost"), -EIO);
	assert_int_equal(err_set_errno(NULL, EIO, "lost"), -EIO);
}

TEST(a_quoted_newline_does_not_break_the_line)
{
	struct err err;

	(void)err_set(&err, EINVAL, "'%s' is wrong", "a\nb\x1b[2J");
	assert_string_equal(err.message, "'a?b?[2J' is wrong");
	(void)err_set_errno(&err, EINVAL, "'%s'", "\r");
	assert_string_equal(err.message, "'?': Invalid argument");
}

TEST(a_message_that_is_too_long_is_cut)
{
	char text[2 * ERR_MESSAGE_MAX];
	struct err err;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void)err_set(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_MAX - 1);
	(void)err_set_errno(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_MAX - 1);
}
