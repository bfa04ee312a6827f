/* The record ring, with its two threads. */
#include "tests/unit/support/test.h"
#include <pthread.h>

#include "attach/agent/record/ring.h"

static struct ring ring;

static int empty_ring(void **state)
{
	(void)state;
	ring_init(&ring);
	return 0;
}

TEST(records_come_out_in_order, empty_ring)
{
	struct record r = {0};

	for (uint64_t i = 0; i < 10; i++) {
		r.address = i;
		assert_true(ring_push(&ring, &r));
	}
	for (uint64_t i = 0; i < 10; i++) {
		assert_true(ring_pop(&ring, &r));
		assert_int_equal(r.address, i);
	}
	assert_false(ring_pop(&ring, &r));
}

TEST(a_full_ring_refuses_and_keeps_what_it_has, empty_ring)
{
	struct record r = {0};

	for (unsigned i = 0; i < RING_RECORDS; i++) {
		r.address = i;
		assert_true(ring_push(&ring, &r));
	}
	r.address = 999999;
	assert_false(ring_push(&ring, &r));
	assert_true(ring_pop(&ring, &r));
	assert_int_equal(r.address, 0);
}

TEST(records_that_belong_together_are_stored_all_or_not_at_all, empty_ring)
{
	struct record some[9] = {0}, r = {0};

	for (unsigned i = 0; i < 9; i++)
		some[i].address = i;
	for (unsigned i = 0; i < RING_RECORDS - 8; i++)
		assert_true(ring_push(&ring, &r));
	assert_false(ring_push_all(&ring, some, 9));
	assert_int_equal(ring_used(&ring), RING_RECORDS - 8);
	assert_true(ring_pop(&ring, &r));
	assert_true(ring_push_all(&ring, some, 9)); /* round the end */
	for (unsigned i = 0; i < RING_RECORDS - 9; i++)
		assert_true(ring_pop(&ring, &r));
	for (unsigned i = 0; i < 9; i++) {
		assert_true(ring_pop(&ring, &r));
		assert_int_equal(r.address, i);
	}
	assert_false(ring_pop(&ring, &r));
}

#define RECORDS 200000u

static void *produce(void *arg)
{
	struct record r = {0};
	uint64_t *refused = arg;

	for (uint64_t i = 0; i < RECORDS;) {
		r.address = i;
		r.time_ns = ~i;
		if (ring_push(&ring, &r))
			i++;
		else
			(*refused)++;
	}
	return NULL;
}

TEST(nothing_is_torn_or_lost_between_threads, empty_ring)
{
	uint64_t expected = 0, refused = 0;
	pthread_t producer;
	struct record r;

	assert_int_equal(pthread_create(&producer, NULL, produce, &refused), 0);
	while (expected < RECORDS) {
		if (!ring_pop(&ring, &r))
			continue;
		assert_int_equal(r.address, expected);
		assert_int_equal(r.time_ns, ~expected);
		expected++;
	}
	assert_int_equal(pthread_join(producer, NULL), 0);
}
