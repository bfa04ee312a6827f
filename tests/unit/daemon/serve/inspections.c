#include "tests/unit/support/test.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/broker/children.h"
#include "daemon/serve/inspections.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"

_Static_assert(INSPECTIONS_MAX + 2 <= BROKER_INSPECTORS_MAX, "one place is the survey's");

static const struct window_asker root = {.uid = 0, .sees = PROC_ANY_UID};
static const struct window_asker alice = {.uid = 1, .sees = 1};
static const struct window_asker bob = {.uid = 2, .sees = 2};

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
static int ask(const struct window_asker *asker, bool *done, struct inspection **out)
{
	assert_int_equal(inspections_ask(out, all, asker, INSPECTOR_LIST, on_done, done), 0);
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
	int a = ask(&alice, &first_done, &first), b;

	assert_true(a >= 0);
	assert_int_equal(ask(&alice, &second_done, &second), -1);
	b = ask(&bob, &other_done, &other);
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

TEST(one_place_is_left_for_whoever_is_no_client, set_up, tear_down)
{
	bool done[INSPECTIONS_MAX + 1] = {false};
	struct inspection *of[INSPECTIONS_MAX + 1];
	int inspectors[INSPECTIONS_MAX];

	for (int i = 0; i < INSPECTIONS_MAX; i++) {
		inspectors[i] = ask(&root, &done[i], &of[i]);
		assert_true(inspectors[i] >= 0);
	}
	assert_int_equal(ask(&root, &done[INSPECTIONS_MAX], &of[INSPECTIONS_MAX]), -1);
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
	int a = ask(&alice, &left, &i);

	inspection_forget(i);
	assert_int_equal(ask(&alice, &waited, &i), -1);
	inspection_forget(i); /* One that waits is gone at once. */
	assert_int_equal(ask(&alice, &last, &i), -1);
	end_inspector(a);
	end_inspector(fake_broker_connect_inspector());
	assert_true(!left && !waited && last);
}

TEST(what_cannot_be_asked_fails_and_the_next_is_tried, set_up, tear_down)
{
	bool first = false, second = false;
	struct inspection *i;

	fake_broker.refuse = EAGAIN;
	assert_int_equal(ask(&alice, &first, &i), -1);
	assert_true(first);
	fake_broker.refuse = 0;
	end_inspector(ask(&alice, &second, &i));
	assert_true(second);
}
