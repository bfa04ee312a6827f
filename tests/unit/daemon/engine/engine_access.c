#include "tests/unit/support/test.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/support/engine_fixture.h"

TEST(the_broker_is_told_whose_the_process_has_to_be, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(attach_for(f, &others, 41), 0);
	assert_int_equal(fake_broker.attach_owner, others.uid);
	assert_int_equal(engine_find_window(f->engine, "w1")->owner, others.uid);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(fake_broker.attach_owner, PROC_ANY_UID);
}

TEST(a_window_is_of_whom_the_broker_says, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct window_result *w;
	int agent;

	assert_int_equal(attach(f, 42), 0);
	w = engine_find_running(f->engine, 42);
	assert_false(window_asker_sees(&owners, w->owner)); /* Nobody's that is known. */
	agent = fake_broker_connect_agent();
	assert_int_equal(w->owner, FAKE_OWNER);
	assert_string_equal(w->container, "c0ffee");
	assert_string_equal(w->namespace, "shop");
	assert_string_equal(w->pod, "pay-0");
	assert_true(window_asker_sees(&owners, w->owner));
	assert_false(window_asker_sees(&others, w->owner));
	assert_true(window_asker_sees(&everybodys, w->owner));
	assert_int_equal(w->asker.pid, everybodys.pid);
	(void)close(agent);
}

TEST(who_may_see_a_window_is_told_of_it_and_others_as_if_there_were_no_process, set_up, tear_down)
{
	struct fixture *f = *state;
	int agent = start(f);
	struct err absent;

	assert_int_equal(attach_for(f, &owners, 42), -EBUSY);
	assert_non_null(strstr(f->err.message, "already being profiled (window w1)"));
	assert_int_equal(attach_for(f, &others, 42), -ESRCH);
	(void)proc_absent(42, &absent); /* Only its text is wanted. */
	assert_string_equal(f->err.message, absent.message);
	assert_true(engine_is_profiled(f->engine, 42));
	assert_int_equal(fake_broker.releases, 0);
	(void)close(agent);
}

/* Numbers and the list of windows are the same whether another user's JVM is being profiled or
 * there is no such process. */
TEST(a_hidden_window_leaves_the_trace_of_a_pid_that_nobody_has, set_up, tear_down)
{
	struct fixture *f = *state;
	int agent = start(f);

	assert_int_equal(attach_for(f, &others, 42), -ESRCH);
	assert_string_equal(f->err.message, "no process has the pid 42; see 'jxperfctl list'");
	assert_int_equal(attach_for(f, &others, 43), 0);
	assert_non_null(engine_find_window(f->engine, "w3")); /* Both took a number. */
	fake_broker_fail_attach(ESRCH, "no process has the pid 43; see 'jxperfctl list'");
	assert_null(engine_find_window(f->engine, "w2"));
	assert_null(engine_find_window(f->engine, "w3"));
	assert_int_equal(engine_window_count(f->engine), 1);
	assert_int_equal(engine_attach_failures(f->engine), 0);
	(void)close(agent);
}

TEST(one_user_has_a_limit_of_windows_and_others_have_room, set_up, tear_down)
{
	const struct window_asker one = {.uid = 77, .pid = 1, .sees = 77},
				  other = {.uid = 78, .pid = 1, .sees = 78};
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	engine_set_user_limit(f->engine, 2);
	for (pid_t pid = 42; pid < 44; pid++)
		assert_int_equal(engine_attach(f->engine, &one, pid, &request, &sample_findings,
					       NULL, id, &f->err),
				 0);
	assert_int_equal(
	    engine_attach(f->engine, &one, 44, &request, &sample_findings, NULL, id, &f->err),
	    -EBUSY);
	assert_non_null(
	    strstr(f->err.message, "user 77 has 2 windows running, which is a user's share"));
	assert_int_equal(
	    engine_attach(f->engine, &other, 45, &request, &sample_findings, NULL, id, &f->err), 0);
	for (pid_t pid = 46; pid < 49; pid++) /* An administrator, too. */
		assert_int_equal(engine_attach(f->engine, &everybodys, pid, &request,
					       &sample_findings, NULL, id, &f->err),
				 0);
}

TEST(users_leave_administrators_and_schedules_some_windows, set_up, tear_down)
{
	const int most = ENGINE_RUNNING_MAX - ENGINE_RUNNING_RESERVED;
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	engine_set_user_limit(f->engine, 8);
	for (int i = 0; i <= most; i++) {
		const struct window_asker user = {
		    .uid = 1000 + (uid_t)i / 8, .pid = 1, .sees = 1000 + (uid_t)i / 8};

		assert_int_equal(engine_attach(f->engine, &user, 100 + i, &request,
					       &sample_findings, NULL, id, &f->err),
				 i < most ? 0 : -EBUSY);
	}
	assert_non_null(strstr(f->err.message, "there are 48 windows running"));
	assert_int_equal(engine_attach(f->engine, &everybodys, 42, &request, &sample_findings, NULL,
				       id, &f->err),
			 0);
}
