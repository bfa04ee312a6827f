#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void an_empty_table_is_its_headings(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, headings);
	assert_printed(&t, "PID  NAME  STATE\n");
	table_release(&t);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct table t;

	(void)state;
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

static void width_counts_characters_and_not_bytes(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, headings);
	table_cell(&t, "1");
	table_cell(&t, "Gr\xc3\xb6\xc3\x9f"
		       "e");
	table_cell(&t, "x");
	assert_printed(&t, "PID  NAME   STATE\n1    Gr\xc3\xb6\xc3\x9f"
			   "e  x\n");
	table_release(&t);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, headings);
	table_cell(&t, "1");
	table_cell(&t, "%s", "a\x1b[2Jb\n\x7f");
	table_cell(&t, "x");
	assert_printed(&t, "PID  NAME      STATE\n1    a?[2Jb??  x\n");
	table_release(&t);
}

static void many_rows_fit(void **state)
{
	char *text = NULL;
	size_t size, lines = 0;
	struct table t;
	FILE *out;

	(void)state;
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

static void text_that_is_not_utf8_is_still_a_json_string(void **state)
{
	json_t *value = json_text("a\xff\xc3\xb6");

	(void)state;
	assert_string_equal(json_string_value(value), "a???");
	json_decref(value);
	value = json_text("Gr\xc3\xb6\xc3\x9f"
			  "e");
	assert_string_equal(json_string_value(value), "Gr\xc3\xb6\xc3\x9f"
						      "e");
	json_decref(value);
}

static void a_failed_json_value_spoils_its_container(void **state)
{
	json_t *object = json_object(), *array = json_array();

	(void)state;
	json_put(&object, "key", NULL);
	assert_null(object);
	json_put(&object, "key", json_integer(1));
	assert_null(object);
	json_push(&array, object);
	assert_null(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_table_is_its_headings),
	    cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
	    cmocka_unit_test(width_counts_characters_and_not_bytes),
	    cmocka_unit_test(control_characters_do_not_reach_the_terminal),
	    cmocka_unit_test(many_rows_fit),
	    cmocka_unit_test(text_that_is_not_utf8_is_still_a_json_string),
	    cmocka_unit_test(a_failed_json_value_spoils_its_container),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
