#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "daemon/schedule/newcomers.h"

#define NOW_NS (UINT64_C(1000) * NS_PER_S)

static struct newcomers d;
static pid_t pids[BROKER_PIDS_MAX];

static int set_up(void **state)
{
	(void)state;
	d = (struct newcomers){0};
	newcomers_set(&d, true);
	return 0;
}

static void take(enum broker_event_kind kind, pid_t pid, uint32_t count, bool is_known)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = kind, .pid = pid, .count = count, .lost = d.lost};

	newcomers_take(&d, &event, is_known, NOW_NS);
}

TEST(what_starts_at_about_the_same_time_has_one_look, set_up)
{
	assert_true(newcomers_due_ns(&d) == UINT64_MAX);
	for (pid_t pid = 1; pid <= 3; pid++)
		take(BROKER_EVENT_STARTED, pid, 0, false);
	take(BROKER_EVENT_STARTED, 2, 1, false);
	assert_true(newcomers_due_ns(&d) == NOW_NS + NEWCOMERS_WAIT_MS * NS_PER_MS);
	assert_int_equal(newcomers_begin_look(&d, pids, NOW_NS), 3);
	assert_true(newcomers_due_ns(&d) == UINT64_MAX);
	assert_int_equal(d.started, 3);
	assert_int_equal(d.looks, 1);
}

TEST(looks_keep_their_distance, set_up)
{
	take(BROKER_EVENT_STARTED, 1, 0, false);
	(void)newcomers_begin_look(&d, pids, NOW_NS);
	take(BROKER_EVENT_STARTED, 2, 0, false);
	assert_true(newcomers_due_ns(&d) == NOW_NS + NEWCOMERS_PACE_MS * NS_PER_MS);
}

TEST(what_has_ended_is_not_looked_at, set_up)
{
	take(BROKER_EVENT_STARTED, 1, 0, false);
	take(BROKER_EVENT_STARTED, 2, 0, false);
	take(BROKER_EVENT_ENDED, 1, 0, false);
	assert_int_equal(newcomers_begin_look(&d, pids, NOW_NS), 1);
	assert_int_equal(pids[0], 2);
	assert_int_equal(d.ended, 1);
}

TEST(a_known_jvm_is_looked_at_once_for_each_program_that_it_runs, set_up)
{
	take(BROKER_EVENT_STARTED, 1, 1, true);
	assert_true(newcomers_due_ns(&d) == UINT64_MAX);
	take(BROKER_EVENT_STARTED, 1, 0, true);
	assert_int_equal(newcomers_begin_look(&d, pids, NOW_NS), 1);
}

TEST(more_than_there_is_room_for_is_left_to_a_round, set_up)
{
	for (pid_t pid = 1; pid <= BROKER_PIDS_MAX; pid++)
		take(BROKER_EVENT_STARTED, pid, 0, false);
	assert_false(d.behind);
	take(BROKER_EVENT_STARTED, BROKER_PIDS_MAX + 1, 0, false);
	assert_true(d.behind);
	assert_int_equal(d.missed, 1);
	assert_int_equal(newcomers_begin_look(&d, pids, NOW_NS), BROKER_PIDS_MAX);
	newcomers_begin_round(&d);
	assert_false(d.behind);
}

TEST(what_the_broker_missed_is_left_to_a_round, set_up)
{
	take(BROKER_EVENT_MISSED, 0, 7, false);
	assert_true(d.behind);
	assert_int_equal(d.missed, 7);
}

TEST(what_is_lost_on_the_way_is_left_to_a_round, set_up)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = BROKER_EVENT_WORKER_GIVEN_UP, .lost = 3};

	newcomers_take(&d, &event, false, NOW_NS);
	newcomers_take(&d, &event, false, NOW_NS);
	assert_true(d.behind);
	assert_int_equal(d.missed, 3);
}
