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

static void assert_named(const char *from, const char *expected)
{
	char to[64];

	assert_int_equal(utf8_name(to, sizeof(to), from), strlen(expected));
	assert_string_equal(to, expected);
}

static void pairs_of_modified_utf8_are_their_character(void **state)
{
	(void)state;
	assert_sanitized("a\xed\xa0\xbd\xed\xb8\x80z", "a\xf0\x9f\x98\x80z");
	assert_named("a\xed\xa0\xbd\xed\xb8\x80z", "a\xf0\x9f\x98\x80z");
	assert_sanitized("\xed\xaf\xbf\xed\xbf\xbf", "\xf4\x8f\xbf\xbf");
	/* Alone, or the other way round, they are none. */
	assert_sanitized("\xed\xa0\xbd!", "???"
					  "!");
	assert_named("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", "\\ud83d\xf0\x9f\x98\x80");
	assert_named("\xed\xb8\x80\xed\xa0\xbd", "\\ude00\\ud83d");
	assert_sanitized("nul\xc0\x80!", "nul?"
					 "?!");
	assert_named("nul\xc0\x80!", "nul\\u0000!");
}

static void pairs_are_joined_in_place(void **state)
{
	char text[] = "\xed\xa0\xbd\xed\xb8\x80|\xed\xb8\x80\xed|\xed\xa0\xbd\xed\xb8";
	size_t length = utf8_join_pairs(text, sizeof(text) - 1);

	(void)state;
	assert_int_equal(length, sizeof(text) - 3);
	assert_memory_equal(text, "\xf0\x9f\x98\x80|\xed\xb8\x80\xed|\xed\xa0\xbd\xed\xb8", length);
}

static void what_nobody_sees_becomes_its_code(void **state)
{
	(void)state;
	assert_sanitized("a\xe2\x80\xaez\xe2\x81\xa6", "a\\u202ez\\u2066");
	assert_sanitized("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "\\u2028\\u2029\\ufeff");
	assert_sanitized("\xf3\xa0\x80\x81\xc2\xad", "\\U000e0001\\u00ad");
}

static void names_are_told_apart(void **state)
{
	(void)state;
	assert_named("a\nb\x7f\xc2\x9b\xff", "a\\x0ab\\x7f\\u009b\\xff");
	assert_named("\xe2\x82|\xf5|\xc1\x81|\xf4\x90\x80\x80",
		     "\\xe2\\x82|\\xf5|\\xc1\\x81|\\xf4\\x90\\x80\\x80");
	assert_named("java.util.Gr\xc3\xb6\xc3\x9f", "java.util.Gr\xc3\xb6\xc3\x9f");
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
	assert_int_equal(utf8_sanitize(to, sizeof(to), "\xe2\x80\xae"), 0);
	assert_int_equal(utf8_sanitize(to, 1, "x"), 0);
	assert_string_equal(to, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_text_is_kept),
	    cmocka_unit_test(well_formed_utf8_is_kept),
	    cmocka_unit_test(control_characters_become_question_marks),
	    cmocka_unit_test(pairs_of_modified_utf8_are_their_character),
	    cmocka_unit_test(pairs_are_joined_in_place),
	    cmocka_unit_test(what_nobody_sees_becomes_its_code),
	    cmocka_unit_test(names_are_told_apart),
	    cmocka_unit_test(stray_and_cut_sequences_become_question_marks),
	    cmocka_unit_test(text_that_does_not_fit_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
