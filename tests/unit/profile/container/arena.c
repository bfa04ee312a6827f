#include "tests/unit/support/test.h"

#include <stdalign.h>
#include <string.h>

#include "profile/container/arena.h"
#include "proto/jxperf.pb-c.h"

#define LIMIT ((size_t)8 << 20)

static int set_up(void **state)
{
	static struct arena a;

	arena_init(&a, LIMIT);
	*state = &a;
	return 0;
}

static int tear_down(void **state)
{
	arena_release(*state);
	return 0;
}

static void *allocate(struct arena *a, size_t size)
{
	return a->allocator.alloc(a->allocator.allocator_data, size);
}

TEST(pieces_are_aligned_and_apart, set_up, tear_down)
{
	unsigned char *pieces[1000];

	for (size_t i = 0; i < 1000; i++) {
		pieces[i] = allocate(*state, 1 + i);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i % 256), 1 + i);
	}
	for (size_t i = 0; i < 1000; i++)
		for (size_t j = 0; j < 1 + i; j++)
			assert_int_equal(pieces[i][j], i % 256);
}

TEST(no_more_than_the_limit_is_given, set_up, tear_down)
{
	struct arena *a = *state;
	size_t given = 0;

	assert_null(allocate(a, LIMIT + 1));
	assert_null(allocate(a, SIZE_MAX));
	while (allocate(a, 1000))
		given += 1000;
	assert_true(given <= LIMIT && given > LIMIT / 2);
	assert_true(a->total <= LIMIT);
}

TEST(what_was_given_can_be_given_again_after_a_reset, set_up, tear_down)
{
	struct arena *a = *state;

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 1000; i++)
			assert_non_null(allocate(a, 1000));
		arena_reset(a);
		assert_true(a->total <= LIMIT / 2);
	}
}

TEST(a_frame_of_very_many_empty_messages_is_not_decoded, set_up, tear_down)
{
	/* AgentFrame{batch: 200000 empty nodes}: two bytes each, some sixty decoded. */
	enum { NODES = 200000 };
	static uint8_t bytes[2 * NODES + 8];
	struct arena *a = *state;
	size_t used = 0;
	Jxp__AgentFrame *frame;

	bytes[used++] = 2 << 3 | 2;
	bytes[used++] = (2 * NODES & 0x7f) | 0x80;
	bytes[used++] = (2 * NODES >> 7 & 0x7f) | 0x80;
	bytes[used++] = 2 * NODES >> 14;
	for (size_t i = 0; i < NODES; i++) {
		bytes[used++] = 3 << 3 | 2;
		bytes[used++] = 0;
	}
	assert_null(jxp__agent_frame__unpack(&a->allocator, used, bytes));
	frame = jxp__agent_frame__unpack(NULL, used, bytes);
	assert_non_null(frame); /* It is well formed. */
	assert_int_equal(frame->batch->n_nodes, NODES);
	jxp__agent_frame__free_unpacked(frame, NULL);
	assert_true(a->total <= LIMIT);
}
