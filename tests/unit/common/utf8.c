#include "tests/unit/support/test.h"

#include <string.h>

#include "common/utf8.h"

static void assert_sanitized(const char *from, const char *expected)
{
	char to[64];

	assert_int_equal(utf8_sanitize(to, sizeof(to), from), strlen(expected));
	assert_string_equal(to, expected);
}

TEST(plain_text_is_kept)
{
	assert_sanitized("java.util.HashMap$Node", "java.util.HashMap$Node");
	assert_sanitized("", "");
}

TEST(well_formed_utf8_is_kept)
{
	assert_sanitized("Gr\xc3\xb6\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80",
			 "Gr\xc3\xb6\xc3\x9f"
			 "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(control_characters_become_question_marks)
{
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

TEST(pairs_of_modified_utf8_are_their_character)
{
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

TEST(pairs_are_joined_in_place)
{
	char text[] = "\xed\xa0\xbd\xed\xb8\x80|\xed\xb8\x80\xed|\xed\xa0\xbd\xed\xb8";
	size_t length = utf8_join_pairs(text, sizeof(text) - 1);

	assert_int_equal(length, sizeof(text) - 3);
	assert_memory_equal(text, "\xf0\x9f\x98\x80|\xed\xb8\x80\xed|\xed\xa0\xbd\xed\xb8", length);
}

TEST(what_nobody_sees_becomes_its_code)
{
	assert_sanitized("a\xe2\x80\xaez\xe2\x81\xa6", "a\\u202ez\\u2066");
	assert_sanitized("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "\\u2028\\u2029\\ufeff");
	assert_sanitized("\xf3\xa0\x80\x81\xc2\xad", "\\U000e0001\\u00ad");
}

TEST(names_are_told_apart)
{
	assert_named("a\nb\x7f\xc2\x9b\xff", "a\\x0ab\\x7f\\u009b\\xff");
	assert_named("\xe2\x82|\xf5|\xc1\x81|\xf4\x90\x80\x80",
		     "\\xe2\\x82|\\xf5|\\xc1\\x81|\\xf4\\x90\\x80\\x80");
	assert_named("java.util.Gr\xc3\xb6\xc3\x9f", "java.util.Gr\xc3\xb6\xc3\x9f");
}

TEST(stray_and_cut_sequences_become_question_marks)
{
	assert_sanitized("\x80x\xff", "?x?");
	assert_sanitized("\xe2\x82", "??");
	assert_sanitized("\xf4\x90\x80\x80", "????");
	assert_sanitized("\xf5\x80\x80\x80", "????");
	assert_sanitized("\xc3|\xe2\x82|", "?|??|");
}

TEST(text_that_does_not_fit_is_cut_between_characters)
{
	char to[5];

	assert_int_equal(utf8_sanitize(to, sizeof(to), "abc\xe2\x82\xac"), 3);
	assert_string_equal(to, "abc");
	assert_int_equal(utf8_sanitize(to, sizeof(to), "abcdef"), 4);
	assert_string_equal(to, "abcd");
	assert_int_equal(utf8_sanitize(to, sizeof(to), "\xe2\x80\xae"), 0);
	assert_int_equal(utf8_sanitize(to, 1, "x"), 0);
	assert_string_equal(to, "");
}
