#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/terminal/paint.h"

#define BOLD    "\033[1m"
#define DIM     "\033[2m"
#define RED     "\033[31m"
#define MAGENTA "\033[35m"
#define END     "\033[0m"

static void assert_folded(const char *text, size_t width, bool colour, const char *expected)
{
	char *painted = NULL;
	size_t size;
	FILE *out = open_memstream(&painted, &size);

	assert_non_null(out);
	paint_report(out, text, strlen(text), width, colour);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(painted, expected);
	free(painted);
}

static void assert_painted(const char *text, const char *expected)
{
	assert_folded(text, 200, true, expected);
}

TEST(lines_are_folded_between_words_where_the_terminal_ends)
{
	assert_folded("0.0%  0.0% to 33.3%   byte[]\nshort\n", 16, false,
		      "0.0%  0.0% to\n    33.3%\n    byte[]\nshort\n");
	assert_folded("  at Main.run(Main.java:3) and", 20, false,
		      "  at Main.run(Main.java:3)\n      and");
	/* Characters count, not bytes. */
	assert_folded("\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4", 7, false,
		      "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4");
	assert_folded("Loops of it all\n", 10, true, BOLD "Loops of\n    it all" END "\n");
	assert_folded("Loops\n", 10, false, "Loops\n");
}

TEST(headings_are_bold_and_what_is_below_them_is_as_it_was)
{
	assert_painted("Work in vain\n1. Main.sum loads\n   12.5% of it\nNot a heading\n\nwindow "
		       "w3: Main\n\nLoops\n",
		       BOLD "Work in vain" END "\n" BOLD "1. Main.sum loads" END
			    "\n   12.5% of it\nNot a heading\n\nwindow w3: Main\n\n" BOLD
			    "Loops" END "\n");
}

TEST(a_kind_of_waste_has_one_colour_in_all_of_its_section)
{
	assert_painted("dead stores    0.0%\n\n"
		       "Dead stores: stored, then overwritten without being read\n"
		       "****OVERWRITTEN BY****\n\n"
		       "Silent stores: the second store writes the value that is already there\n"
		       "****REDUNDANT WITH****\n",
		       RED
		       "dead stores" END "    0.0%\n\n" RED
		       "Dead stores: stored, then overwritten without being read" END "\n" RED
		       "****OVERWRITTEN BY****" END "\n\n" MAGENTA
		       "Silent stores: the second store writes the value that is already there" END
		       "\n" MAGENTA "****REDUNDANT WITH****" END "\n");
}

TEST(rules_and_what_is_folded_are_quiet)
{
	assert_painted("-----\n... (12 frames in common, up to Main.main)\nMain.run",
		       DIM "-----" END "\n" DIM "... (12 frames in common, up to Main.main)" END
			   "\nMain.run");
	assert_painted("", "");
}
