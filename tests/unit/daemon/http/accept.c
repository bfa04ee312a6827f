#include "tests/unit/support/test.h"

#include "daemon/http/accept.h"

static unsigned quality(const char *accept)
{
	return accept_quality(accept, "application/openmetrics-text");
}

TEST(a_type_that_is_named_is_wanted_as_much_as_is_said)
{
	assert_int_equal(quality("application/openmetrics-text"), 1000);
	assert_int_equal(quality("Application/OpenMetrics-Text ; version=1.0.0 ; Q=0.25"), 250);
	assert_int_equal(quality("text/plain;q=1,application/openmetrics-text;q=0.5;x=1"), 500);
	assert_int_equal(quality("application/openmetrics-text;version=1.0.0,text/plain;q=0"),
			 1000);
	assert_int_equal(quality("text/*, application/openmetrics-text;q=2.5"), 1000);
}

TEST(q_0_is_not_at_all)
{
	assert_int_equal(quality("application/openmetrics-text;q=0"), 0);
	assert_int_equal(quality("application/openmetrics-text; q=0.000, */*"), 0);
	assert_int_equal(quality("text/plain, application/openmetrics-text;version=1.0.0; q=0.0"),
			 0);
}

TEST(what_is_not_named_is_not_wanted)
{
	assert_int_equal(quality(NULL), 0);
	assert_int_equal(quality(""), 0);
	assert_int_equal(quality(",,;q=1"), 0);
	assert_int_equal(quality("*/*"), 0);
	assert_int_equal(quality("application/openmetrics-text2"), 0);
	assert_int_equal(quality("text/plain;note=application/openmetrics-text"), 0);
}
