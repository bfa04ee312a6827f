#include "tests/unit/support/test.h"

#include <errno.h>

#include "daemon/serve/refusals.h"
#include "profile/window/result.h"
#include "tests/unit/support/sample_findings.h"

static uv_loop_t loop;
static struct refusals r;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	refusals_init(&r, &loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	refusals_release(&r);
	uv_close((uv_handle_t *)&r.timer, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	return 0;
}

static void refuse(uid_t user, bool connection, unsigned times)
{
	const struct window_asker who = {.uid = user == SHARES_ADMINS ? 0 : user, .sees = user};
	const struct audit_entry entry = {
	    .action = connection ? "connect" : "report", .who = &who, .reason = "no"};

	while (times-- > 0)
		refusals_note(&r, &entry, connection);
}

TEST(of_a_users_requests_some_are_lines_and_the_others_are_counted, set_up, tear_down)
{
	refuse(1000, false, REFUSALS_OF_USER + 5);
	assert_int_equal(shares_of(&r.requests, 1000), REFUSALS_OF_USER);
	assert_int_equal(shares_of(&r.more, 1000), 5);
	refuse(1001, false, 1);
	refuse(SHARES_ADMINS, false, 1);
	assert_int_equal(shares_of(&r.requests, 1001), 1);
	assert_int_equal(shares_of(&r.requests, SHARES_ADMINS), 1);
	assert_int_equal(r.more.held, 5);
}

TEST(connections_are_one_line_and_take_none_of_those_for_requests, set_up, tear_down)
{
	refuse(1000, true, 100);
	assert_int_equal(shares_of(&r.connections, 1000), 1);
	assert_int_equal(shares_of(&r.more, 1000), 99);
	refuse(1000, false, 1);
	assert_int_equal(shares_of(&r.requests, 1000), 1);
}

TEST(users_together_leave_administrators_their_lines, set_up, tear_down)
{
	for (uid_t user = 1000; user < 1000 + REFUSALS_ALL / REFUSALS_OF_USER; user++)
		refuse(user, false, REFUSALS_OF_USER);
	refuse(SHARES_ADMINS, false, REFUSALS_RESERVED);
	assert_int_equal(shares_of(&r.requests, SHARES_ADMINS), REFUSALS_RESERVED);
	assert_int_equal(r.requests.held, REFUSALS_ALL);
}

/* A user whose attaches fail as fast as they are asked for. */
TEST(windows_that_cannot_run_are_refusals_like_any, set_up, tear_down)
{
	static const struct window_request request = {.kinds = {false, true}};
	struct window_sink sink = refusals_sink(&r);
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	w->asker = (struct window_asker){.uid = 1000, .pid = 1, .sees = 1000};
	for (int i = 0; i < REFUSALS_OF_USER + 7; i++)
		sink.failed(sink.arg, w, ESRCH, "no process has the pid 42");
	sink.failed(sink.arg, NULL, ENOMEM, "out of memory");
	assert_int_equal(shares_of(&r.requests, 1000), REFUSALS_OF_USER);
	assert_int_equal(shares_of(&r.more, 1000), 7);
	window_result_free(w);
}
