#include "tests/unit/support/test.h"

#include <math.h>

#include "daemon/schedule/host_guard.h"
#include "fleet/config/config.h"

TEST(pressure_is_that_of_the_last_seconds)
{
	static const char text[] = "some avg10=12.50 avg60=1.79 avg300=2.02 total=21126932980\n"
				   "full avg10=3.00 avg60=0.00 avg300=0.00 total=0\n";

	assert_true(host_guard_pressure(text, false) == 0.125);
	assert_true(host_guard_pressure(text, true) == 0.03);
	assert_true(host_guard_pressure("", true) == 0);
	assert_true(host_guard_pressure("some avg10=high", false) == 0);
}

TEST(each_guard_is_a_reason_of_its_own)
{
	struct config_guards guards = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};

	assert_int_equal(host_guard_look(&guards), MISS_NONE);
	guards.collector = 0; /* This one is the JVM's. */
	assert_int_equal(host_guard_look(&guards), MISS_NONE);
	guards.load = 0;
	assert_int_equal(host_guard_look(&guards), MISS_LOAD);
}
