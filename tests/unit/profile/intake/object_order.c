#include "tests/unit/support/test.h"

#include <errno.h>

#include "profile/intake/object_order.h"

#define LIMIT 4

struct fixture {
	struct object_order order;
	uint64_t dropped;
	/* Of the item that came last: */
	struct object_event event;
	const struct object_pass *pass;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	object_order_init(&f.order, LIMIT);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	object_order_release(&((struct fixture *)*state)->order);
	return 0;
}

static void add(struct fixture *f, enum object_event_type type, uint32_t epoch, uint64_t time_ns,
		uint64_t address)
{
	struct object_event e = {
	    .type = (uint8_t)type, .epoch = epoch, .time_ns = time_ns, .address = address};

	assert_int_equal(object_order_add(&f->order, &e), 0);
}

static void add_access(struct fixture *f, uint32_t epoch, uint64_t time_ns)
{
	add(f, OBJECT_ACCESS, epoch, time_ns, 0x1000);
}

/* One part of a pass, in which `count` objects of the numbers 1, 2, ... moved. */
static void add_part(struct fixture *f, uint32_t epoch, uint64_t ready_ns, size_t count,
		     bool settled)
{
	for (size_t i = 0; i < count; i++) {
		const struct event_position p = {
		    .epoch = epoch, .object = (uint32_t)i + 1, .address = 0x1000 * (i + 1)};
		bool taken;

		assert_int_equal(object_order_position(&f->order, &p, ready_ns, &taken), 0);
		f->dropped += !taken;
	}
	if (settled)
		f->dropped += !object_order_settle(&f->order, epoch, ready_ns);
}

static enum order_item next(struct fixture *f)
{
	return object_order_next(&f->order, true, &f->event, &f->pass);
}

static void assert_event(struct fixture *f, enum order_item item, uint64_t time_ns)
{
	assert_int_equal(next(f), item);
	assert_int_equal(f->event.time_ns, time_ns);
}

static void assert_pass(struct fixture *f, uint32_t epoch)
{
	assert_int_equal(next(f), ORDER_PASS);
	assert_int_equal(f->pass->epoch, epoch);
}

TEST(events_of_a_settled_epoch_leave_by_time, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 0, 30);
	add_access(f, 0, 10);
	add_access(f, 0, 20);
	object_order_settled_until(&f->order, 100);
	assert_event(f, ORDER_SETTLED, 10);
	assert_event(f, ORDER_SETTLED, 20);
	assert_event(f, ORDER_SETTLED, 30);
	assert_int_equal(next(f), ORDER_NOTHING);
}

TEST(an_event_waits_while_an_earlier_one_may_still_come, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 0, 30);
	object_order_settled_until(&f->order, 29);
	assert_int_equal(next(f), ORDER_NOTHING);
	add_access(f, 0, 29);
	object_order_settled_until(&f->order, 30);
	object_order_settled_until(&f->order, 5); /* Time does not go back. */
	assert_event(f, ORDER_SETTLED, 29);
	assert_event(f, ORDER_SETTLED, 30);
}

TEST(events_wait_for_the_pass_that_settles_their_epoch, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 2, 50);
	object_order_settled_until(&f->order, 100);
	assert_int_equal(next(f), ORDER_NOTHING);
	add_part(f, 2, 60, 1, true);
	assert_pass(f, 2);
	assert_event(f, ORDER_SETTLED, 50);
}

TEST(a_pass_waits_for_the_events_of_earlier_epochs, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 2, 50);
	add_part(f, 2, 60, 1, true);
	object_order_settled_until(&f->order, 59);
	assert_int_equal(next(f), ORDER_NOTHING);
	add_access(f, 0, 40); /* From a thread whose ring was drained late. */
	object_order_settled_until(&f->order, 60);
	assert_event(f, ORDER_SETTLED, 40);
	assert_pass(f, 2);
	assert_event(f, ORDER_SETTLED, 50);
}

TEST(events_of_an_overtaken_epoch_leave_before_the_next_pass_as_unsettled, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 2, 50);
	add_access(f, 4, 70);
	add_part(f, 4, 80, 1, true);
	object_order_settled_until(&f->order, 100);
	assert_event(f, ORDER_UNSETTLED, 50);
	assert_pass(f, 4);
	assert_event(f, ORDER_SETTLED, 70);
}

