#include "tests/unit/support/test.h"

#include "daemon/export/retry.h"

TEST(delays_double_up_to_five_minutes_and_differ_by_up_to_a_half)
{
	assert_int_equal(retry_delay_ms(1, 0, 0), 500);
	assert_int_equal(retry_delay_ms(1, UINT32_MAX, 0), 1000);
	assert_int_equal(retry_delay_ms(2, UINT32_MAX, 0), 2000);
	assert_int_equal(retry_delay_ms(9, UINT32_MAX, 0), 256000);
	assert_int_equal(retry_delay_ms(10, UINT32_MAX, 0), 300000);
	assert_int_equal(retry_delay_ms(UINT32_MAX, UINT32_MAX, 0), 300000);
	assert_int_equal(retry_delay_ms(UINT32_MAX, 0, 0), 150000);
}

TEST(a_server_s_wish_is_kept_up_to_an_hour)
{
	assert_int_equal(retry_delay_ms(1, 0, 60000), 60000);
	assert_int_equal(retry_delay_ms(1, 0, 86400000), 3600000);
	/* One that wants us sooner does not have us sooner. */
	assert_int_equal(retry_delay_ms(10, UINT32_MAX, 10), 300000);
}

TEST(retry_after_is_seconds_or_a_date)
{
	const time_t now = 784111777; /* Sun, 06 Nov 1994 08:49:37 GMT */
	static const struct {
		const char *value;
		uint64_t ms;
	} cases[] = {
	    {"120", 120000},
	    {"  7 ", 7000},
	    {"0", 0},
	    {"3600", 3600000},
	    {"3601", 3600000},
	    {"99999999999999999999999999", 3600000},
	    {"Sun, 06 Nov 1994 08:50:07 GMT", 30000},
	    {"Sunday, 06-Nov-94 08:50:07 GMT", 30000},
	    {"Sun, 06 Nov 1994 08:49:07 GMT", 0},
	    {"Sun, 06 Nov 2094 08:49:07 GMT", 3600000},
	    {"", 0},
	    {"-5", 0},
	    {"1.5", 0},
	    {"120 years", 0},
	    {"soon", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(retry_after_ms(cases[i].value, now), cases[i].ms);
}
