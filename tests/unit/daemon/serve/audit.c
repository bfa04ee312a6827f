#include "tests/unit/support/test.h"

#include <string.h>

#include "daemon/serve/audit.h"

static const struct window_asker somebody = {.uid = 1000, .pid = 4711, .sees = 1000};

static void expect(const struct audit_entry *entry, const char *wanted)
{
	char line[AUDIT_LINE_BYTES];

	audit_format(line, entry);
	assert_string_equal(line, wanted);
}

TEST(what_was_done_says_who_what_and_which)
{
	const struct audit_entry attach = {
	    .action = "attach", .who = &somebody, .pid = 815, .window = "w7"};

	expect(&attach, "audit: action=attach uid=1000 peer-pid=4711 pid=815 window=w7 outcome=ok");
}

TEST(what_was_refused_says_why)
{
	const struct audit_entry attach = {
	    .action = "attach", .who = &somebody, .pid = 815, .reason = "it is \"busy\""};

	expect(&attach, "audit: action=attach uid=1000 peer-pid=4711 pid=815 outcome=refused "
			"reason=\"it is \\\"busy\\\"\"");
}

TEST(what_nobody_asked_for_names_nobody)
{
	const struct audit_entry configure = {.action = "configure"};

	expect(&configure, "audit: action=configure outcome=ok");
}

TEST(what_a_client_sends_can_neither_end_the_line_nor_begin_a_field)
{
	const struct audit_entry report = {.action = "report",
					   .who = &somebody,
					   .window = "w1 outcome=ok\naudit: x\x1b[2J\\\"",
					   .reason = "no window 'w1\r\n\xc2\x85\xff'"};

	expect(&report, "audit: action=report uid=1000 peer-pid=4711 "
			"window=\"w1 outcome=ok?audit: x?[2J\\\\\\\"\" outcome=refused "
			"reason=\"no window 'w1?????"
			"'\"");
}

/* Every byte of it takes two, and the line is shorter than that. */
TEST(a_long_text_is_cut_and_its_quote_closed)
{
	char reason[2000], window[2000], line[AUDIT_LINE_BYTES];
	const struct audit_entry report = {
	    .action = "report", .who = &somebody, .window = window, .reason = reason};
	size_t length;

	memset(reason, '"', sizeof(reason) - 1);
	memset(window, '\\', sizeof(window) - 1);
	reason[sizeof(reason) - 1] = window[sizeof(window) - 1] = '\0';
	audit_format(line, &report);
	length = strlen(line);
	assert_in_range(length, AUDIT_LINE_BYTES - 16, AUDIT_LINE_BYTES - 1);
	assert_non_null(strstr(line, "\\\\\" outcome=refused reason=\"\\\""));
	assert_string_equal(line + length - 3, "\\\"\"");
}

TEST(a_character_is_cut_as_a_whole)
{
	char reason[2000], line[AUDIT_LINE_BYTES];
	const struct audit_entry report = {.action = "report", .who = &somebody, .reason = reason};

	for (size_t shift = 0; shift < 4; shift++) {
		size_t used = shift;

		memset(reason, '"', sizeof(reason));
		while (used + 4 < sizeof(reason)) {
			memcpy(reason + used, "\xf0\x9f\x98\x80", 4);
			used += 4;
		}
		reason[used] = '\0';
		audit_format(line, &report);
		assert_memory_equal(line + strlen(line) - 5, "\xf0\x9f\x98\x80\"", 5);
	}
}
