#include "tests/unit/support/test.h"

#include <errno.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/broker/children.h"
#include "daemon/questions/inspections.h"
#include "daemon/inspector/inspector.h"
#include "proto/failure.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"

_Static_assert(2 * (INSPECTIONS_MAX + 2) == BROKER_INSPECTORS_MAX,
	       "one place is the survey's, one jars', and of each one may not have ended yet");

#define ROOT  PROC_ANY_UID
#define ALICE ((uid_t)1)
#define BOB   ((uid_t)2)
#define CAROL ((uid_t)3)

static uv_loop_t loop;
static struct inspections *all;

static int set_up(void **state)
{
	(void)state;
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&loop), 0);
	all = inspections_new(&loop, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	inspections_free(all);
	loop_finish(&loop);
	return 0;
}

static void on_done(void *arg, Jxp__ControlReply *answer)
{
	bool *done = arg;

	(void)answer; /* Of an inspector that ends it is a failure. */
	assert_false(*done);
	*done = true;
}

/* The inspector's end of the answer, or -1: the question waits. */
static int ask(uid_t user, bool *done, struct inspection **out)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST, .owner = user};

	assert_int_equal(inspections_ask(out, all, user, &question, on_done, done), 0);
	return fake_broker.inspect_id ? fake_broker_connect_inspector() : -1;
}

static void end_inspector(int inspector)
{
	(void)close(inspector);
	loop_settle(&loop);
}

TEST(a_user_has_one_answered_at_a_time, set_up, tear_down)
{
	bool first_done = false, second_done = false, other_done = false;
	struct inspection *first, *second, *other;
	int a = ask(ALICE, &first_done, &first), b;

	assert_true(a >= 0);
	assert_int_equal(ask(ALICE, &second_done, &second), -1);
	b = ask(BOB, &other_done, &other);
	assert_true(b >= 0);
	assert_int_equal(fake_broker.inspect_owner, 2);
	end_inspector(a);
	assert_true(first_done && !second_done && !other_done);
	assert_int_equal(fake_broker.inspect_owner, 1); /* The second's turn. */
	end_inspector(fake_broker_connect_inspector());
	assert_true(second_done);
	end_inspector(b);
	assert_true(other_done);
}

TEST(further_ones_wait_for_those_that_see_everything, set_up, tear_down)
{
	bool done[INSPECTIONS_MAX + 1] = {false};
	struct inspection *of[INSPECTIONS_MAX + 1];
	int inspectors[INSPECTIONS_MAX];

	for (int i = 0; i < INSPECTIONS_MAX; i++) {
		inspectors[i] = ask(ROOT, &done[i], &of[i]);
		assert_true(inspectors[i] >= 0);
	}
	assert_int_equal(ask(ROOT, &done[INSPECTIONS_MAX], &of[INSPECTIONS_MAX]), -1);
	end_inspector(inspectors[0]);
	assert_int_not_equal(fake_broker.inspect_id, 0);
	end_inspector(fake_broker_connect_inspector());
	for (int i = 1; i < INSPECTIONS_MAX; i++)
		end_inspector(inspectors[i]);
	for (int i = 0; i <= INSPECTIONS_MAX; i++)
		assert_true(done[i]);
}

TEST(who_leaves_gets_no_other_place_before_the_inspector_ends, set_up, tear_down)
{
	bool left = false, waited = false, last = false;
	struct inspection *i;
	int a = ask(ALICE, &left, &i);

	inspection_forget(i);
	assert_int_equal(ask(ALICE, &waited, &i), -1);
	inspection_forget(i); /* One that waits is gone at once. */
	assert_int_equal(ask(ALICE, &last, &i), -1);
	end_inspector(a);
	end_inspector(fake_broker_connect_inspector());
	assert_true(!left && !waited && last);
}

TEST(what_cannot_be_asked_fails_and_the_next_is_tried, set_up, tear_down)
{
	bool first = false, second = false;
	struct inspection *i;

	fake_broker.refuse = EAGAIN;
	assert_int_equal(ask(ALICE, &first, &i), -1);
	assert_true(first);
	fake_broker.refuse = 0;
	end_inspector(ask(ALICE, &second, &i));
	assert_true(second);
}

static void ask_again(void *arg, Jxp__ControlReply *answer)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST, .owner = ALICE};
	struct inspection *i;

	assert_int_equal(answer->body_case, JXP__CONTROL_REPLY__BODY_FAILURE);
	assert_int_equal(inspections_ask(&i, all, ALICE, &question, on_done, arg), 0);
}

