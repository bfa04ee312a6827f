/* The calling context table, alone and with several threads at once. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <stdlib.h>

#include "attach/agent/stack/context.h"

static int new_table(void **state)
{
	*state = calloc(1, sizeof(struct context_table));
	return *state ? 0 : -1;
}

static int free_table(void **state)
{
	free(*state);
	return 0;
}

TEST(equal_contexts_have_equal_ids, new_table, free_table)
{
	uint32_t root = context_intern(*state, 0, (struct call){100, 1});
	uint32_t leaf = context_intern(*state, root, (struct call){200, 2});

	assert_true(root > 0 && leaf > 0 && root != leaf);
	assert_int_equal(context_intern(*state, 0, (struct call){100, 1}), root);
	assert_int_equal(context_intern(*state, root, (struct call){200, 2}), leaf);
	assert_int_equal(context_parent(context_node(*state, leaf)), root);
	assert_int_equal(context_node(*state, leaf)->method, 200);
	assert_int_equal(context_node(*state, leaf)->bci, 2);
}

TEST(parent_method_and_bci_all_distinguish, new_table, free_table)
{
	uint32_t a = context_intern(*state, 0, (struct call){100, 1});

	assert_int_not_equal(context_intern(*state, 0, (struct call){100, 2}), a);
	assert_int_not_equal(context_intern(*state, 0, (struct call){101, 1}), a);
	assert_int_not_equal(context_intern(*state, a, (struct call){100, 1}), a);
}

TEST(a_full_table_gives_no_id_and_keeps_its_content, new_table, free_table)
{
	uint32_t first = context_intern(*state, 0, (struct call){1, 0});
	unsigned refused = 0;

	for (uint32_t m = 2; m < 2 * CONTEXT_NODES; m++)
		refused += context_intern(*state, 0, (struct call){m, 0}) == 0;
	assert_true(refused >= CONTEXT_NODES - 2);
	assert_int_equal(context_intern(*state, 0, (struct call){1, 0}), first);
}

/* Random walks over a small tree, deeper than what is remembered at times. */
TEST(a_context_has_the_same_id_with_the_last_one_remembered, new_table, free_table)
{
	static struct context_path path;
	static struct call calls[CONTEXT_PATH_MAX + 40];
	const unsigned most = sizeof(calls) / sizeof(calls[0]);
	unsigned known = 0;

	srand(1);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned count = 1 + (unsigned)rand() % (round % 100 ? 20 : most);

		for (unsigned i = 0; i < count; i++)
			calls[i] = (struct call){1 + (rand() % 8 == 0), (int32_t)(count - i)};
		known += path.count > 0;
		assert_int_equal(context_intern_all(*state, &path, calls, count),
				 context_intern_all(*state, NULL, calls, count));
		assert_int_equal(path.count, count < CONTEXT_PATH_MAX ? count : CONTEXT_PATH_MAX);
	}
	assert_int_equal(known, 1999);
}

#define THREADS 4
#define PATHS   2000

struct inserter {
	pthread_t thread;
	struct context_table *table;
	uint32_t ids[PATHS];
};

static void *insert_paths(void *arg)
{
	struct inserter *in = arg;

	for (unsigned p = 0; p < PATHS; p++) {
		uint32_t node = 0;

		for (int depth = 0; depth < 8; depth++)
			node = context_intern(in->table, node,
					      (struct call){1000 + (p >> depth), depth});
		in->ids[p] = node;
	}
	return NULL;
}

/* Twins may arise, wrong content may not. */
TEST(threads_agree_on_the_content_of_every_path, new_table, free_table)
{
	static struct inserter in[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		in[i].table = *state;
		assert_int_equal(pthread_create(&in[i].thread, NULL, insert_paths, &in[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(in[i].thread, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		for (unsigned p = 0; p < PATHS; p++) {
			uint32_t id = in[i].ids[p];

			for (int depth = 7; depth >= 0; depth--) {
				const struct context_node *node = context_node(*state, id);

				assert_int_equal(node->method, 1000 + (p >> depth));
				assert_int_equal(node->bci, depth);
				id = context_parent(node);
			}
			assert_int_equal(id, 0);
		}
	}
}
