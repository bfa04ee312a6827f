/* When two values count as the same. */
#include "tests/unit/support/test.h"
#include <math.h>

#include "attach/agent/code/value.h"

static bool same_double(double a, double b)
{
	return value_same(&a, &b, sizeof(a), ELEMENT_FLOAT64);
}

static bool same_float(float a, float b)
{
	return value_same(&a, &b, sizeof(a), ELEMENT_FLOAT32);
}

TEST(integers_are_compared_exactly)
{
	uint32_t a = 1000000, b = 1000001;

	assert_false(value_same(&a, &b, sizeof(a), ELEMENT_INTEGER));
	b = a;
	assert_true(value_same(&a, &b, sizeof(a), ELEMENT_INTEGER));
}

TEST(doubles_within_one_percent_are_the_same)
{
	assert_true(same_double(100.0, 100.9));
	assert_false(same_double(100.0, 101.2));
	assert_true(same_double(-100.0, -100.9));
	assert_false(same_double(1.0, -1.0));
	assert_true(same_double(0.0, -0.0));
	assert_false(same_double(0.0, 1e-300));
}

TEST(nan_equals_nothing)
{
	assert_false(same_double(NAN, NAN));
	assert_false(same_double(NAN, 1.0));
	assert_false(same_float(NAN, NAN));
}

TEST(infinity_equals_only_itself)
{
	assert_true(same_double(INFINITY, INFINITY));
	assert_false(same_double(INFINITY, -INFINITY));
	assert_false(same_double(INFINITY, 1e308));
}

TEST(two_floats_in_eight_bytes_are_compared_each)
{
	float a[2] = {1.0f, 50.0f}, b[2] = {1.001f, 50.1f}, c[2] = {1.0f, 60.0f};

	assert_true(value_same(a, b, sizeof(a), ELEMENT_FLOAT32));
	assert_false(value_same(a, c, sizeof(a), ELEMENT_FLOAT32));
}

TEST(a_part_of_a_double_is_compared_exactly)
{
	double a = 100.0, b = 100.5;

	assert_false(value_same((char *)&a + 4, (char *)&b + 4, 4, ELEMENT_FLOAT64));
}
