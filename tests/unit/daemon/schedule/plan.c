#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "daemon/schedule/plan.h"

#define EVERY_NS (600 * NS_PER_S)
#define JVM      "1:1"
#define NOON     UINT64_C(1000) /* an epoch */

static const struct draw draw = {.salt = "",
				 .schedule = "all",
				 .host = "here",
				 .host_fraction = 1,
				 .jvm_fraction = 1,
				 .every_ns = EVERY_NS,
				 .window_ns = 10 * NS_PER_S};
static const struct config_schedule schedule = {.every_ns = EVERY_NS, .window_ns = 10 * NS_PER_S};

/* What became of plans. */
struct history {
	struct plan plan;
	unsigned run, missed;
};

static void look_at(struct history *h, uint64_t unix_ns)
{
	enum miss why = MISS_MAX;

	if (plan_look(&h->plan, &draw, JVM, unix_ns, &why)) {
		assert_int_equal(why, MISS_LATE);
		h->missed++;
	}
}

/* Time passes in an epoch, to its end. */
static void pass(struct history *h, uint64_t epoch)
{
	for (uint64_t ns = epoch * EVERY_NS; ns < (epoch + 1) * EVERY_NS; ns += NS_PER_S) {
		look_at(h, ns);
		if (!plan_is_due(&h->plan, ns))
			continue;
		assert_false(plan_is_late(&h->plan, &schedule, ns));
		h->plan.state = PLAN_DONE;
		h->run++;
	}
}

static void pass_all(struct history *h, uint64_t first, uint64_t last)
{
	for (uint64_t epoch = first; epoch <= last; epoch++)
		pass(h, epoch);
}

TEST(every_epoch_has_one)
{
	struct history h = {0};

	pass_all(&h, NOON, NOON + 9);
	assert_int_equal(h.run, 10);
	assert_int_equal(h.missed, 0);
}

TEST(a_clock_that_is_set_back_runs_nothing_twice)
{
	struct history h = {0};

	pass_all(&h, NOON, NOON + 9);
	/* By a little, by hours, and to where it never was. */
	pass_all(&h, NOON + 9, NOON + 9);
	pass_all(&h, NOON + 3, NOON + 9);
	assert_int_equal(h.run, 10);
	pass_all(&h, NOON - 5, NOON + 9);
	assert_int_equal(h.run, 15);
	pass_all(&h, NOON + 10, NOON + 10);
	assert_int_equal(h.run, 16);
	assert_int_equal(h.missed, 0);
}

TEST(a_clock_that_is_set_ahead_and_back_runs_nothing_twice)
{
	struct history h = {0};

	pass_all(&h, NOON, NOON + 4);
	pass_all(&h, NOON + 100, NOON + 104);
	pass_all(&h, NOON + 4, NOON + 8);
	assert_int_equal(h.run, 14);
	/* Where it was by mistake, in time. */
	pass_all(&h, NOON + 99, NOON + 105);
	assert_int_equal(h.run, 16);
	assert_int_equal(h.missed, 0);
}

TEST(what_waits_when_the_clock_is_set_is_missed_once)
{
	struct history h = {0};

	pass_all(&h, NOON, NOON + 1);
	look_at(&h, (NOON + 2) * EVERY_NS);
	assert_int_equal(h.plan.state, PLAN_DUE);
	look_at(&h, (NOON + 50) * EVERY_NS); /* ahead */
	assert_int_equal(h.missed, 1);
	look_at(&h, (NOON + 2) * EVERY_NS); /* back: that one's time may come yet */
	assert_int_equal(h.missed, 1);
	assert_false(plan_is_due(&h.plan, (NOON + 3) * EVERY_NS - 1));
	pass(&h, NOON + 3);
	assert_int_equal(h.missed, 2);
	pass(&h, NOON + 50);
	assert_int_equal(h.missed, 2);
	assert_int_equal(h.run, 3);
}

TEST(what_waits_when_the_clock_comes_back_is_missed)
{
	struct history h = {0};

	pass_all(&h, NOON, NOON + 1);
	look_at(&h, (NOON - 50) * EVERY_NS);
	assert_int_equal(h.plan.state, PLAN_DUE);
	look_at(&h, (NOON + 1) * EVERY_NS);
	assert_int_equal(h.missed, 1);
	assert_int_equal(h.plan.state, PLAN_DONE);
}

TEST(one_that_is_found_after_its_time_was_never_planned)
{
	struct history h = {0};

	look_at(&h, (NOON + 1) * EVERY_NS - 1);
	assert_int_equal(h.plan.state, PLAN_NONE);
	pass(&h, NOON + 1);
	assert_int_equal(h.run, 1);
	assert_int_equal(h.missed, 0);
}
