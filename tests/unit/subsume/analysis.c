#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "subsume/analysis.h"
#include "tests/unit/support/literal_subsuming.h"
#include "tests/unit/support/subsuming_example.h"

#define TREES       10000u
#define METHODS_MAX 40u
#define PATHS_MAX   24u
#define DEEPEST     160u

/* ---------------------------------------------------------------- the paper's example */

TEST(example_1_is_that_of_the_paper)
{
	static const struct {
		unsigned height, distance, dominator;
		uint64_t exclusive, inclusive;
	} table[] = {{4, 0, MAIN, 3, 71}, {3, 1, MAIN, 4, 50}, {2, 2, MAIN, 12, 54},
		     {1, 1, B, 6, 24},    {0, 2, B, 36, 36},   {0, 1, A, 10, 10}};
	struct subsume_analysis a;

	assert_int_equal(subsume_analyse(&example, &example_bounds, &a), 0);
	for (size_t m = 0; m < EXAMPLE_METHODS; m++) {
		assert_int_equal(a.methods[m].height, table[m].height);
		assert_int_equal(a.methods[m].distance, table[m].distance);
		assert_int_equal(a.methods[m].dominator, table[m].dominator);
		assert_int_equal(a.methods[m].exclusive, table[m].exclusive);
		assert_int_equal(a.methods[m].inclusive, table[m].inclusive);
		assert_int_equal(a.methods[m].subsumes, m == MAIN || m == B);
	}
	assert_int_equal(a.methods[B].induced, 54);
	assert_int_equal(a.methods[MAIN].induced, 17);
	assert_int_equal(a.methods[X].induced, 0);
	assert_int_equal(a.methods[X].occurrences, 4);
	assert_int_equal(a.total, 71);
	assert_int_equal(a.subsuming_methods, 2);
	assert_int_equal(a.subsuming_nodes, 3);
	assert_memory_equal(a.owner, ((uint32_t[]){0, 0, 2, 2, 2, 2, 0, 7, 7, 7, 7}),
			    EXAMPLE_NODES * sizeof(uint32_t));
	subsume_analysis_release(&a);
}

TEST(what_is_always_subsumed_is)
{
	struct subsume_method methods[EXAMPLE_METHODS];
	struct subsume_tree tree = example;
	struct subsume_analysis a;

	memcpy(methods, example_methods, sizeof(methods));
	methods[B].always_subsumed = true;
	tree.methods = methods;
	assert_int_equal(subsume_analyse(&tree, &example_bounds, &a), 0);
	assert_false(a.methods[B].subsumes);
	assert_int_equal(a.methods[MAIN].induced, 71);
	subsume_analysis_release(&a);
}

TEST(trees_that_cannot_be_are_refused)
{
	static const struct {
		size_t at;
		uint32_t method;
		uint16_t depth;
	} wrong[] = {{0, 1, 0}, {0, 0, 1}, {3, 3, 4},
		     {3, 3, 0}, {3, 0, 3}, {3, EXAMPLE_METHODS, 3}};
	struct subsume_bounds bounds = {.height = 1, .distance = SUBSUME_DISTANCE_MAX + 1};
	uint64_t cost[EXAMPLE_NODES];
	struct subsume_tree tree = example;
	struct subsume_analysis a;

	assert_int_equal(subsume_analyse(&tree, &bounds, &a), -EINVAL);
	bounds.distance = 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint32_t method[EXAMPLE_NODES];
		uint16_t depth[EXAMPLE_NODES];

		memcpy(method, example_method, sizeof(method));
		memcpy(depth, example_depth, sizeof(depth));
		method[wrong[i].at] = wrong[i].method;
		depth[wrong[i].at] = wrong[i].depth;
		tree.method = method;
		tree.depth = depth;
		assert_int_equal(subsume_analyse(&tree, &bounds, &a), -EINVAL);
	}
	tree = example;
	memcpy(cost, example_cost, sizeof(cost));
	cost[5] = UINT64_MAX;
	tree.cost = cost;
	assert_int_equal(subsume_analyse(&tree, &bounds, &a), -EINVAL);
	tree.node_count = 0;
	assert_int_equal(subsume_analyse(&tree, &bounds, &a), -EINVAL);
}

/* ---------------------------------------------------------------- random trees */

struct stack {
	uint32_t methods[DEEPEST];
	size_t count;
	uint64_t cost;
};

/* Calls of any method, and of the last few again and again. */
static void grow_stack(struct random *r, struct stack *s, size_t depth, uint32_t methods)
{
	while (s->count < depth) {
		uint32_t period = 1 + random_below(r, 5), times = 1 + random_below(r, 5);

		if (s->count < period || random_below(r, 3)) {
			s->methods[s->count++] = 1 + random_below(r, methods);
			continue;
		}
		for (; times > 0; times--)
			for (uint32_t i = 0; i < period && s->count < depth; i++, s->count++)
				s->methods[s->count] = s->methods[s->count - period];
	}
}

/* Stacks that share their beginnings with the one before, as those of a program do. Few trees are
 * deep: the literal algorithms take the square of it. */
