#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/utf8.h"

static void assert_sanitized(const char *from, const char *expected)
{
	char to[64];

	assert_int_equal(utf8_sanitize(to, sizeof(to), from), strlen(expected));
	assert_string_equal(to, expected);
}

static void plain_text_is_kept(void **state)
{
	(void)state;
	assert_sanitized("java.util.HashMap$Node", "java.util.HashMap$Node");
	assert_sanitized("", "");
}

static void well_formed_utf8_is_kept(void **state)
{
	(void)state;
	assert_sanitized("Gr\xc3\xb6\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80",
			 "Gr\xc3\xb6\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void control_characters_become_question_marks(void **state)
{
	(void)state;
	assert_sanitized("a\nb\tc\x7f", "a?b?c?");
	assert_sanitized("\xc2\x9b"
			 "31m\xc2\x80\xc2\x9f",
			 "??31m????");
	assert_sanitized("\xc2\xa0\xc2\xb5", "\xc2\xa0\xc2\xb5");
}

static void modified_utf8_of_the_jvm_becomes_question_marks(void **state)
{
	(void)state;
	assert_sanitized("nul\xc0\x80!", "nul?"
					 "?!");
	assert_sanitized("\xed\xa0\xbd\xed\xb8\x80", "??????");
}

static void stray_and_cut_sequences_become_question_marks(void **state)
{
	(void)state;
	assert_sanitized("\x80x\xff", "?x?");
	assert_sanitized("\xe2\x82", "??");
	assert_sanitized("\xf4\x90\x80\x80", "????");
	assert_sanitized("\xf5\x80\x80\x80", "????");
	assert_sanitized("\xc3|\xe2\x82|", "?|??|");
}

static void text_that_does_not_fit_is_cut_between_characters(void **state)
{
	char to[5];

	(void)state;
	assert_int_equal(utf8_sanitize(to, sizeof(to), "abc\xe2\x82\xac"), 3);
	assert_string_equal(to, "abc");
	assert_int_equal(utf8_sanitize(to, sizeof(to), "abcdef"), 4);
	assert_string_equal(to, "abcd");
	assert_int_equal(utf8_sanitize(to, 1, "x"), 0);
	assert_string_equal(to, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_text_is_kept),
	    cmocka_unit_test(well_formed_utf8_is_kept),
	    cmocka_unit_test(control_characters_become_question_marks),
	    cmocka_unit_test(modified_utf8_of_the_jvm_becomes_question_marks),
	    cmocka_unit_test(stray_and_cut_sequences_become_question_marks),
	    cmocka_unit_test(text_that_does_not_fit_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
