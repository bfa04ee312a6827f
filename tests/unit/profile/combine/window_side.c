#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "common/cleanup.h"
#include "profile/combine/window_side.h"
#include "tests/unit/support/sample_window.h"

#define COMPILED JXP__CPU_SAMPLE__STATE__COMPILED

static void make(struct compare_side *s, const struct window_result *w)
{
	assert_int_equal(window_side_init(s, w), 0);
}

/* The node of a method below that of another one (NULL: a root). */
static const struct compare_node *node_of(const struct compare_side *s, const char *parent,
					  const char *method)
{
	for (size_t i = 0; i < s->node_count; i++) {
		const struct compare_node *n = &s->nodes[i];
		uint32_t above = n->parent ? s->nodes[n->parent - 1].method : 0;

		if (strcmp(compare_side_method(s, n->method), method) == 0 &&
		    (parent ? above && strcmp(compare_side_method(s, above), parent) == 0
			    : above == 0))
			return n;
	}
	fail_msg("no %s below %s", method, parent ? parent : "nothing");
	return NULL;
}

TEST(contexts_are_paths_of_methods_whatever_their_lines)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 5);
	uint32_t again = sample_window_node(w, 0, "main", 6);
	uint32_t fill = sample_window_node(w, main, "fill", 20);
	uint32_t fill2 = sample_window_node(w, again, "fill", 21);

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	sample_window_ticks(w, fill, COMPILED, 300);
	sample_window_ticks(w, fill2, JXP__CPU_SAMPLE__STATE__INTERPRETED, 100);
	sample_window_ticks(w, main, COMPILED, 50);
	w->cpu.beside = (struct cpu_beside){.span_ns = 12 * NS_PER_S, .gc_ns = 5e8};
	make(&s, w);
	assert_int_equal(s.node_count, 3);
	assert_float_equal(node_of(&s, "org.example.Main.main", "org.example.Main.fill")->ticks,
			   400, 1e-9);
	assert_float_equal(node_of(&s, "org.example.Main.main", "org.example.Main.fill")->ns, 2e9,
			   1);
	assert_float_equal(node_of(&s, NULL, "org.example.Main.main")->ticks, 50, 1e-9);
	assert_float_equal(node_of(&s, NULL, COMPARE_GC)->ns, 5e8, 1);
	assert_float_equal(s.whole_ns, 1e9 * window_result_whole_s(w), 1);
}

TEST(waste_is_that_of_the_access_that_could_go)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	uint32_t first = sample_window_node(w, 0, "first", 5);
	uint32_t second = sample_window_node(w, 0, "second", 6);
	uint32_t line = sample_window_node(w, 0, "second", 7);

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	sample_window_ticks(w, first, COMPILED, 300);
	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, first, second, 30, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, first, second, 20, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, first, line, 5, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, first, line, 70, false);
	make(&s, w);
	assert_int_equal(s.waste_count, 2);
	assert_int_equal(s.waste[0].at.kind, JXP__KIND__KIND_DEAD_STORE);
	assert_string_equal(compare_side_method(&s, s.waste[0].at.method),
			    "org.example.Main.first");
	assert_string_equal(s.waste[0].at.name, "org.example.Main.total");
	assert_float_equal(s.waste[0].sums.count, 30, 1e-9);
	assert_string_equal(compare_side_method(&s, s.waste[1].at.method),
			    "org.example.Main.second");
	assert_float_equal(s.waste[1].sums.count, 25, 1e-9);
	assert_float_equal(s.waste[1].sums.amount / s.whole_ns,
			   25 * 5e6 / window_result_cpu_whole(w, JXP__KIND__KIND_SILENT_LOAD).ns,
			   1e-12);
	assert_false(s.waste[1].at.spill);
	assert_float_equal(s.kinds[JXP__KIND__KIND_SILENT_LOAD].sums.count, 25, 1e-9);
	assert_true(s.kinds[JXP__KIND__KIND_SILENT_STORE].asked);
}

TEST(a_window_without_ticks_has_nothing_to_compare)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");

	make(&s, w);
	assert_true(compare_side_is_empty(&s));
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	make(&s, w);
	assert_true(compare_side_is_empty(&s));
}

