#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "client/terminal/lines.h"

static void assert_line(const struct lines *l, size_t i, const char *expected)
{
	assert_true(i < l->count);
	assert_string_equal(l->rows[i].text, expected);
}

TEST(a_line_keeps_its_style_and_cannot_move_the_cursor)
{
	struct lines l = {0};

	lines_add(&l, STYLE_QUIET, "%s %d", "a\033[2Jb\n", 7);
	assert_int_equal(l.count, 1);
	assert_line(&l, 0, "a?[2Jb? 7");
	assert_int_equal(l.rows[0].style, STYLE_QUIET);
	lines_release(&l);
	assert_int_equal(l.count, 0);
}

TEST(text_is_folded_at_blanks_and_indented_behind_the_first_line)
{
	struct lines l = {0};

	lines_add_folded(&l, STYLE_PLAIN, 30, 5, "  1. one two three four five six seven eight");
	assert_int_equal(l.count, 2);
	assert_line(&l, 0, "  1. one two three four five");
	assert_line(&l, 1, "     six seven eight");
	lines_release(&l);
	lines_add_folded(&l, STYLE_PLAIN, 80, 5, "short");
	lines_add_folded(&l, STYLE_PLAIN, 80, 5, "");
	assert_int_equal(l.count, 2);
	assert_line(&l, 0, "short");
	assert_line(&l, 1, "");
	lines_release(&l);
}

TEST(a_word_that_is_longer_than_a_line_is_broken_between_characters)
{
	struct lines l = {0};

	/* 25 characters of two bytes each. */
	lines_add_folded(&l, STYLE_PLAIN, 20, 0,
			 "\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6"
			 "\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6"
			 "\u00f6\u00f6\u00f6\u00f6\u00f6");
	assert_int_equal(l.count, 2);
	assert_int_equal(strlen(l.rows[0].text), 40);
	assert_int_equal(strlen(l.rows[1].text), 10);
	lines_release(&l);
}

TEST(a_terminal_of_no_width_still_gets_some_text_on_each_line)
{
	struct lines l = {0};

	lines_add_folded(&l, STYLE_PLAIN, 0, 5, "one two three four five six seven eight nine ten");
	assert_int_equal(l.count, 3);
	assert_line(&l, 0, "one two three four");
	lines_release(&l);
}

TEST(text_of_several_lines_becomes_lines)
{
	char text[] = "first\n\nthird\n";
	struct lines l = {0};

	lines_add_text(&l, STYLE_PLAIN, text);
	assert_int_equal(l.count, 3);
	assert_line(&l, 0, "first");
	assert_line(&l, 1, "");
	assert_line(&l, 2, "third");
	lines_release(&l);
}
