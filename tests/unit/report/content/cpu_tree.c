#include "tests/unit/support/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/content/cpu_tree.h"
#include "report/report.h"
#include "subsume/import/import.h"
#include "subsume/output.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/whole_report.h"

#define COMPILED    JXP__CPU_SAMPLE__STATE__COMPILED
#define INTERPRETED JXP__CPU_SAMPLE__STATE__INTERPRETED

static struct window_result *ticks_window(void)
{
	struct window_result *w = sample_window_empty(1, "shop");

	w->request = (struct window_request){.kinds[JXP__KIND__KIND_CPU] = true};
	return w;
}

static const char *label_of(const struct subsume_tree *t, size_t node)
{
	return t->methods[t->method[node]].label;
}

TEST(contexts_are_met_by_their_methods)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t one = sample_window_node(w, main, "fill", 21);
	uint32_t other = sample_window_node(w, main, "fill", 22);
	struct subsume_tree t = {0};

	sample_window_ticks(w, one, COMPILED, 3);
	sample_window_ticks(w, other, INTERPRETED, 4);
	sample_window_ticks(w, main, COMPILED, 1);
	assert_int_equal(cpu_tree_init(&t, w), 0);
	assert_int_equal(t.node_count, 3);
	assert_string_equal(label_of(&t, 1), "org.example.Main.main");
	assert_int_equal(t.cost[1], 1);
	assert_string_equal(label_of(&t, 2), "org.example.Main.fill");
	assert_int_equal(t.cost[2], 7);
	assert_int_equal(t.samples, 8);
	assert_string_equal(t.unit, "samples");
	subsume_tree_release(&t);
	window_result_free(w);
}

TEST(names_that_are_shown_alike_are_told_apart)
{
	struct window_result *w = ticks_window();
	struct subsume_tree t = {0};

	sample_window_ticks(w, sample_window_node(w, 0, "of it", 10), COMPILED, 3);
	sample_window_ticks(w, sample_window_node(w, 0, "of_it", 10), COMPILED, 4);
	assert_int_equal(cpu_tree_init(&t, w), 0);
	assert_int_equal(t.node_count, 3);
	assert_string_equal(label_of(&t, 1), "org.example.Main.of_it");
	assert_string_equal(label_of(&t, 2), "org.example.Main.of_it#2");
	subsume_tree_release(&t);
	window_result_free(w);
}

TEST(the_jvms_own_threads_are_roots_and_cut_stacks_are_in_no_node)
{
	struct window_result *w = ticks_window();
	uint32_t main = sample_window_node(w, 0, "main", 10);
	struct subsume_tree t = {0};

	sample_window_ticks(w, main, COMPILED, 10); /* of 5 ms each */
	assert_int_equal(cpu_profile_add(&w->cpu, COMPILED, main, true, 5 * NS_PER_MS), 0);
	w->cpu.beside = (struct cpu_beside){
	    .span_ns = 12 * NS_PER_S, .gc_ns = 20.0 * NS_PER_MS, .jit_ns = 1.0 * NS_PER_MS};
	assert_int_equal(cpu_tree_init(&t, w), 0);
	assert_int_equal(t.node_count, 3);
	assert_string_equal(label_of(&t, 2), "[garbage collector]");
	assert_int_equal(t.depth[2], 1);
	assert_int_equal(t.cost[2], 4);
	assert_int_equal(t.samples, 14);
	assert_int_equal(t.truncated_samples, 1);
	subsume_tree_release(&t);
	window_result_free(w);
}

TEST(a_window_without_ticks_is_a_root)
{
	struct window_result *w = ticks_window();
	struct subsume_tree t = {0};

	assert_int_equal(cpu_tree_init(&t, w), 0);
	assert_int_equal(t.node_count, 1);
	assert_int_equal(t.samples, 0);
	subsume_tree_release(&t);
	window_result_free(w);
}

/* ---------------------------------------------------------------- as others read it */

static char *stacks_of(const struct window_result *w)
{
	struct err err = {""};
	size_t size;
	char *text;

	assert_int_equal(
	    report_new(w, JXP__FORMAT__FORMAT_COLLAPSED, 0, 1 << 20, &text, &size, &err), 0);
	return text;
}

static void read_again(const char *text, struct subsume_tree *t)
{
	const struct import_options options = {.format = IMPORT_COLLAPSED};
	struct import_notes notes;
	struct err err = {""};

	if (import_profile((const uint8_t *)text, strlen(text), &options, t, &notes, &err) < 0)
		fail_msg("%s", err.message);
}

/* What people are shown of a tree, by bounds that random trees pass. */
static char *list_of(const struct subsume_tree *t)
{
	const struct subsume_bounds bounds = {.height = 2, .distance = 1};
	struct subsume_analysis analysis = {0};
	struct subsume_summary summary = {0};
	json_t *json;
	char *text;

	assert_int_equal(subsume_analyse(t, &bounds, &analysis), 0);
	assert_true(analysis.subsuming_methods > 2);
	assert_int_equal(subsume_summarise(t, &analysis, 100, &summary), 0);
	json = subsume_json(&summary);
	text = json_dumps(json, JSON_INDENT(1));
	assert_non_null(text);
	json_decref(json);
	subsume_summary_release(&summary);
	subsume_analysis_release(&analysis);
	return text;
}

/* A tree of some depth, whose methods come in no order, from several lines each. */
static void grow(struct window_result *w)
{
	static const char *const names[] = {"a", "b", "c", "d e", "f;g", "h", "i", "lambda$j$0"};
	uint64_t seed = 7;
	uint32_t nodes[200];

	nodes[0] = sample_window_node(w, 0, "main", 10);
	for (size_t i = 1; i < 200; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		nodes[i] = sample_window_node(w, nodes[(seed >> 33) % i], names[(seed >> 24) % 8],
					      (int32_t)(seed >> 20 & 3));
	}
	for (size_t i = 200; i-- > 0;)
		if (i % 3)
			sample_window_ticks(w, nodes[i], COMPILED, 1 + (unsigned)i % 5);
}

static void assert_same_trees(const struct subsume_tree *a, const struct subsume_tree *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->method_count, b->method_count);
	assert_int_equal(a->samples, b->samples);
	assert_string_equal(a->unit, b->unit);
	assert_memory_equal(a->method, b->method, a->node_count * sizeof(*a->method));
	assert_memory_equal(a->depth, b->depth, a->node_count * sizeof(*a->depth));
	assert_memory_equal(a->cost, b->cost, a->node_count * sizeof(*a->cost));
	for (size_t i = 0; i < a->method_count; i++) {
		assert_string_equal(a->methods[i].label, b->methods[i].label);
		assert_int_equal(a->methods[i].always_subsumed, b->methods[i].always_subsumed);
	}
}

TEST(collapsed_stacks_make_the_same_tree_again)
{
	struct window_result *w = ticks_window();
	struct subsume_tree t = {0}, again = {0};
	char *text, *list, *list_again;

	grow(w);
	w->cpu.beside = (struct cpu_beside){.span_ns = NS_PER_S, .gc_ns = 0.1 * NS_PER_S};
	assert_int_equal(cpu_tree_init(&t, w), 0);
	assert_true(t.node_count > 50);
	text = stacks_of(w);
	read_again(text, &again);
	assert_same_trees(&t, &again);
	list = list_of(&t);
	list_again = list_of(&again);
	assert_string_equal(list, list_again);
	free(list);
	free(list_again);
	free(text);
	subsume_tree_release(&again);
	subsume_tree_release(&t);
	window_result_free(w);
}
