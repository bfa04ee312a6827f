#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/err.h"

static void the_message_is_formatted_and_the_code_negated(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, EBUSY, "pid %d is '%s'", 42, "busy"), -EBUSY);
	assert_string_equal(err.message, "pid 42 is 'busy'");
}

static void a_system_error_is_put_into_words(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set_errno(&err, ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_string_equal(err.message, "cannot open 'x': No such file or directory");
}

static void nobody_has_to_want_the_message(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, EIO, "lost"), -EIO);
	assert_int_equal(err_set_errno(NULL, EIO, "lost"), -EIO);
}

static void a_quoted_newline_does_not_break_the_line(void **state)
{
	struct err err;

	(void)state;
	(void)err_set(&err, EINVAL, "'%s' is wrong", "a\nb\x1b[2J");
	assert_string_equal(err.message, "'a?b?[2J' is wrong");
	(void)err_set_errno(&err, EINVAL, "'%s'", "\r");
	assert_string_equal(err.message, "'?': Invalid argument");
}

static void a_message_that_is_too_long_is_cut(void **state)
{
	char text[2 * ERR_MESSAGE_MAX];
	struct err err;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void)err_set(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_MAX - 1);
	(void)err_set_errno(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_message_is_formatted_and_the_code_negated),
	    cmocka_unit_test(a_system_error_is_put_into_words),
	    cmocka_unit_test(nobody_has_to_want_the_message),
	    cmocka_unit_test(a_quoted_newline_does_not_break_the_line),
	    cmocka_unit_test(a_message_that_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
