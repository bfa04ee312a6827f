#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/command/parse.h"

#define UNCHANGED 77

/* ---------------------------------------------------------------- what is understood */

static void assert_duration(const char *text, uint64_t expected)
{
	struct err err;
	uint64_t ns = UNCHANGED;

	assert_int_equal(parse_duration(text, &ns, &err), 0);
	assert_true(ns == expected);
}

static void durations_take_every_unit(void **state)
{
	(void)state;
	assert_duration("100ns", 100);
	assert_duration("500us", 500000);
	assert_duration("5ms", 5000000);
	assert_duration("30s", 30000000000);
	assert_duration("2m", 120000000000);
	assert_duration("1h", 3600000000000);
}

static void durations_may_have_a_fraction(void **state)
{
	(void)state;
	assert_duration("1.5s", 1500000000);
	assert_duration("0.001ms", 1000);
}

static void assert_fraction(const char *text, double expected)
{
	struct err err;
	double fraction = UNCHANGED;

	assert_int_equal(parse_fraction(text, &fraction, &err), 0);
	assert_true(fraction == expected);
}

static void shares_are_percentages_or_fractions(void **state)
{
	(void)state;
	assert_fraction("1%", 0.01);
	assert_fraction("2.5%", 0.025);
	assert_fraction("100%", 1);
	assert_fraction("0.01", 0.01);
}

static void assert_size(const char *text, uint64_t expected)
{
	struct err err;
	uint64_t bytes = UNCHANGED;

	assert_int_equal(parse_size(text, &bytes, &err), 0);
	assert_true(bytes == expected);
}

static void sizes_are_bytes_or_binary_multiples(void **state)
{
	(void)state;
	assert_size("0", 0);
	assert_size("4096", 4096);
	assert_size("512B", 512);
	assert_size("1KiB", 1024);
	assert_size("1.5MiB", 1572864);
	assert_size("2GiB", 2147483648);
}

