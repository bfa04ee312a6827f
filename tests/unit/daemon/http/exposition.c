#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "daemon/http/exposition.h"

static char *text;
static FILE *out;
static size_t size;

static int set_up(void **state)
{
	(void)state;
	out = open_memstream(&text, &size);
	return out ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static const char *written(void)
{
	assert_int_equal(fclose(out), 0);
	return text;
}

static void a_counters_family_has_its_units_name_in_openmetrics_only(void **state)
{
	(void)state;
	exposition_counter(out, true, "x_bytes", "Help.", 3);
	exposition_counter(out, false, "x_bytes", "Help.", 3);
	assert_string_equal(written(), "# HELP x_bytes Help.\n# TYPE x_bytes counter\n"
				       "# UNIT x_bytes bytes\nx_bytes_total 3\n"
				       "# HELP x_bytes_total Help.\n# TYPE x_bytes_total counter\n"
				       "x_bytes_total 3\n");
}

static void a_name_that_only_contains_a_unit_has_none(void **state)
{
	(void)state;
	exposition_gauge(out, true, "x_bytes_free", "Help.", 0.5);
	assert_string_equal(written(), "# HELP x_bytes_free Help.\n# TYPE x_bytes_free gauge\n"
				       "x_bytes_free 0.5\n");
}

static void large_gauges_are_whole(void **state)
{
	(void)state;
	exposition_gauge(out, false, "x", "Help.", 123456789012345.0);
	assert_non_null(strstr(written(), "\nx 123456789012345\n"));
}

static void exemplars_are_for_openmetrics_and_of_a_window(void **state)
{
	(void)state;
	exposition_end_line(out, true, 7, 8, 1795248000.5);
	exposition_end_line(out, false, 7, 8, 1795248000.5);
	exposition_end_line(out, true, 0, 8, 1795248000.5);
	assert_string_equal(written(), " # {window_id=\"w7\"} 8 1795248000.500\n\n\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_counters_family_has_its_units_name_in_openmetrics_only),
	    TEST(a_name_that_only_contains_a_unit_has_none),
	    TEST(large_gauges_are_whole),
	    TEST(exemplars_are_for_openmetrics_and_of_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