static size_t random_stacks(struct random *r, struct stack *stacks, uint32_t methods)
{
	size_t count = 1 + random_below(r, PATHS_MAX);
	size_t deepest = random_below(r, 20) ? 12 : DEEPEST;

	for (size_t i = 0; i < count; i++) {
		size_t depth = 1 + random_below(r, (uint32_t)deepest);

		if (i > 0) {
			stacks[i] = stacks[i - 1];
			stacks[i].count = random_below(r, (uint32_t)stacks[i].count + 1);
			if (random_below(r, 4))
				depth = stacks[i].count + 1 + random_below(r, 4);
		} else {
			stacks[i].count = 0;
		}
		if (depth > DEEPEST)
			depth = DEEPEST;
		stacks[i].cost = random_below(r, 100);
		grow_stack(r, &stacks[i], depth, methods);
	}
	return count;
}

/* Of every stack, or of about half of them. */
static void make_tree(const struct stack *stacks, size_t count, uint32_t methods,
		      struct random *half, struct subsume_tree *tree)
{
	struct subsume_builder *b = subsume_builder_new();

	assert_non_null(b);
	for (uint32_t m = 1; m <= methods; m++) {
		char name[2] = {(char)('0' + m), '\0'};
		uint32_t number;

		assert_int_equal(subsume_builder_method(b, name, 1, &number), 0);
		assert_int_equal(number, m);
	}
	for (size_t i = 0; i < count; i++)
		if (!half || random_below(half, 2))
			assert_int_equal(subsume_builder_add(b, stacks[i].methods, stacks[i].count,
							     stacks[i].cost),
					 0);
	assert_int_equal(subsume_builder_finish(b, 0, "", tree), 0);
	subsume_builder_free(b);
}

/* Each node's once. */
static uint64_t inclusive(const struct literal_node *n, const struct literal_method *m, bool inside)
{
	uint64_t sum;

	inside = inside || n->method == m;
	sum = inside ? n->cost : 0;
	for (const struct literal_node *c = n->children; c; c = c->next_child)
		sum += inclusive(c, m, inside);
	return sum;
}

static void assert_same(const struct subsume_tree *tree, const struct subsume_analysis *a,
			const struct literal_tree *t)
{
	uint64_t sum = 0;

	for (size_t m = 0; m < tree->method_count; m++) {
		const struct literal_method *l = &t->methods[m];
		const struct subsume_facts *f = &a->methods[m];
		uint32_t dmd = l->min_dmd > SUBSUME_DISTANCE_MAX ? SUBSUME_FAR : l->min_dmd;

		sum += f->induced;
		if (!l->nodes) {
			assert_int_equal(f->occurrences, 0);
			assert_false(f->subsumes);
			continue;
		}
		assert_int_equal(f->height, l->max_height);
		assert_int_equal(f->distance, m ? dmd : 0);
		assert_int_equal(f->subsumes, !l->subsumed);
		assert_int_equal(f->induced, l->induced);
		assert_int_equal(f->inclusive, inclusive(&t->nodes[0], l, false));
		if (f->distance > 0 && f->distance <= SUBSUME_DISTANCE_MAX)
			assert_int_equal(literal_dmd(&t->methods[f->dominator], l), dmd);
	}
	assert_int_equal(sum, a->total);
}

TEST(our_pass_and_the_listings_agree)
{
	static struct stack stacks[PATHS_MAX];
	unsigned far = 0, subsuming = 0;
	struct random r;

	random_seed(&r, 14);
	for (unsigned i = 0; i < TREES; i++) {
		struct subsume_bounds bounds = {random_below(&r, 6), random_below(&r, 6)};
		uint32_t methods = 2 + random_below(&r, METHODS_MAX - 2);
		size_t count = random_stacks(&r, stacks, methods);
		struct subsume_analysis a;
		struct subsume_tree tree;
		struct literal_tree t;

		make_tree(stacks, count, methods, NULL, &tree);
		for (uint32_t m = 1; m <= methods; m++)
			tree.methods[m].always_subsumed = random_below(&r, 16) == 0;
		assert_int_equal(subsume_analyse(&tree, &bounds, &a), 0);
		literal_analyse(&t, &tree, &bounds);
		assert_same(&tree, &a, &t);
		for (size_t m = 1; m < tree.method_count; m++) {
			far += a.methods[m].distance == SUBSUME_FAR;
			subsuming += a.methods[m].subsumes;
		}
		literal_release(&t);
		subsume_analysis_release(&a);
		subsume_tree_release(&tree);
	}
	assert_true(far > TREES / 100); /* They are beyond all bounds. */
	assert_true(subsuming > TREES / 10);
}

/* A long word again and again, with errors: repetitions that are folded, and such as nearly are. */
static void grow_long(struct random *r, struct stack *s, size_t depth, size_t period)
{
	for (; s->count < depth; s->count++)
		s->methods[s->count] = s->count < period || random_below(r, 100) == 0
					   ? 1 + random_below(r, METHODS_MAX)
					   : s->methods[s->count - period];
}

