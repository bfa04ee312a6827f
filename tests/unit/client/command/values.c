#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "client/command/values.h"
#include "proto/jxperf.pb-c.h"

TEST(a_field_gets_the_value_of_its_type)
{
	Jxp__Format format = JXP__FORMAT__FORMAT_TEXT;
	uint64_t ns = 1;
	uint32_t count = 1;
	struct err err;

	assert_int_equal(value_duration("5ms", &ns, &err), 0);
	assert_int_equal(ns, 5000000);
	assert_int_equal(value_format("json", &format, &err), 0);
	assert_int_equal(format, JXP__FORMAT__FORMAT_JSON);
	assert_int_equal(value_count("17", &count, &err), 0);
	assert_int_equal(count, 17);
}

TEST(a_wrong_value_leaves_the_field_and_is_quoted)
{
	Jxp__Format format = JXP__FORMAT__FORMAT_JSON;
	uint64_t ns = 1;
	uint32_t count = 1;
	struct err err;

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