TEST(an_event_of_an_epoch_that_has_passed_is_unsettled, set_up, tear_down)
{
	struct fixture *f = *state;

	add_part(f, 4, 80, 1, true);
	object_order_settled_until(&f->order, 100);
	assert_pass(f, 4);
	add_access(f, 2, 50);
	assert_event(f, ORDER_UNSETTLED, 50);
}

TEST(without_tracked_objects_every_epoch_is_settled, set_up, tear_down)
{
	struct fixture *f = *state;

	add_access(f, 14, 50);
	object_order_settled_until(&f->order, 100);
	assert_int_equal(next(f), ORDER_NOTHING);
	assert_int_equal(object_order_next(&f->order, false, &f->event, &f->pass), ORDER_SETTLED);
	assert_int_equal(f->order.epoch, 14);
}

TEST(an_allocation_without_address_comes_before_the_pass_that_tells_it, set_up, tear_down)
{
	struct fixture *f = *state;

	add(f, OBJECT_ALLOCATION, 2, 50, 0);
	add(f, OBJECT_ALLOCATION, 2, 40, 0x1000);
	add_part(f, 2, 60, 1, true);
	object_order_settled_until(&f->order, 100);
	assert_event(f, ORDER_UNSETTLED, 50);
	assert_pass(f, 2);
	assert_event(f, ORDER_SETTLED, 40);
}

TEST(parts_of_an_overtaken_pass_belong_to_the_next_one, set_up, tear_down)
{
	struct fixture *f = *state;

	add_part(f, 2, 10, 1, false);
	add_part(f, 4, 20, 2, true);
	object_order_settled_until(&f->order, 100);
	assert_pass(f, 4);
	assert_int_equal(f->pass->move_count, 3);
	assert_int_equal(f->dropped, 0);
}

TEST(positions_that_are_late_are_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	add_part(f, 6, 10, 1, true);
	add_part(f, 4, 10, 2, true); /* 2 positions and the word that they are all. */
	assert_int_equal(f->dropped, 3);
}

TEST(a_pass_holds_no_more_positions_than_there_can_be_objects, set_up, tear_down)
{
	struct fixture *f = *state;

	add_part(f, 2, 10, LIMIT - 1, false);
	add_part(f, 2, 10, LIMIT, true);
	assert_int_equal(f->dropped, LIMIT - 1);
	object_order_settled_until(&f->order, 100);
	assert_pass(f, 2);
	assert_int_equal(f->pass->move_count, LIMIT);
}

TEST(passes_that_are_never_due_are_applied_when_too_many_wait, set_up, tear_down)
{
	struct fixture *f = *state;

	for (uint32_t i = 1; i < ORDER_PASSES_MAX; i++)
		add_part(f, 2 * i, UINT64_MAX, 1, true);
	assert_int_equal(next(f), ORDER_NOTHING);
	add_part(f, 2 * ORDER_PASSES_MAX, UINT64_MAX, 1, true);
	assert_pass(f, 2);
	assert_int_equal(next(f), ORDER_NOTHING);
	assert_int_equal(f->dropped, 0);
}

TEST(more_events_than_may_wait_are_refused_until_one_is_taken_out, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_event e = {.type = OBJECT_ACCESS, .epoch = 2, .time_ns = 9};

	for (uint64_t i = 0; i < ORDER_EVENTS_MAX; i++)
		add_access(f, 2, 1000 - i % 100);
	assert_int_equal(object_order_add(&f->order, &e), -ENOSPC);
	assert_true(object_order_evict(&f->order, &f->event));
	assert_int_equal(f->event.time_ns, 901);
	assert_int_equal(object_order_add(&f->order, &e), 0);
	assert_true(object_order_evict(&f->order, &f->event));
	assert_int_equal(f->event.time_ns, 9);
	assert_true(object_order_memory_bytes(&f->order) < 16u << 20);
}

TEST(many_events_in_any_order_leave_in_one, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t random = 1, last = 0;
	enum order_item item;
	size_t count = 0;

	for (int i = 0; i < 5000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		add_access(f, 0, 1 + random % 1000);
	}
	object_order_settled_until(&f->order, 2000);
	while ((item = next(f)) != ORDER_NOTHING) {
		assert_int_equal(item, ORDER_SETTLED);
		assert_true(f->event.time_ns >= last);
		last = f->event.time_ns;
		count++;
	}
	assert_int_equal(count, 5000);
}