TEST(long_periods_agree_too)
{
	static struct stack stacks[4];
	unsigned folded = 0;
	struct random r;

	random_seed(&r, 42);
	for (unsigned i = 0; i < 100; i++) {
		size_t period = 10 + random_below(&r, 40);
		struct subsume_analysis a;
		struct subsume_tree tree;
		struct literal_tree t;

		for (size_t k = 0; k < 4; k++) {
			stacks[k].count = 0;
			stacks[k].cost = 1;
			if (k > 0) {
				stacks[k] = stacks[k - 1];
				stacks[k].count = DEEPEST / 4 + random_below(&r, DEEPEST * 3 / 4);
			}
			grow_long(&r, &stacks[k], DEEPEST, period);
		}
		make_tree(stacks, 4, METHODS_MAX, NULL, &tree);
		assert_int_equal(subsume_analyse(&tree, &example_bounds, &a), 0);
		literal_analyse(&t, &tree, &example_bounds);
		assert_same(&tree, &a, &t);
		folded += a.methods[0].height < DEEPEST;
		literal_release(&t);
		subsume_analysis_release(&a);
		subsume_tree_release(&tree);
	}
	assert_true(folded > 20);
}

TEST(the_deepest_recursion_is_one_call_deep)
{
	struct subsume_builder *b = subsume_builder_new();
	static uint32_t path[SUBSUME_DEPTH_MAX];
	struct subsume_analysis a;
	struct subsume_tree tree;
	uint32_t method;

	assert_int_equal(subsume_builder_method(b, "a", 1, &method), 0);
	for (size_t i = 0; i < SUBSUME_DEPTH_MAX; i++)
		path[i] = method;
	assert_int_equal(subsume_builder_add(b, path, SUBSUME_DEPTH_MAX, 7), 0);
	assert_int_equal(subsume_builder_finish(b, 7, "samples", &tree), 0);
	subsume_builder_free(b);
	assert_int_equal(subsume_analyse(&tree, &(struct subsume_bounds){0, 0}, &a), 0);
	assert_int_equal(a.methods[0].height, 2);
	assert_int_equal(a.methods[method].height, 1);
	assert_int_equal(a.methods[method].distance, 2);
	assert_int_equal(a.methods[method].occurrences, SUBSUME_DEPTH_MAX);
	assert_int_equal(a.methods[method].inclusive, 7);
	subsume_analysis_release(&a);
	subsume_tree_release(&tree);
}

TEST(what_subsumes_in_a_sampled_tree_subsumes_in_the_whole)
{
	static struct stack stacks[PATHS_MAX];
	unsigned found = 0;
	struct random r;

	random_seed(&r, 2015);
	for (unsigned i = 0; i < TREES; i++) {
		struct subsume_bounds bounds = {random_below(&r, 4), random_below(&r, 4)};
		uint32_t methods = 2 + random_below(&r, METHODS_MAX - 2);
		size_t count = random_stacks(&r, stacks, methods);
		struct subsume_analysis whole, sampled;
		struct subsume_tree tree, half;

		make_tree(stacks, count, methods, NULL, &tree);
		make_tree(stacks, count, methods, &r, &half);
		assert_int_equal(subsume_analyse(&tree, &bounds, &whole), 0);
		assert_int_equal(subsume_analyse(&half, &bounds, &sampled), 0);
		for (size_t m = 1; m < tree.method_count; m++) {
			assert_true(!sampled.methods[m].subsumes || whole.methods[m].subsumes);
			found += sampled.methods[m].subsumes;
		}
		subsume_analysis_release(&whole);
		subsume_analysis_release(&sampled);
		subsume_tree_release(&tree);
		subsume_tree_release(&half);
	}
	assert_true(found > TREES / 10);
}

TEST(new_bounds_find_what_a_new_analysis_finds)
{
	static struct stack stacks[PATHS_MAX];
	struct subsume_analysis a, anew;
	struct subsume_tree tree;
	struct random r;

	random_seed(&r, 3);
	make_tree(stacks, random_stacks(&r, stacks, 12), 12, NULL, &tree);
	assert_int_equal(subsume_analyse(&tree, &(struct subsume_bounds){0, 0}, &a), 0);
	for (unsigned height = 0; height < 5; height++) {
		for (unsigned distance = 0; distance < 5; distance++) {
			struct subsume_bounds bounds = {height, distance};

			assert_int_equal(subsume_rebound(&tree, &bounds, &a), 0);
			assert_int_equal(subsume_analyse(&tree, &bounds, &anew), 0);
			assert_memory_equal(a.methods, anew.methods,
					    a.method_count * sizeof(*a.methods));
			assert_memory_equal(a.owner, anew.owner,
					    tree.node_count * sizeof(*a.owner));
			assert_int_equal(a.subsuming_nodes, anew.subsuming_nodes);
			assert_int_equal(a.subsuming_methods, anew.subsuming_methods);
			subsume_analysis_release(&anew);
		}
	}
	subsume_analysis_release(&a);
	subsume_tree_release(&tree);
}
