#include "tests/unit/support/test.h"

#include <math.h>
#include <string.h>

#include "subsume/summary.h"
#include "tests/unit/support/subsuming_example.h"

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-12);
}

static void assert_part(const struct subsume_part *part, uint32_t method, double fraction)
{
	assert_int_equal(part->method, method);
	assert_near(part->fraction, fraction);
}

TEST(rows_say_who_calls_and_what_it_is_made_of)
{
	struct subsume_analysis a;
	struct subsume_summary s;
	const struct subsume_row *b;

	assert_int_equal(subsume_analyse(&example, &example_bounds, &a), 0);
	assert_int_equal(subsume_summarise(&example, &a, SUBSUME_TOP_DEFAULT, &s), 0);
	assert_int_equal(s.by_induced_count, 2);
	assert_int_equal(s.by_induced[1].method, MAIN);
	assert_near(s.by_induced[1].induced, 17.0 / 71);
	assert_int_equal(s.by_induced[1].caller_count, 0);
	b = &s.by_induced[0];
	assert_int_equal(b->method, B);
	assert_near(b->induced, 54.0 / 71);
	assert_near(b->inclusive, 54.0 / 71);
	assert_near(b->exclusive, 12.0 / 71);
	assert_int_equal(b->caller_count, 2);
	assert_part(&b->callers[0], A, 36.0 / 54);
	assert_part(&b->callers[1], MAIN, 18.0 / 54);
	assert_int_equal(b->pattern_count, 3);
	assert_part(&b->pattern[0], X, 36.0 / 54);
	assert_part(&b->pattern[1], B, 12.0 / 54);
	assert_part(&b->pattern[2], C, 6.0 / 54);
	assert_false(b->sampled);
	assert_true(b->borderline);
	assert_false(s.by_induced[1].borderline);
	assert_near(s.coverage, 1);
	/* The root includes everything, which is no news. */
	assert_int_equal(s.by_inclusive_count, 1);
	assert_int_equal(s.by_inclusive[0].method, B);
	assert_int_equal(s.by_inclusive[0].caller_count, 2);
	assert_int_equal(b->caller_path_count, 1);
	assert_part(&b->caller_path[0], A, 36.0 / 54);
	assert_int_equal(s.by_induced[1].caller_path_count, 0);
	subsume_summary_release(&s);
	assert_null(s.by_induced);
	subsume_analysis_release(&a);
}

TEST(other_lists_are_as_long_as_the_rows)
{
	struct subsume_analysis a;
	struct subsume_summary s;

	assert_int_equal(subsume_analyse(&example, &example_bounds, &a), 0);
	/* x has 36, b 12; b has 54, a 50. */
	assert_int_equal(subsume_summarise(&example, &a, 1, &s), 0);
	assert_int_equal(s.by_induced_count, 1);
	assert_false(s.by_induced[0].in_top_exclusive);
	assert_true(s.by_induced[0].in_top_inclusive);
	subsume_summary_release(&s);
	assert_int_equal(subsume_summarise(&example, &a, 2, &s), 0);
	assert_true(s.by_induced[0].in_top_exclusive);
	assert_true(s.by_inclusive[0].in_top_exclusive);
	subsume_summary_release(&s);
	assert_int_equal(subsume_summarise(&example, &a, 0, &s), 0);
	assert_int_equal(s.by_induced_count, 0);
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
}

TEST(a_recursive_call_is_no_caller_of_the_first)
{
	enum { R = 1, Q };
	static struct subsume_method methods[] = {{"(root)", false}, {"r", false}, {"q", false}};
	static uint32_t method[] = {0, R, Q, R, Q, R};
	static uint16_t depth[] = {0, 1, 2, 3, 4, 5};
	static uint64_t cost[] = {0, 1, 2, 3, 4, 5};
	const struct subsume_tree tree = {.method = method,
					  .depth = depth,
					  .cost = cost,
					  .node_count = 6,
					  .methods = methods,
					  .method_count = 3};
	struct subsume_analysis a;
	struct subsume_summary s;

	assert_int_equal(subsume_analyse(&tree, &(struct subsume_bounds){0, 0}, &a), 0);
	assert_int_equal(subsume_summarise(&tree, &a, 3, &s), 0);
	assert_int_equal(s.by_inclusive[0].method, R);
	assert_near(s.by_inclusive[0].inclusive, 1);
	assert_int_equal(s.by_inclusive[0].caller_count, 1);
	assert_part(&s.by_inclusive[0].callers[0], 0, 1);
	assert_int_equal(s.by_inclusive[1].method, Q);
	assert_near(s.by_inclusive[1].inclusive, 14.0 / 15);
	assert_part(&s.by_inclusive[1].callers[0], R, 1);
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
}

