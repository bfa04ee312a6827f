#include "tests/unit/support/test.h"

#include <math.h>

#include "compare/student.h"

TEST(quantiles_are_those_of_the_tables)
{
	/* Two-sided 5% and 1% (Fisher and Yates, table III). */
	static const struct {
		double df, five, one;
	} rows[] = {{1, 12.706, 63.657}, {2, 4.303, 9.925},       {7, 2.365, 3.499},
		    {15, 2.131, 2.947},  {30, 2.042, 2.750},      {120, 1.980, 2.617},
		    {1e5, 1.960, 2.576}, {INFINITY, 1.960, 2.576}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_float_equal(student_quantile(0.05, rows[i].df), rows[i].five, 6e-4);
		assert_float_equal(student_quantile(0.01, rows[i].df), rows[i].one, 6e-4);
	}
}

TEST(a_quantile_has_its_probability)
{
	static const double df[] = {1, 3.7, 15, 1499, 1e5, 1e7};

	for (size_t i = 0; i < sizeof(df) / sizeof(df[0]); i++)
		for (int decimals = 1; decimals < 10; decimals++) {
			double p = pow(10, -decimals), t = student_quantile(p, df[i]);

			assert_float_equal(log(student_two_sided(t, df[i])), log(p), 1e-6);
		}
}

TEST(at_the_ends_it_is_certain)
{
	assert_float_equal(student_two_sided(0, 3), 1, 0);
	assert_float_equal(student_two_sided(-2, 3), student_two_sided(2, 3), 0);
	assert_float_equal(student_two_sided(1e200, 3), 0, 1e-100);
	assert_true(student_two_sided(40, 20) > 0);
}