TEST(a_window_without_kind_cpu_is_compared_by_checked_bytes)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	uint32_t first = sample_window_node(w, 0, "first", 5);
	uint32_t second = sample_window_node(w, 0, "second", 6);
	const struct totals *t = &w->profile.kinds[JXP__KIND__KIND_DEAD_STORE].application;

	w->request.kinds[JXP__KIND__KIND_CPU] = false;
	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, first, second, 30, true);
	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, first, second, 70, false);
	make(&s, w);
	assert_int_equal(s.unit, COMPARE_CHECKED);
	assert_int_equal(s.node_count, 0);
	assert_int_equal(s.waste_count, 1);
	assert_string_equal(compare_side_method(&s, s.waste[0].at.method),
			    "org.example.Main.first");
	assert_float_equal(s.waste[0].sums.amount, (double)t->wasteful_bytes, 1e-6);
	assert_float_equal(s.kinds[JXP__KIND__KIND_DEAD_STORE].checked.amount,
			   (double)t->checked_bytes, 1e-6);
	assert_float_equal(s.kinds[JXP__KIND__KIND_DEAD_STORE].checked.count, 100, 1e-6);
	assert_float_equal(s.kinds[JXP__KIND__KIND_DEAD_STORE].sums.amount,
			   (double)t->wasteful_bytes, 1e-6);
	assert_false(compare_side_is_empty(&s));
}

/* By how much windows of a merge differ is in the squares. */
TEST(a_merge_says_how_its_windows_differ)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0}, one = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	uint32_t node = sample_window_node(w, 0, "first", 5);
	Jxp__Kind kind = JXP__KIND__KIND_DEAD_STORE;

	w->request.kinds[JXP__KIND__KIND_CPU] = false;
	sample_window_pairs(w, kind, node, node, 30, true);
	make(&one, w);
	w->merged = window_merged_new();
	assert_non_null(w->merged);
	w->merged->windows = 9;
	w->merged->kinds[kind].windows = 5;
	w->merged->fractions[kind] = (struct merged_spread){.excess = 3, .freedom = 4, .effect = 7};
	make(&s, w);
	assert_int_equal(s.windows, 9);
	assert_int_equal(s.kinds[kind].windows, 5);
	assert_float_equal(s.kinds[kind].excess, 3, 0);
	assert_float_equal(s.kinds[kind].freedom, 4, 0);
	/* Observations are as large as they were. */
	assert_float_equal(s.kinds[kind].sums.squares, one.kinds[kind].sums.squares, 1e-6);
	assert_float_equal(one.kinds[kind].excess, 0, 0);
}

/* The time of what there is no room for is its callers'. */
TEST(a_tree_that_is_too_large_loses_its_smallest_leaves)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 5), hot;
	double ticks = 0;
	char name[32];

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	hot = sample_window_node(w, main, "hot", 1);
	sample_window_ticks(w, hot, COMPILED, 50);
	for (unsigned i = 0; i < 40000; i++) {
		(void)snprintf(name, sizeof(name), "m%u", i);
		sample_window_ticks(w, sample_window_node(w, main, name, 1), COMPILED,
				    1 + (i % 4 == 0));
	}
	make(&s, w);
	assert_true(s.node_count > 5000 && s.node_count <= COMPARE_NODES_MAX);
	assert_int_equal(s.node_count + s.nodes_omitted, 40002);
	for (size_t i = 0; i < s.node_count; i++)
		ticks += s.nodes[i].ticks;
	assert_float_equal(ticks, 50050, 1e-6);
	assert_float_equal(node_of(&s, "org.example.Main.main", "org.example.Main.hot")->ticks, 50,
			   1e-9);
	assert_float_equal(node_of(&s, NULL, "org.example.Main.main")->ticks, 30000, 1e-9);
}

/* More of them than a reader takes. */
TEST(methods_of_waste_that_there_is_no_room_for_are_not_named)
{
	_cleanup_(compare_side_release) struct compare_side s = {.pid = 0};
	_cleanup_(window_result_release) struct window_result *w = sample_window_empty(1, "shop");
	char name[32];

	w->request.kinds[JXP__KIND__KIND_CPU] = false;
	for (unsigned i = 0; i < COMPARE_NODES_MAX + COMPARE_WASTE_MAX + 10; i++) {
		uint32_t node;

		(void)snprintf(name, sizeof(name), "m%u", i);
		node = sample_window_node(w, 0, name, 1);
		sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, node, node, 1 + (i == 40000),
				    true);
	}
	make(&s, w);
	assert_int_equal(s.waste_count, COMPARE_WASTE_MAX);
	assert_int_equal(s.waste_omitted, COMPARE_NODES_MAX + 10);
	assert_int_equal(s.method_count, COMPARE_WASTE_MAX);
	assert_string_equal(compare_side_method(&s, s.waste[0].at.method),
			    "org.example.Main.m40000");
}
