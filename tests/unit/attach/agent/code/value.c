/* When two values count as the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
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

static void integers_are_compared_exactly(void **state)
{
	uint32_t a = 1000000, b = 1000001;

	(void)state;
	assert_false(value_same(&a, &b, sizeof(a), ELEMENT_INTEGER));
	b = a;
	assert_true(value_same(&a, &b, sizeof(a), ELEMENT_INTEGER));
}

static void doubles_within_one_percent_are_the_same(void **state)
{
	(void)state;
	assert_true(same_double(100.0, 100.9));
	assert_false(same_double(100.0, 101.2));
	assert_true(same_double(-100.0, -100.9));
	assert_false(same_double(1.0, -1.0));
	assert_true(same_double(0.0, -0.0));
	assert_false(same_double(0.0, 1e-300));
}

static void nan_equals_nothing(void **state)
{
	(void)state;
	assert_false(same_double(NAN, NAN));
	assert_false(same_double(NAN, 1.0));
	assert_false(same_float(NAN, NAN));
}

static void infinity_equals_only_itself(void **state)
{
	(void)state;
	assert_true(same_double(INFINITY, INFINITY));
	assert_false(same_double(INFINITY, -INFINITY));
	assert_false(same_double(INFINITY, 1e308));
}

static void two_floats_in_eight_bytes_are_compared_each(void **state)
{
	float a[2] = {1.0f, 50.0f}, b[2] = {1.001f, 50.1f}, c[2] = {1.0f, 60.0f};

	(void)state;
	assert_true(value_same(a, b, sizeof(a), ELEMENT_FLOAT32));
	assert_false(value_same(a, c, sizeof(a), ELEMENT_FLOAT32));
}

static void a_part_of_a_double_is_compared_exactly(void **state)
{
	double a = 100.0, b = 100.5;

	(void)state;
	assert_false(value_same((char *)&a + 4, (char *)&b + 4, 4, ELEMENT_FLOAT64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integers_are_compared_exactly),
	    cmocka_unit_test(doubles_within_one_percent_are_the_same),
	    cmocka_unit_test(nan_equals_nothing),
	    cmocka_unit_test(infinity_equals_only_itself),
	    cmocka_unit_test(two_floats_in_eight_bytes_are_compared_each),
	    cmocka_unit_test(a_part_of_a_double_is_compared_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
