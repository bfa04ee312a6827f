#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "client/output/json.h"
#include "client/output/table.h"

static const char *const headings[] = {"PID", "NAME", "STATE", NULL};

static void assert_printed(const struct table *t, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(table_print(t, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

TEST(an_empty_table_is_its_headings)
{
	struct table t;

	table_init(&t, headings);
	assert_printed(&t, "PID  NAME  STATE\n");
	table_release(&t);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
	struct table t;

	table_init(&t, headings);
	table_cell(&t, "%d", 1);
	table_cell(&t, "%s", "Application");
	table_cell(&t, "%s", "a long last cell");
	table_cell(&t, "%d", 12345);
	table_cell(&t, "%s", "A");
	table_cell(&t, "%s", "b");
	assert_printed(&t, "PID    NAME         STATE\n"
			   "1      Application  a long last cell\n"
			   "12345  A            b\n");
	table_release(&t);
}

TEST(width_counts_characters_and_not_bytes)
{
	struct table t;

	table_init(&t, headings);
	table_cell(&t, "1");
	table_cell(&t, "Gr\xc3\xb6\xc3\x9f"
		       "e");
	table_cell(&t, "x");
	assert_printed(&t, "PID  NAME   STATE\n1    Gr\xc3\xb6\xc3\x9f"
			   "e  x\n");
	table_release(&t);
}

TEST(control_characters_do_not_reach_the_terminal)
{
	struct table t;

	table_init(&t, headings);
	table_cell(&t, "1");
	table_cell(&t, "%s", "a\x1b[2Jb\n\x7f");
	table_cell(&t, "x");
	assert_printed(&t, "PID  NAME      STATE\n1    a?[2Jb??  x\n");
	table_release(&t);
}

TEST(many_rows_fit)
{
	char *text = NULL;
	size_t size, lines = 0;
	struct table t;
	FILE *out;

	table_init(&t, headings);
	for (int i = 0; i < 3 * 1000; i++)
		table_cell(&t, "%d", i);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(table_print(&t, out), 0);
	assert_int_equal(fclose(out), 0);
	for (char *p = text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 1001);
	free(text);
	table_release(&t);
}

TEST(text_that_is_not_utf8_is_still_a_json_string)
{
	json_t *value = json_readable("a\xff\xc3\xb6");

	assert_string_equal(json_string_value(value), "a???");
	json_decref(value);
	value = json_readable("Gr\xc3\xb6\xc3\x9f"
			      "e");
	assert_string_equal(json_string_value(value), "Gr\xc3\xb6\xc3\x9f"
						      "e");
	json_decref(value);
}

TEST(a_failed_json_value_spoils_its_container)
{
	json_t *object = json_object(), *array = json_array();

	json_put(&object, "key", NULL);
	assert_null(object);
	json_put(&object, "key", json_integer(1));
	assert_null(object);
	json_push(&array, object);
	assert_null(array);
}
