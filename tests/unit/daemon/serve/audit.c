#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/serve/audit.h"
#include "profile/window/result.h"
#include "tests/unit/support/sample_findings.h"

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
	const struct audit_entry attach = {.action = "attach",
					   .who = &somebody,
					   .pid = 815,
					   .reason = "it is \"busy\"",
					   .error = EBUSY};

	expect(&attach, "audit: action=attach uid=1000 peer-pid=4711 pid=815 outcome=refused "
			"reason=\"it is \\\"busy\\\"\"");
}

TEST(what_nobody_asked_for_names_nobody)
{
	const struct audit_entry configure = {.action = "configure"};

	expect(&configure, "audit: action=configure outcome=ok");
}

TEST(who_has_logged_in_is_told_behind_sudo)
{
	const struct window_asker root = {
	    .pid = 4711, .logged_in = true, .login = 1000, .sees = PROC_ANY_UID};
	const struct audit_entry configure = {.action = "configure", .who = &root};

	expect(&configure, "audit: action=configure uid=0 peer-pid=4711 login=1000 outcome=ok");
}

TEST(a_pause_says_the_reason_that_was_given)
{
	const struct window_asker root = {.pid = 4711, .sees = PROC_ANY_UID};
	const struct audit_entry pause = {
	    .action = "pause", .who = &root, .given = "the database is \"on fire\""};
	const struct audit_entry refused = {
	    .action = "pause", .who = &root, .given = "so", .reason = "no", .error = EPERM};

	expect(&pause, "audit: action=pause uid=0 peer-pid=4711 outcome=ok "
		       "reason=\"the database is \\\"on fire\\\"\"");
	expect(&refused, "audit: action=pause uid=0 peer-pid=4711 outcome=refused reason=no");
}

TEST(what_was_asked_for_by_a_signal_says_which)
{
	const struct audit_entry configure = {.action = "configure", .signal = "HUP"};

	expect(&configure, "audit: action=configure signal=HUP outcome=ok");
}

TEST(outcomes_tell_typos_from_rights_and_from_what_was_tried)
{
	static const struct {
		int error;
		const char *outcome;
	} rows[] = {{ENOENT, "not-found"},   {ESRCH, "not-found"}, {EINVAL, "invalid"},
		    {EACCES, "refused"},     {EDQUOT, "refused"},  {EPROTONOSUPPORT, "refused"},
		    {ECONNABORTED, "failed"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct audit_entry report = {
		    .action = "report", .reason = "no", .error = rows[i].error};
		char wanted[128];

		(void)snprintf(wanted, sizeof(wanted), "audit: action=report outcome=%s reason=no",
			       rows[i].outcome);
		expect(&report, wanted);
	}
}

TEST(the_end_of_a_scheduled_window_is_one_line_with_its_cost)
{
	static const struct window_request request = {
	    .kinds = {[JXP__KIND__KIND_SILENT_LOAD] = true}, .schedule = {.name = "often"}};
	struct window_result *w = window_result_new(8, 815, &request, &sample_findings);
	struct audit_entry end = {.action = "end", .of = w, .ended = true};
	struct totals *t = &w->profile.kinds[JXP__KIND__KIND_SILENT_LOAD].application;

	strcpy(w->app, "my shop");
	w->start_ns = 1;
	w->end_ns = w->start_ns + UINT64_C(30004000000);
	w->overhead_ns = 291000000;
	w->state = WINDOW_DONE;
	t->checked_bytes = 1000;
	t->wasteful_bytes = 340;
	expect(&end,
	       "audit: action=end schedule=often app=\"my shop\" pid=815 window=w8 outcome=done "
	       "duration-ms=30004 overhead-ms=291 findings=\"silent-load 34%\"");
	w->state = WINDOW_ENDED_EARLY;
	strcpy(w->reason, "it\" outcome=ok");
	w->target_ended = true;
	expect(&end, "audit: action=end schedule=often app=\"my shop\" pid=815 window=w8 "
		     "outcome=target-ended duration-ms=30004 overhead-ms=291 "
		     "findings=\"silent-load 34%\" reason=\"it\\\" outcome=ok\"");
	window_result_free(w);
}

TEST(what_a_client_sends_can_neither_end_the_line_nor_begin_a_field)
{
	const struct audit_entry report = {.action = "report",
					   .who = &somebody,
					   .window = "w1 outcome=ok\naudit: x\x1b[2J\\\"",
					   .reason = "no window 'w1\r\n\xc2\x85\xff'",
					   .error = ENOENT};

	expect(&report, "audit: action=report uid=1000 peer-pid=4711 "
			"window=\"w1 outcome=ok?audit: x?[2J\\\\\\\"\" outcome=not-found "
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
	assert_non_null(strstr(line, "\\\\\" outcome=failed reason=\"\\\""));
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
