#include "tests/unit/support/test.h"

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

TEST(a_counters_family_has_its_units_name_in_openmetrics_only, set_up, tear_down)
{
	exposition_counter(out, true, "x_bytes", "Help.", 3);
	exposition_counter(out, false, "x_bytes", "Help.", 3);
	assert_string_equal(written(), "# HELP x_bytes Help.\n# TYPE x_bytes counter\n"
				       "# UNIT x_bytes bytes\nx_bytes_total 3\n"
				       "# HELP x_bytes_total Help.\n# TYPE x_bytes_total counter\n"
				       "x_bytes_total 3\n");
}

TEST(a_name_that_only_contains_a_unit_has_none, set_up, tear_down)
{
	exposition_gauge(out, true, "x_bytes_free", "Help.", 0.5);
	assert_string_equal(written(), "# HELP x_bytes_free Help.\n# TYPE x_bytes_free gauge\n"
				       "x_bytes_free 0.5\n");
}

TEST(large_gauges_are_whole, set_up, tear_down)
{
	exposition_gauge(out, false, "x", "Help.", 123456789012345.0);
	assert_non_null(strstr(written(), "\nx 123456789012345\n"));
}

TEST(exemplars_are_for_openmetrics_and_of_a_window, set_up, tear_down)
{
	exposition_end_line(out, true, 7, 8, 1795248000.5);
	exposition_end_line(out, false, 7, 8, 1795248000.5);
	exposition_end_line(out, true, 0, 8, 1795248000.5);
	assert_string_equal(written(), " # {window_id=\"w7\"} 8 1795248000.500\n\n\n");
}