static void pids_are_positive_integers(void **state)
{
	struct err err;
	uint32_t pid;

	(void)state;
	assert_int_equal(parse_pid("1", &pid, &err), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(parse_pid("2147483647", &pid, &err), 0);
	assert_int_equal(pid, 2147483647);
}

static void a_number_is_told_from_a_name(void **state)
{
	(void)state;
	assert_true(parse_is_number("123"));
	assert_false(parse_is_number(""));
	assert_false(parse_is_number("12a"));
	assert_false(parse_is_number("-1"));
	assert_false(parse_is_number("app.jar"));
}

static void kinds_are_a_list(void **state)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	(void)state;
	assert_int_equal(parse_kinds("silent-load,dead-store", kinds, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(kinds[0], JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(kinds[1], JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(parse_kinds("dead-store,silent-store,silent-load", kinds, &count, &err),
			 0);
	assert_int_equal(count, 3);
}

/* Whether the manual explains every kind. Tests run from the top of the source tree. */
static void every_kind_is_in_the_manual(void **state)
{
	static char manual[65536];
	FILE *file = fopen("docs/man/jxperfctl.1", "re");

	(void)state;
	assert_non_null(file);
	manual[fread(manual, 1, sizeof(manual) - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < PAIR_KINDS + SUBJECT_KINDS; i++) {
		const char *option =
		    i < PAIR_KINDS ? pair_kinds[i].option : subject_kinds[i - PAIR_KINDS].option;
		char entry[64] = ".BR ";

		/* A minus sign is written \- there. */
		for (const char *c = option; *c; c++)
			(void)snprintf(entry + strlen(entry), sizeof(entry) - strlen(entry),
				       *c == '-' ? "\\%c" : "%c", *c);
		if (!strstr(manual, entry))
			fail_msg("'%s' is not in the manual", option);
	}
}

static void a_repeated_kind_counts_once(void **state)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	(void)state;
	assert_int_equal(parse_kinds("dead-store,dead-store,dead-store,dead-store,silent-load",
				     kinds, &count, &err),
			 0);
	assert_int_equal(count, 2);
}

static void samplers_and_formats_are_known_by_name(void **state)
{
	Jxp__Sampler sampler;
	Jxp__Format format;
	struct err err;

	(void)state;
	assert_int_equal(parse_sampler("ibs", &sampler, &err), 0);
	assert_int_equal(sampler, JXP__SAMPLER__SAMPLER_IBS);
	assert_int_equal(parse_format("collapsed", &format, &err), 0);
	assert_int_equal(format, JXP__FORMAT__FORMAT_COLLAPSED);
}

/* ---------------------------------------------------------------- what is refused */

/* -EINVAL, and the message quotes the text. */
static void assert_refused(int r, const char *text, const struct err *err)
{
	assert_int_equal(r, -EINVAL);
	if (!strstr(err->message, text))
		fail_msg("'%s' does not quote '%s'", err->message, text);
}

static void wrong_durations_are_quoted(void **state)
{
	static const char *const wrong[] = {"",
					    "s",
					    "30",
					    "-1s",
					    "+1s",
					    " 1s",
					    "1 s",
					    "1.s",
					    ".5s",
					    "1e3s",
					    "0x1s",
					    "infs",
					    "nan",
					    "1sec",
					    "1.5.5s",
					    "1days",
					    "99999999999999h"};
	uint64_t ns = UNCHANGED;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(parse_duration(wrong[i], &ns, &err), wrong[i], &err);
	assert_int_equal(ns, UNCHANGED);
}

static void no_time_at_all_is_refused(void **state)
{
	uint64_t ns = UNCHANGED;
	struct err err;

	(void)state;
	assert_refused(parse_duration("0s", &ns, &err), "0s", &err);
	assert_refused(parse_duration("0.5ns", &ns, &err), "0.5ns", &err);
	assert_int_equal(ns, UNCHANGED);
}

static void wrong_shares_are_quoted(void **state)
{
	static const char *const wrong[] = {"", "%", "0%", "0", "0.0", "101%", "-1%", "1%%", "one"};
	double fraction = UNCHANGED;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(parse_fraction(wrong[i], &fraction, &err), wrong[i], &err);
	assert_true(fraction == UNCHANGED);
}

static void a_bare_one_is_ambiguous(void **state)
{
	double fraction = UNCHANGED;
	struct err err;

	(void)state;
	assert_refused(parse_fraction("1", &fraction, &err), "'1' is ambiguous", &err);
	assert_refused(parse_fraction("5", &fraction, &err), "'5' is ambiguous", &err);
}

static void wrong_sizes_are_quoted(void **state)
{
	static const char *const wrong[] = {"", "KiB", "1kb", "1K", "-1", "1 KiB", "9999999999GiB"};
	uint64_t bytes = UNCHANGED;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(parse_size(wrong[i], &bytes, &err), wrong[i], &err);
	assert_int_equal(bytes, UNCHANGED);
}

static void wrong_pids_are_quoted(void **state)
{
	static const char *const wrong[] = {
	    "",     "0",  "-1", "+1",         "1.0",
	    "0x10", "1a", " 1", "2147483648", "99999999999999999999999999"};
	uint32_t pid = UNCHANGED;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(parse_pid(wrong[i], &pid, &err), wrong[i], &err);
	assert_int_equal(pid, UNCHANGED);
}

static void counts_have_a_range(void **state)
{
	uint32_t count = UNCHANGED;
	struct err err;

	(void)state;
	assert_refused(parse_count("0", &count, &err), "0", &err);
	assert_refused(parse_count("1000001", &count, &err), "1000001", &err);
	assert_int_equal(count, UNCHANGED);
	assert_int_equal(parse_count("1000000", &count, &err), 0);
	assert_int_equal(count, 1000000);
}

static void unknown_kinds_are_quoted_alone(void **state)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	size_t count = UNCHANGED;
	struct err err;

	(void)state;
	assert_refused(parse_kinds("dead-store,foo,bar", kinds, &count, &err), "'foo'", &err);
	assert_refused(parse_kinds("", kinds, &count, &err), "''", &err);
	assert_refused(parse_kinds("dead-store,", kinds, &count, &err), "''", &err);
	assert_refused(parse_kinds("dead_store", kinds, &count, &err), "'dead_store'", &err);
	assert_refused(parse_kinds("dead-stores", kinds, &count, &err), "'dead-stores'", &err);
	assert_refused(parse_kinds("dead", kinds, &count, &err), "'dead'", &err);
	assert_int_equal(count, UNCHANGED);
}

static void kinds_of_objects_are_known(void **state)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	(void)state;
	assert_int_equal(parse_kinds("numa,objects", kinds, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(kinds[0], JXP__KIND__KIND_NUMA);
	assert_int_equal(kinds[1], JXP__KIND__KIND_OBJECTS);
}

static void unknown_samplers_and_formats_are_quoted(void **state)
{
	Jxp__Sampler sampler;
	Jxp__Format format;
	struct err err;

	(void)state;
	assert_refused(parse_sampler("perf", &sampler, &err), "'perf'", &err);
	assert_refused(parse_sampler("", &sampler, &err), "''", &err);
	assert_refused(parse_format("xml", &format, &err), "'xml'", &err);
	assert_refused(parse_format("jso", &format, &err), "'jso'", &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(durations_take_every_unit),
	    cmocka_unit_test(durations_may_have_a_fraction),
	    cmocka_unit_test(shares_are_percentages_or_fractions),
	    cmocka_unit_test(sizes_are_bytes_or_binary_multiples),
	    cmocka_unit_test(pids_are_positive_integers),
	    cmocka_unit_test(a_number_is_told_from_a_name),
	    cmocka_unit_test(kinds_are_a_list),
	    cmocka_unit_test(every_kind_is_in_the_manual),
	    cmocka_unit_test(a_repeated_kind_counts_once),
	    cmocka_unit_test(samplers_and_formats_are_known_by_name),
	    cmocka_unit_test(wrong_durations_are_quoted),
	    cmocka_unit_test(no_time_at_all_is_refused),
	    cmocka_unit_test(wrong_shares_are_quoted),
	    cmocka_unit_test(a_bare_one_is_ambiguous),
	    cmocka_unit_test(wrong_sizes_are_quoted),
	    cmocka_unit_test(wrong_pids_are_quoted),
	    cmocka_unit_test(counts_have_a_range),
	    cmocka_unit_test(unknown_kinds_are_quoted_alone),
	    cmocka_unit_test(kinds_of_objects_are_known),
	    cmocka_unit_test(unknown_samplers_and_formats_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