TEST(samples_have_intervals_and_a_coverage)
{
	struct subsume_tree tree = example;
	struct subsume_analysis a;
	struct subsume_summary s;

	tree.samples = 71;
	assert_int_equal(subsume_analyse(&tree, &example_bounds, &a), 0);
	assert_int_equal(subsume_summarise(&tree, &a, 2, &s), 0);
	assert_true(s.by_induced[0].sampled);
	/* Wilson's interval of 54 in 71. */
	assert_true(fabs(s.by_induced[0].induced_ci95[0] - 0.64959) < 5e-6);
	assert_true(fabs(s.by_induced[0].induced_ci95[1] - 0.84479) < 5e-6);
	assert_near(s.coverage, 1); /* No node has one sample. */
	subsume_summary_release(&s);

	/* Of 36 samples of about two each one is alone, that of c. */
	tree.samples = 36;
	assert_int_equal(subsume_summarise(&tree, &a, 2, &s), 0);
	assert_near(s.coverage, 1 - 1.0 / 36);
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
}

static void add_stack(struct subsume_builder *b, const char *letters, uint64_t cost)
{
	uint32_t path[16];
	size_t count = 0;

	for (; *letters; letters++)
		assert_int_equal(subsume_builder_method(b, letters, 1, &path[count++]), 0);
	assert_int_equal(subsume_builder_add(b, path, count, cost), 0);
}

TEST(the_way_by_which_most_comes_is_followed)
{
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_bounds bounds = {0, 2};
	struct subsume_analysis a;
	struct subsume_summary s;
	struct subsume_tree tree;
	const struct subsume_row *row;

	/* m is called by k in 9 of 10, k there by p in 6 and by q in 3, p by r or s. */
	add_stack(b, "trpkm", 0);
	add_stack(b, "trpkmx", 3);
	add_stack(b, "uspkmx", 3);
	add_stack(b, "vwqkmx", 3);
	add_stack(b, "vwqlmx", 1);
	assert_int_equal(subsume_builder_finish(b, 0, "samples", &tree), 0);
	subsume_builder_free(b);
	assert_int_equal(subsume_analyse(&tree, &bounds, &a), 0);
	assert_int_equal(subsume_summarise(&tree, &a, 5, &s), 0);
	assert_int_equal(s.by_induced_count, 1);
	row = &s.by_induced[0];
	assert_string_equal(tree.methods[row->method].label, "m");
	assert_int_equal(row->caller_path_count, 2);
	assert_string_equal(tree.methods[row->caller_path[0].method].label, "k");
	assert_near(row->caller_path[0].fraction, 0.9);
	assert_near(row->caller_path[0].fraction, row->callers[0].fraction);
	assert_string_equal(tree.methods[row->caller_path[1].method].label, "p");
	assert_near(row->caller_path[1].fraction, 0.6);
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
	subsume_tree_release(&tree);
}

/* More callers than are named: the largest, and equal ones by name. */
TEST(the_largest_parts_are_named)
{
	struct subsume_builder *b = subsume_builder_new();
	const char *names[] = {"m", "g", "f", "e", "d", "c", "b", "leaf"};
	uint32_t numbers[8];
	struct subsume_analysis a;
	struct subsume_summary s;
	struct subsume_tree tree;

	for (size_t i = 0; i < 8; i++)
		assert_int_equal(subsume_builder_method(b, names[i], strlen(names[i]), &numbers[i]),
				 0);
	for (size_t i = 1; i < 7; i++)
		assert_int_equal(
		    subsume_builder_add(b, (uint32_t[]){numbers[i], numbers[0], numbers[7]}, 3,
					i == 4 ? 2 : 1),
		    0);
	assert_int_equal(subsume_builder_finish(b, 0, "samples", &tree), 0);
	subsume_builder_free(b);
	assert_int_equal(subsume_analyse(&tree, &(struct subsume_bounds){0, 1}, &a), 0);
	assert_int_equal(subsume_summarise(&tree, &a, 3, &s), 0);
	assert_int_equal(s.by_induced_count, 1);
	assert_int_equal(s.by_induced[0].method, numbers[0]);
	assert_int_equal(s.by_induced[0].caller_count, SUBSUME_PARTS_MAX);
	assert_part(&s.by_induced[0].callers[0], numbers[4], 2.0 / 7);
	assert_part(&s.by_induced[0].callers[1], numbers[6], 1.0 / 7);
	assert_part(&s.by_induced[0].callers[4], numbers[2], 1.0 / 7);
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
	subsume_tree_release(&tree);
}
