#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subsume/tree.h"

static uint32_t method(struct subsume_builder *b, const char *name)
{
	uint32_t m;

	assert_int_equal(subsume_builder_method(b, name, strlen(name), &m), 0);
	return m;
}

TEST(children_are_in_preorder_as_they_came_first)
{
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_tree t;
	uint32_t a, c, d;

	assert_non_null(b);
	a = method(b, "a");
	c = method(b, "c");
	d = method(b, "d");
	assert_int_equal(method(b, "a"), a);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){a, c}, 2, 1), 0);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){d, c}, 2, 2), 0);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){a, c, d}, 3, 3), 0);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){a, d}, 2, 4), 0);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){a, c}, 2, 5), 0);
	assert_int_equal(subsume_builder_add(b, NULL, 0, 6), 0);
	subsume_builder_truncated(b, 7, 2);
	assert_int_equal(subsume_builder_finish(b, 21, "samples", &t), 0);
	subsume_builder_free(b);

	assert_int_equal(t.node_count, 7);
	assert_int_equal(t.method_count, 4);
	assert_memory_equal(t.method, ((uint32_t[]){0, a, c, d, d, d, c}), 7 * sizeof(uint32_t));
	assert_memory_equal(t.depth, ((uint16_t[]){0, 1, 2, 3, 2, 1, 2}), 7 * sizeof(uint16_t));
	assert_memory_equal(t.cost, ((uint64_t[]){6, 0, 6, 3, 4, 0, 2}), 7 * sizeof(uint64_t));
	assert_string_equal(t.methods[c].label, "c");
	assert_string_equal(t.unit, "samples");
	assert_int_equal(t.samples, 21);
	assert_int_equal(t.truncated, 7);
	assert_int_equal(t.truncated_samples, 2);
	subsume_tree_release(&t);
	assert_null(t.method);
}

TEST(lambdas_of_one_line_are_one_method)
{
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_tree t;
	uint32_t first;

	first = method(b, "Foo$$Lambda$1/0x00007f0000001000.run");
	assert_int_equal(method(b, "Foo$$Lambda$2/0x00007f0000002000.run"), first);
	(void)method(b, "java.lang.reflect.Method.invoke");
	(void)method(b, "broken\xff\n");
	assert_int_equal(subsume_builder_finish(b, 0, "", &t), 0);
	subsume_builder_free(b);
	assert_string_equal(t.methods[first].label, "Foo$$Lambda.run");
	assert_false(t.methods[0].always_subsumed);
	assert_false(t.methods[first].always_subsumed);
	assert_true(t.methods[first + 1].always_subsumed);
	assert_string_equal(t.methods[first + 2].label, "broken\\xff\\x0a");
	assert_int_equal(t.node_count, 1);
	subsume_tree_release(&t);
}

TEST(methods_are_told_apart_by_more_than_what_is_shown)
{
	static const struct {
		const char *name;
		size_t length;
		const char *label;
	} names[] = {
	    {"m(I)\0file", 9, "m(I)"},
	    {"m(I)\0other", 10, "m#2(I)"},
	    {"m#2(I)", 6, "m#2#2(I)"},
	    {"m(I)", 4, "m#3(I)"},
	    {"\xed\xa0\xbd\xed\xb8\x80", 6, "\xf0\x9f\x98\x80"},
	    {"(x)\0"
	     "1",
	     5, "(x)"},
	    {"(x)", 3, "(x)#2"},
	};
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_tree t;
	uint32_t m;

	for (uint32_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		assert_int_equal(subsume_builder_method(b, names[k].name, names[k].length, &m), 0);
		assert_int_equal(m, k + 1);
	}
	/* The same character in the other form. */
	assert_int_equal(method(b, "\xf0\x9f\x98\x80"), 5);
	assert_int_equal(subsume_builder_finish(b, 0, "", &t), 0);
	subsume_builder_free(b);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		assert_string_equal(t.methods[k + 1].label, names[k].label);
	subsume_tree_release(&t);
}

TEST(what_is_too_large_is_refused)
{
	struct subsume_builder *b = subsume_builder_new();
	static uint32_t path[SUBSUME_DEPTH_MAX + 1];
	static char name[SUBSUME_NAME_MAX + 1];
	struct subsume_tree t;
	uint32_t m;

	m = method(b, "a");
	for (size_t i = 0; i <= SUBSUME_DEPTH_MAX; i++)
		path[i] = m;
	assert_int_equal(subsume_builder_add(b, path, SUBSUME_DEPTH_MAX + 1, 1), -E2BIG);
	assert_int_equal(subsume_builder_add(b, path, SUBSUME_DEPTH_MAX, 1), 0);
	assert_int_equal(subsume_builder_add(b, path, 1, SUBSUME_COST_MAX), -ENOSPC);
	assert_int_equal(subsume_builder_add(b, path, 1, SUBSUME_COST_MAX - 1), 0);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){m, 2}, 2, 0), -EINVAL);
	assert_int_equal(subsume_builder_add(b, (uint32_t[]){0}, 1, 0), -EINVAL);
	memset(name, 'n', sizeof(name));
	assert_int_equal(subsume_builder_method(b, name, sizeof(name), &m), -ENOSPC);
	assert_int_equal(subsume_builder_method(b, name, sizeof(name) - 1, &m), 0);
	assert_int_equal(subsume_builder_finish(b, 1, "samples", &t), 0);
	assert_int_equal(t.node_count, SUBSUME_DEPTH_MAX + 1);
	assert_int_equal(t.depth[SUBSUME_DEPTH_MAX], SUBSUME_DEPTH_MAX);
	subsume_builder_free(b);
	subsume_tree_release(&t);
}

/* Against paths that are kept as they are, in an order without any. */
TEST(many_paths_are_all_there)
{
	enum { METHODS = 700, PATHS = 5000, DEPTH = 6 };
	struct subsume_builder *b = subsume_builder_new();
	static uint64_t expected[PATHS];
	uint32_t path[DEPTH] = {0};
	struct subsume_tree t;
	size_t met = 0;

	for (unsigned i = 0; i < METHODS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(method(b, name), i + 1);
	}
	for (unsigned i = 0; i < 4 * PATHS; i++) {
		unsigned which = i * 7919u % PATHS;

		for (unsigned d = 0; d < DEPTH - 1; d++)
			path[d] = 1 + (which >> (2 * d)) % 7;
		path[DEPTH - 1] = 1 + which % METHODS;
		assert_int_equal(subsume_builder_add(b, path, DEPTH, i), 0);
	}
	for (unsigned i = 0; i < 4 * PATHS; i++)
		expected[i * 7919u % PATHS] += i;
	assert_int_equal(subsume_builder_finish(b, 0, "", &t), 0);
	subsume_builder_free(b);
	for (size_t n = 0; n < t.node_count; n++) {
		uint64_t cost = 0;

		path[t.depth[n] ? t.depth[n] - 1 : 0] = t.method[n];
		if (t.depth[n] != DEPTH)
			continue;
		for (unsigned which = 0; which < PATHS; which++) {
			bool same = path[DEPTH - 1] == 1 + which % METHODS;

			for (unsigned d = 0; d < DEPTH - 1 && same; d++)
				same = path[d] == 1 + (which >> (2 * d)) % 7;
			cost += same ? expected[which] : 0;
		}
		assert_int_equal(t.cost[n], cost);
		met++;
	}
	assert_true(met > METHODS);
	subsume_tree_release(&t);
}
