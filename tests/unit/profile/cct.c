#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/cct.h"
#include "proto/limits.h"

static uint32_t add(struct cct *t, uint32_t parent, uint32_t method, int32_t bci)
{
	struct cct_node node = {.parent = parent, .method = method, .bci = bci, .line = -1};
	uint32_t id;

	assert_int_equal(cct_add_node(t, &node, &id), 0);
	return id;
}

TEST(the_same_path_is_one_node)
{
	struct cct t = {0};
	uint32_t a = add(&t, 0, 0, 1), b = add(&t, a, 0, 2);

	assert_int_equal(add(&t, 0, 0, 1), a);
	assert_int_equal(add(&t, a, 0, 2), b);
	assert_int_not_equal(add(&t, b, 0, 2), b);
	assert_int_equal(t.node_count, 3);
	cct_release(&t);
}

TEST(overloads_with_different_lines_stay_apart)
{
	struct cct_node one = {.bci = 3, .line = 10}, other = {.bci = 3, .line = 20};
	struct cct t = {0};
	uint32_t a, b;

	assert_int_equal(cct_add_node(&t, &one, &a), 0);
	assert_int_equal(cct_add_node(&t, &other, &b), 0);
	assert_int_not_equal(a, b);
	cct_release(&t);
}

TEST(methods_are_interned_by_class_name_and_file)
{
	struct cct_method one = {1, 2, 3}, other = {1, 2, 4};
	struct cct t = {0};
	uint32_t a, b, c;

	assert_int_equal(cct_add_method(&t, &one, &a), 0);
	assert_int_equal(cct_add_method(&t, &other, &b), 0);
	assert_int_equal(cct_add_method(&t, &one, &c), 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_int_equal(cct_method(&t, b)->file, 4);
	cct_release(&t);
}

TEST(lines_are_equal_whatever_called_them_and_however_they_ran)
{
	struct cct_node node = {.method = 0, .bci = 4, .line = 10, .tier = JXP__TIER__TIER_JIT};
	struct cct t = {0};
	uint32_t root = add(&t, 0, 0, 1), ids[4], *lines;

	for (unsigned i = 0; i < 4; i++) {
		node.parent = i % 2 ? root : 0;
		node.bci = 4 + (int32_t)i; /* Of one line. */
		node.line = i == 3 ? 11 : 10;
		node.tier = (uint16_t)(i == 2 ? JXP__TIER__TIER_INTERPRETED : JXP__TIER__TIER_JIT);
		assert_int_equal(cct_add_node(&t, &node, &ids[i]), 0);
	}
	assert_int_equal(cct_lines(&t, &lines), 0);
	assert_int_equal(lines[0], 0);
	assert_int_equal(lines[ids[0]], ids[0]);
	assert_int_equal(lines[ids[1]], ids[0]);
	assert_int_equal(lines[ids[2]], ids[0]);
	assert_int_equal(lines[ids[3]], ids[3]);
	free(lines);
	cct_release(&t);
}

TEST(depth_counts_frames_and_is_limited)
{
	struct cct_node node = {.bci = 1, .line = -1};
	struct cct t = {0};
	uint32_t id = 0;

	assert_int_equal(cct_depth(&t, 0), 0);
	for (unsigned i = 0; i < MAX_FRAMES_LIMIT; i++)
		id = add(&t, id, 0, 1);
	assert_int_equal(cct_depth(&t, id), MAX_FRAMES_LIMIT);
	node.parent = id;
	assert_int_equal(cct_add_node(&t, &node, &id), -E2BIG);
	assert_int_equal(t.node_count, MAX_FRAMES_LIMIT);
	cct_release(&t);
}

TEST(a_full_tree_refuses_new_nodes_and_still_finds_old)
{
	struct cct_node node = {.bci = (int32_t)LIMIT_NODES, .line = -1};
	struct cct t = {0};
	uint32_t id;

	for (uint32_t i = 0; i < LIMIT_NODES; i++)
		(void)add(&t, 0, 0, (int32_t)i);
	assert_int_equal(cct_add_node(&t, &node, &id), -ENOSPC);
	assert_int_equal(add(&t, 0, 0, 17), 18);
	cct_release(&t);
}