TEST(who_is_told_of_a_failure_may_ask_again_at_once, set_up, tear_down)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST, .owner = ALICE};
	bool done = false;
	struct inspection *i;

	assert_int_equal(inspections_ask(&i, all, ALICE, &question, ask_again, &done), 0);
	end_inspector(fake_broker_connect_inspector());
	assert_false(done);
	end_inspector(fake_broker_connect_inspector());
	assert_true(done);
}

/* A jar may lie where nothing answers. */
TEST(questions_about_jars_hold_up_nothing_but_each_other, set_up, tear_down)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST, .owner = ALICE};
	bool jars[3] = {false}, done = false;
	struct inspection *i;
	int first, list;

	assert_int_equal(inspections_ask_for_jar(&i, all, ALICE, &question, on_done, &jars[0]), 0);
	first = fake_broker_connect_inspector();
	assert_int_equal(inspections_ask_for_jar(&i, all, ALICE, &question, on_done, &jars[1]), 0);
	assert_int_equal(inspections_ask_for_jar(&i, all, BOB, &question, on_done, &jars[2]), 0);
	assert_int_equal(fake_broker.inspect_id, 0);
	list = ask(ALICE, &done, &i);
	assert_true(list >= 0);
	end_inspector(list);
	assert_true(done && !jars[0]);
	end_inspector(first);
	/* Alice has had her turn. */
	end_inspector(fake_broker_connect_inspector());
	assert_true(jars[0] && jars[2] && !jars[1]);
	end_inspector(fake_broker_connect_inspector());
	assert_true(jars[1]);
}

static int ask_for_survey(bool *done, struct inspection **out)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST, .owner = ROOT};

	assert_int_equal(inspections_ask_for_survey(out, all, &question, on_done, done), 0);
	return fake_broker.inspect_id ? fake_broker_connect_inspector() : -1;
}

TEST(the_survey_always_has_a_place_and_one_at_a_time, set_up, tear_down)
{
	bool others[INSPECTIONS_MAX] = {false}, done = false, next = false;
	int inspectors[INSPECTIONS_MAX], of_survey;
	struct inspection *i;

	for (int k = 0; k < INSPECTIONS_MAX; k++)
		inspectors[k] = ask(ROOT, &others[k], &i);
	of_survey = ask_for_survey(&done, &i);
	assert_true(of_survey >= 0);
	assert_int_equal(ask_for_survey(&next, &i), -1);
	end_inspector(of_survey);
	assert_true(done && !next);
	end_inspector(fake_broker_connect_inspector());
	assert_true(next);
	for (int k = 0; k < INSPECTIONS_MAX; k++)
		end_inspector(inspectors[k]);
}

TEST(a_survey_whose_inspector_is_late_has_its_place_back, set_up, tear_down)
{
	bool late = false, done = false;
	struct inspection *i;
	int inspector = ask_for_survey(&late, &i);

	inspections_give_up_survey(all);
	end_inspector(ask_for_survey(&done, &i));
	assert_true(done && !late);
	(void)close(inspector);
}

/* A user with many questions would have the next place again and again. */
TEST(next_is_the_user_whose_questions_took_least_of_late, set_up, tear_down)
{
	bool alices[3] = {false}, bobs[2] = {false}, carols = false;
	struct inspection *i;
	int alice = ask(ALICE, &alices[0], &i), bob = ask(BOB, &bobs[0], &i);

	assert_true(alice >= 0 && bob >= 0);
	for (int k = 1; k < 3; k++)
		assert_int_equal(ask(ALICE, &alices[k], &i), -1);
	assert_int_equal(ask(CAROL, &carols, &i), -1);
	end_inspector(alice);
	assert_int_equal(fake_broker.inspect_owner, CAROL);
	end_inspector(fake_broker_connect_inspector());
	assert_true(alices[0] && carols && !alices[1]);
	assert_int_equal(fake_broker.inspect_owner, ALICE); /* Nobody else's waits. */
	end_inspector(fake_broker_connect_inspector());
	end_inspector(fake_broker_connect_inspector());
	end_inspector(bob);
	assert_true(alices[2]);
}

/* Its process may take a while to end. */
TEST(a_place_is_taken_until_the_inspector_has_ended, set_up, tear_down)
{
	bool first = false, second = false;
	struct inspection *i;
	struct failure_reply f;
	struct buffer out;
	int inspector = ask(ALICE, &first, &i);

	failure_reply_init(&f, "no", false);
	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_REPLY);
	assert_int_equal(frame_append(&out, &f.reply.base, FRAME_MAX_REPLY), 0);
	assert_int_equal(fd_write_all(inspector, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
	loop_settle(&loop);
	assert_true(first);
	assert_int_equal(ask(ALICE, &second, &i), -1);
	end_inspector(inspector);
	end_inspector(fake_broker_connect_inspector());
	assert_true(second);
}
