/* What is known of frames: found by all that it is known by, and by nothing less. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <stdlib.h>

#include "attach/agent/stack/frame_table.h"

static int new_table(void **state)
{
	*state = calloc(1, sizeof(struct frame_table));
	return *state ? 0 : -1;
}

static int free_table(void **state)
{
	free(*state);
	return 0;
}

TEST(a_frame_is_found_by_pc_blob_and_compilation, new_table, free_table)
{
	const struct call calls[] = {{.bci = 3, .method = 16384}, {.bci = -1, .method = 0x20}};
	const struct frame_key key = {.key = 0x1001, .tie = 0x800, .id = 7};
	struct frame_key other = key;
	const struct frame_entry *e;

	assert_null(frame_find(*state, &key));
	assert_true(frame_learn(*state, &key, 6, calls, 2));
	e = frame_find(*state, &key);
	assert_non_null(e);
	assert_int_equal(e->words, 6);
	assert_int_equal(e->count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(frame_calls(*state, e)[i].method, calls[i].method);
		assert_int_equal(frame_calls(*state, e)[i].bci, calls[i].bci);
	}
	other.key ^= 1; /* a caller's, not the innermost */
	assert_null(frame_find(*state, &other));
	other = key;
	other.tie = 0x900;
	assert_null(frame_find(*state, &other));
	other = key;
	other.id = 8;
	assert_null(frame_find(*state, &other));
}

/* Code that was unloaded leaves its frames behind; others come to stand at the same pc. */
TEST(frames_at_one_pc_are_told_apart, new_table, free_table)
{
	for (uint32_t id = 1; id <= 5; id++) {
		const struct call call = {.bci = (int32_t)id, .method = id};

		assert_true(
		    frame_learn(*state, &(struct frame_key){0x1000, 0x800, id}, 4, &call, 1));
	}
	for (uint32_t id = 1; id <= 5; id++) {
		const struct frame_entry *e =
		    frame_find(*state, &(struct frame_key){0x1000, 0x800, id});

		assert_non_null(e);
		assert_int_equal(frame_calls(*state, e)[0].bci, id);
	}
}

TEST(a_full_table_refuses_and_keeps_its_content, new_table, free_table)
{
	const struct call call = {.bci = 1, .method = 1};
	const struct frame_key first = {2, 1, 1};
	unsigned refused = 0;

	assert_true(frame_learn(*state, &first, 2, &call, 1));
	for (uint64_t pc = 2; pc < UINT64_C(3) * FRAME_ENTRIES; pc++)
		refused += !frame_learn(*state, &(struct frame_key){pc << 1, 1, 1}, 2, &call, 1);
	assert_true(refused > FRAME_ENTRIES);
	assert_non_null(frame_find(*state, &first));
}

TEST(too_many_calls_are_refused, new_table, free_table)
{
	struct call calls[FRAME_CALLS_MAX + 1] = {{0}};
	const struct frame_key key = {2, 1, 1};

	assert_false(frame_learn(*state, &key, 2, calls, FRAME_CALLS_MAX + 1));
	assert_false(frame_learn(*state, &key, 2, calls, 0));
	assert_true(frame_learn(*state, &key, 2, calls, FRAME_CALLS_MAX));
}

#define THREADS 4u
#define FRAMES  2000u

/* Every thread learns all frames and finds nothing else than what was learnt. */
static void *learn_all(void *table)
{
	for (uint64_t i = 1; i <= FRAMES; i++) {
		const struct call call = {.bci = (int32_t)i, .method = (uint32_t)i};
		const struct frame_key key = {i << 1, i, (uint32_t)i};
		const struct frame_entry *e = frame_find(table, &key);

		if (!e)
			(void)frame_learn(table, &key, 2, &call, 1); /* Looked at next. */
		e = frame_find(table, &key);
		if (!e || frame_calls(table, e)[0].bci != (int32_t)i)
			return table;
	}
	return NULL;
}

TEST(threads_that_learn_at_once_find_what_they_learnt, new_table, free_table)
{
	pthread_t threads[THREADS];
	void *failed;

	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, learn_all, *state), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}
