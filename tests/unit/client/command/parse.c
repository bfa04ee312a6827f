#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/command/parse.h"
#include "common/clock.h"

#define UNCHANGED 77

/* ---------------------------------------------------------------- what is understood */

TEST(pids_are_positive_integers)
{
	struct err err;
	uint32_t pid;

	assert_int_equal(parse_pid("1", &pid, &err), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(parse_pid("2147483647", &pid, &err), 0);
	assert_int_equal(pid, 2147483647);
}

TEST(a_number_is_told_from_a_name)
{
	assert_true(parse_is_number("123"));
	assert_false(parse_is_number(""));
	assert_false(parse_is_number("12a"));
	assert_false(parse_is_number("-1"));
	assert_false(parse_is_number("app.jar"));
}

TEST(kinds_are_a_list)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	assert_int_equal(parse_kinds("silent-load,dead-store", kinds, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(kinds[0], JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(kinds[1], JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(parse_kinds("dead-store,silent-store,silent-load", kinds, &count, &err),
			 0);
	assert_int_equal(count, 3);
}

/* Whether the manual explains every kind. Tests run from the top of the source tree. */
TEST(every_kind_is_in_the_manual)
{
	static char manual[65536];
	FILE *file = fopen("docs/man/jxperfctl.1", "re");

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

TEST(a_repeated_kind_counts_once)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	assert_int_equal(parse_kinds("dead-store,dead-store,dead-store,dead-store,silent-load",
				     kinds, &count, &err),
			 0);
	assert_int_equal(count, 2);
}

/* ---------------------------------------------------------------- what is refused */

/* -EINVAL, and the message quotes the text. */
static void assert_refused(int r, const char *text, const struct err *err)
{
	assert_int_equal(r, -EINVAL);
	if (!strstr(err->message, text))
		fail_msg("'%s' does not quote '%s'", err->message, text);
}

TEST(wrong_pids_are_quoted)
{
	static const char *const wrong[] = {
	    "",     "0",  "-1", "+1",         "1.0",
	    "0x10", "1a", " 1", "2147483648", "99999999999999999999999999"};
	uint32_t pid = UNCHANGED;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(parse_pid(wrong[i], &pid, &err), wrong[i], &err);
	assert_int_equal(pid, UNCHANGED);
}

TEST(counts_have_a_range)
{
	uint32_t count = UNCHANGED;
	struct err err;

	assert_refused(parse_count("0", &count, &err), "0", &err);
	assert_refused(parse_count("1000001", &count, &err), "1000001", &err);
	assert_int_equal(count, UNCHANGED);
	assert_int_equal(parse_count("1000000", &count, &err), 0);
	assert_int_equal(count, 1000000);
}

TEST(unknown_kinds_are_quoted_alone)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	size_t count = UNCHANGED;
	struct err err;

	assert_refused(parse_kinds("dead-store,foo,bar", kinds, &count, &err), "'foo'", &err);
	assert_refused(parse_kinds("", kinds, &count, &err), "''", &err);
	assert_refused(parse_kinds("dead-store,", kinds, &count, &err), "''", &err);
	assert_refused(parse_kinds("dead_store", kinds, &count, &err), "'dead_store'", &err);
	assert_refused(parse_kinds("dead-stores", kinds, &count, &err), "'dead-stores'", &err);
	assert_refused(parse_kinds("dead", kinds, &count, &err), "'dead'", &err);
	assert_int_equal(count, UNCHANGED);
}

TEST(kinds_of_objects_are_known)
{
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	struct err err;
	size_t count;

	assert_int_equal(parse_kinds("numa,objects", kinds, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(kinds[0], JXP__KIND__KIND_NUMA);
	assert_int_equal(kinds[1], JXP__KIND__KIND_OBJECTS);
}

/* What a command makes of `--name value`. */
static int choose(const char *name, const char *value, Jxp__ReportRequest *report, struct err *err)
{
	const struct argument_spec spec = {
	    .program = "jxperfctl", .options = report_arguments, .operands = ""};
	char *argv[] = {(char *)"report", (char *)name, (char *)value, NULL};

	return arguments_parse(&spec, 3, argv, report, NULL, NULL, err);
}

TEST(formats_views_and_regions_are_known_by_name)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	struct err err;

	assert_int_equal(choose("--format", "collapsed", &report, &err), 0);
	assert_int_equal(report.format, JXP__FORMAT__FORMAT_COLLAPSED);
	assert_int_equal(choose("--format", "pprof", &report, &err), 0);
	assert_int_equal(report.format, JXP__FORMAT__FORMAT_PPROF);
	assert_int_equal(choose("--view", "fields", &report, &err), 0);
	assert_int_equal(report.view, JXP__VIEW__VIEW_FIELDS);
	assert_int_equal(choose("--view", "subsuming", &report, &err), 0);
	assert_int_equal(report.view, JXP__VIEW__VIEW_SUBSUMING);
	assert_int_equal(choose("--view", "all", &report, &err), 0);
	assert_int_equal(report.view, JXP__VIEW__VIEW_ALL);
	assert_int_equal(choose("--region", "stack", &report, &err), 0);
	assert_int_equal(report.n_regions, 1);
	assert_int_equal(report.regions[0], JXP__REGION__REGION_STACK);
	assert_int_equal(choose("--region", "all", &report, &err), 0);
	assert_int_equal(report.n_regions, 0);
}

TEST(unknown_formats_views_and_regions_are_quoted)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	struct err err;

	assert_refused(choose("--format", "xml", &report, &err), "'xml'", &err);
	assert_refused(choose("--format", "jso", &report, &err), "'jso'", &err);
	assert_refused(choose("--view", "unknown", &report, &err), "'unknown'", &err);
	assert_refused(choose("--view", "", &report, &err), "''", &err);
	/* Its pairs are not listed. */
	assert_refused(choose("--region", "jvm", &report, &err), "'jvm'", &err);
	assert_refused(choose("--region", "heap,stack", &report, &err), "'heap,stack'", &err);
}

static uint64_t time_of(const char *text)
{
	uint64_t unix_ns = 0;
	struct err err;

	assert_int_equal(parse_time(text, &unix_ns, &err), 0);
	return unix_ns / NS_PER_S;
}

TEST(times_are_taken_as_reports_and_others_write_them)
{
	uint64_t unix_ns;
	struct err err;

	assert_int_equal(time_of("2026-11-25T14:30:00Z"), 1795617000);
	assert_int_equal(time_of("2026-11-25T14:30:00.123Z"), 1795617000);
	assert_int_equal(time_of("2026-11-25 14:30:00 UTC"), 1795617000);
	assert_int_equal(time_of("2026-11-25T15:30:00+01:00"), 1795617000);
	assert_int_equal(time_of("2026-11-25T15:30+0100"), 1795617000);
	assert_int_equal(time_of("1795617000"), 1795617000);
	assert_refused(parse_time("2026-11-25T14:30:00X", &unix_ns, &err), "'2026-11-25T14:30:00X'",
		       &err);
	assert_refused(parse_time("2026-11-25T14:30:00Z later", &unix_ns, &err), "later'", &err);
	/* A number without its unit. */
	assert_refused(parse_time("24", &unix_ns, &err), "'24'", &err);
}

TEST(a_period_begins_and_ends_with_times)
{
	const uint64_t hour = 3600 * NS_PER_S, now = 1000 * hour;
	uint64_t since = 1, until = 1;
	struct err err;

	assert_true(parse_is_period("24h..") && !parse_is_period("w7"));
	assert_int_equal(parse_period("48h..24h", now, &since, &until, &err), 0);
	assert_int_equal(since, now - 48 * hour);
	assert_int_equal(until, now - 24 * hour);
	assert_int_equal(parse_period("1.5h..", now, &since, &until, &err), 0);
	assert_int_equal(since, now - hour - hour / 2);
	assert_int_equal(until, 0);
	assert_int_equal(parse_period("..2026-11-22 03:00", now, &since, &until, &err), 0);
	assert_int_equal(since, 0);
	assert_true(until > now);
	since = until = 1;
	assert_refused(parse_period("24h..48h", now, &since, &until, &err), "'24h..48h'", &err);
	assert_refused(parse_period("24h", now, &since, &until, &err), "'24h'", &err);
	assert_refused(parse_period("soon..24h", now, &since, &until, &err), "'soon'", &err);
	assert_true(since == 1 && until == 1);
}
