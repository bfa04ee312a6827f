#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "common/units.h"

#define UNCHANGED 77

static void assert_duration(const char *text, uint64_t expected)
{
	struct err err;
	uint64_t ns = UNCHANGED;

	assert_int_equal(units_duration(text, &ns, &err), 0);
	assert_true(ns == expected);
}

TEST(durations_take_every_unit)
{
	assert_duration("100ns", 100);
	assert_duration("500us", 500000);
	assert_duration("5ms", 5000000);
	assert_duration("30s", 30000000000);
	assert_duration("2m", 120000000000);
	assert_duration("1h", 3600000000000);
	assert_duration("30d", 2592000000000000);
	assert_duration("1w", 604800000000000);
}

TEST(durations_add_up)
{
	assert_duration("1h30m", 5400000000000);
	assert_duration("1w2d3h4m5s6ms", 788645006000000);
}

TEST(durations_may_have_a_fraction)
{
	assert_duration("1.5s", 1500000000);
	assert_duration("0.001ms", 1000);
}

static void assert_fraction(const char *text, double expected)
{
	struct err err;
	double fraction = UNCHANGED;

	assert_int_equal(units_fraction(text, &fraction, &err), 0);
	assert_true(fraction == expected);
}

TEST(shares_are_percentages_or_fractions)
{
	assert_fraction("1%", 0.01);
	assert_fraction("2.5%", 0.025);
	assert_fraction("100%", 1);
	assert_fraction("0.01", 0.01);
}

static void assert_size(const char *text, uint64_t expected)
{
	struct err err;
	uint64_t bytes = UNCHANGED;

	assert_int_equal(units_size(text, &bytes, &err), 0);
	assert_true(bytes == expected);
}

TEST(sizes_are_bytes_or_binary_multiples)
{
	assert_size("0", 0);
	assert_size("4096", 4096);
	assert_size("512B", 512);
	assert_size("1KiB", 1024);
	assert_size("1.5MiB", 1572864);
	assert_size("2GiB", 2147483648);
}

TEST(sizes_are_written_as_in_coreutils)
{
	assert_size("1K", 1024);
	assert_size("1k", 1024);
	assert_size("1KB", 1000);
	assert_size("2M", 2097152);
	assert_size("3GB", 3000000000);
}

static void assert_refused(int r, const char *text, const struct err *err)
{
	assert_int_equal(r, -EINVAL);
	if (!strstr(err->message, text))
		fail_msg("'%s' does not quote '%s'", err->message, text);
}

TEST(wrong_durations_are_quoted)
{
	static const char *const wrong[] = {"",      "s",     "30",   "-1s",  "+1s",
					    " 1s",   "1 s",   "1.s",  ".5s",  "1e3s",
					    "0x1s",  "infs",  "nan",  "1sec", "1.5.5s",
					    "1days", "30m1h", "1h1h", "1h30", "99999999999999h"};
	uint64_t ns = UNCHANGED;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(units_duration(wrong[i], &ns, &err), wrong[i], &err);
	assert_int_equal(ns, UNCHANGED);
}

TEST(no_time_at_all_is_refused)
{
	uint64_t ns = UNCHANGED;
	struct err err;

	assert_refused(units_duration("0s", &ns, &err), "0s", &err);
	assert_refused(units_duration("0.5ns", &ns, &err), "0.5ns", &err);
	assert_int_equal(ns, UNCHANGED);
}

TEST(wrong_shares_are_quoted)
{
	static const char *const wrong[] = {"", "%", "0%", "0", "0.0", "101%", "-1%", "1%%", "one"};
	double fraction = UNCHANGED;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(units_fraction(wrong[i], &fraction, &err), wrong[i], &err);
	assert_true(fraction == UNCHANGED);
}

TEST(a_bare_one_is_ambiguous)
{
	double fraction = UNCHANGED;
	struct err err;

	assert_refused(units_fraction("1", &fraction, &err), "'1' is ambiguous", &err);
	assert_refused(units_fraction("5", &fraction, &err), "'5' is ambiguous", &err);
}

TEST(wrong_sizes_are_quoted)
{
	static const char *const wrong[] = {"",   "KiB",   "1kb",          "1Kib",
					    "-1", "1 KiB", "9999999999GiB"};
	uint64_t bytes = UNCHANGED;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(units_size(wrong[i], &bytes, &err), wrong[i], &err);
	assert_int_equal(bytes, UNCHANGED);
}
