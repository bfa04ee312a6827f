#include "tests/unit/support/test.h"

#include <string.h>

#include "tests/unit/support/engine_fixture.h"

/* Begins a scheduled window of 42, w1, that is in nobody's way yet. */
static int begin_scheduled(struct fixture *f)
{
	struct window_request scheduled = request;
	char id[WINDOW_ID_BYTES];

	(void)strcpy(scheduled.schedule.name, "often");
	return engine_attach(f->engine, &everybodys, 42, &scheduled, &sample_findings, NULL, id,
			     &f->err);
}

TEST(a_scheduled_window_gives_way_to_one_that_somebody_asks_for, set_up, tear_down)
{
	struct fixture *f = *state;
	int first;

	assert_int_equal(begin_scheduled(f), 0);
	/* Not to another one of a schedule. */
	assert_int_equal(begin_scheduled(f), -EBUSY);
	assert_int_equal(fake_broker.releases, 0);
	first = fake_broker.attach_id;
	assert_int_equal(attach(f, 42), 0);
	assert_string_equal(f->id, "w2");
	assert_int_equal(fake_broker.released, 42);
	assert_int_equal(fake_broker.attach_id, first);
	/* Neither to a third, nor is the second in its way. */
	assert_int_equal(begin_scheduled(f), -EBUSY);
	assert_int_equal(attach(f, 42), -EBUSY);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(engine_find_window(f->engine, "w1")->asked_to_end);
	assert_int_not_equal(fake_broker.attach_id, 0);
	assert_string_equal(engine_find_running(f->engine, 42)->id, "w2");
	fake_broker_fail_attach(EPERM, "not today");
	assert_true(f->failed);
	assert_string_equal(f->message, "not today");
}

TEST(a_scheduled_window_that_attaches_gives_way_to_the_jvms_owner, set_up, tear_down)
{
	const struct window_asker owner = {.uid = FAKE_OWNER, .pid = 1, .sees = FAKE_OWNER},
				  other = {.uid = 77, .pid = 1, .sees = 77};
	struct window_request scheduled = request;
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	(void)strcpy(scheduled.schedule.name, "often");
	scheduled.schedule.owner = FAKE_OWNER;
	scheduled.start_ticks = 4711;
	assert_int_equal(engine_attach(f->engine, &everybodys, 42, &scheduled, &sample_findings,
				       NULL, id, &f->err),
			 0);
	assert_true(fake_broker.attach_start_ticks == 4711);
	assert_int_equal(fake_broker.attach_owner, PROC_ANY_UID);
	assert_int_equal(
	    engine_attach(f->engine, &other, 42, &request, &sample_findings, NULL, id, &f->err),
	    -ESRCH);
	assert_int_equal(fake_broker.releases, 0);
	assert_int_equal(
	    engine_attach(f->engine, &owner, 42, &request, &sample_findings, NULL, id, &f->err), 0);
	assert_int_equal(fake_broker.released, 42);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_int_equal(fake_broker.attach_owner, FAKE_OWNER);
	assert_string_equal(engine_find_running(f->engine, 42)->id, id);
}

TEST(a_window_that_waits_may_be_detached, set_up, tear_down)
{
	struct fixture *f = *state;
	char id[WINDOW_ID_BYTES];

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	assert_int_equal(engine_detach(f->engine, 42, "it was detached on request", id, &f->err),
			 0);
	assert_string_equal(id, "w2");
	assert_false(f->failed);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->failed);
	assert_string_equal(f->message, "it was detached on request");
	assert_int_equal(fake_broker.attach_id, 0);
	assert_false(engine_is_profiled(f->engine, 42));
}

TEST(a_window_that_waits_fails_when_the_broker_does, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	fake_broker.refuse = EAGAIN;
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->failed);
	assert_false(engine_is_profiled(f->engine, 42));
}

TEST(a_window_that_waits_ends_with_the_daemon, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(begin_scheduled(f), 0);
	assert_int_equal(attach(f, 42), 0);
	engine_stop(f->engine, on_stopped, f);
	assert_false(f->stopped);
	fake_broker_fail_attach(ECANCELED, "cancelled");
	assert_true(f->stopped);
	assert_true(f->failed);
}
