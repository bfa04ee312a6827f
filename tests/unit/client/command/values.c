#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "client/command/values.h"
#include "proto/jxperf.pb-c.h"

static void a_field_gets_the_value_of_its_type(void **state)
{
	Jxp__Format format = JXP__FORMAT__FORMAT_TEXT;
	uint64_t ns = 1;
	uint32_t count = 1;
	struct err err;

	(void)state;
	assert_int_equal(value_duration("5ms", &ns, &err), 0);
	assert_int_equal(ns, 5000000);
	assert_int_equal(value_format("json", &format, &err), 0);
	assert_int_equal(format, JXP__FORMAT__FORMAT_JSON);
	assert_int_equal(value_count("17", &count, &err), 0);
	assert_int_equal(count, 17);
}

static void a_wrong_value_leaves_the_field_and_is_quoted(void **state)
{
	Jxp__Format format = JXP__FORMAT__FORMAT_JSON;
	uint64_t ns = 1;
	uint32_t count = 1;
	struct err err;

	(void)state;
	assert_int_equal(value_duration("soon", &ns, &err), -EINVAL);
	assert_non_null(strstr(err.message, "'soon'"));
	assert_int_equal(value_format("xml", &format, &err), -EINVAL);
	assert_non_null(strstr(err.message, "'xml'"));
	assert_int_equal(value_count("0", &count, &err), -EINVAL);
	assert_non_null(strstr(err.message, "'0'"));
	assert_int_equal(ns, 1);
	assert_int_equal(format, JXP__FORMAT__FORMAT_JSON);
	assert_int_equal(count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_field_gets_the_value_of_its_type),
	    cmocka_unit_test(a_wrong_value_leaves_the_field_and_is_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
