#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subsume/output.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/subsuming_example.h"

/* A report server that formats numbers in three places, and parses in one. */
static const struct {
	const char *stack;
	uint64_t cost;
} stacks[] = {
#define THREAD                                                                                   \
	"java.lang.Thread.run()|org.example.Server$Worker.run()|org.example.Server.handle(Lorg/" \
	"example/Request;)|"
#define FORMAT                                                                         \
	"java.text.NumberFormat.format(D)|java.text.DecimalFormat.format(DLjava/lang/" \
	"StringBuffer;)|java.text.DecimalFormat.subformat|java.text.DigitList.set|"
#define DTOA "sun.misc.FloatingDecimal.dtoa|java.lang.Math.floor(D)"
    {THREAD "org.example.Invoice.render()|org.example.Table.row([I)|org.example.Cell.print()|"
	    "org.example.PS.formatDouble(D)|" FORMAT DTOA,
     180},
    {THREAD "org.example.Invoice.render()|org.example.Table.row([I)|org.example.Cell.print()|"
	    "org.example.PS.formatDouble(D)|" FORMAT,
     130},
    {THREAD "org.example.Chart.draw()|org.example.Axis.ticks()|org.example.Axis.label()|"
	    "org.example.PS.formatDouble(D)|" FORMAT "sun.misc.FloatingDecimal.dtoa",
     120},
    {THREAD "org.example.Export.csv()|org.example.Export.line()|org.example.Export.field()|" FORMAT,
     41},
    {THREAD "org.example.Chart.draw()|org.example.Axis.ticks()|org.example.Axis.label()|"
	    "org.example.PS.formatDouble(D)",
     22},
    {THREAD "org.example.Export.csv()|org.example.Export.line()", 1},
    {THREAD "org.example.Query.parse()|org.example.Query.parse()|org.example.Query.parse()", 96},
    {"java.lang.Thread.run()", 10},
};

static void add(struct subsume_builder *b, const char *stack, uint64_t cost)
{
	uint32_t path[64];
	size_t count = 0;

	for (size_t length; *stack; stack += length + (stack[length] == '|')) {
		length = strcspn(stack, "|");
		assert_int_equal(subsume_builder_method(b, stack, length, &path[count++]), 0);
	}
	assert_int_equal(subsume_builder_add(b, path, count, cost), 0);
}

static void make_server(struct subsume_tree *tree)
{
	struct subsume_builder *b = subsume_builder_new();

	assert_non_null(b);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		add(b, stacks[i].stack, stacks[i].cost);
	subsume_builder_truncated(b, 5, 5);
	assert_int_equal(subsume_builder_finish(b, 600, "samples", tree), 0);
	subsume_builder_free(b);
}

static char *text_of(const struct subsume_summary *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	subsume_write_text(out, s);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *collapsed_of(const struct subsume_summary *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(subsume_write_collapsed(out, s), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *json_of(const struct subsume_summary *s)
{
	json_t *json = subsume_json(s);
	char *text, *line = NULL;

	assert_non_null(json);
	text = json_dumps(json, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	assert_non_null(text);
	assert_true(asprintf(&line, "%s\n", text) > 0);
	free(text);
	json_decref(json);
	return line;
}

static void assert_outputs(const struct subsume_tree *tree, const struct subsume_bounds *bounds,
			   const char *name)
{
	static const struct {
		const char *suffix;
		char *(*write)(const struct subsume_summary *s);
	} formats[] = {{"txt", text_of}, {"json", json_of}, {"collapsed", collapsed_of}};
	struct subsume_analysis a;
	struct subsume_summary s;

	assert_int_equal(subsume_analyse(tree, bounds, &a), 0);
	assert_int_equal(subsume_summarise(tree, &a, 3, &s), 0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		char file[64], *text = formats[i].write(&s);

		(void)snprintf(file, sizeof(file), "subsume/%s.%s", name, formats[i].suffix);
		assert_golden(file, text);
		free(text);
	}
	subsume_summary_release(&s);
	subsume_analysis_release(&a);
}

TEST(a_sampled_server_is_shown)
{
	struct subsume_tree tree;

	make_server(&tree);
	assert_outputs(&tree,
		       &(struct subsume_bounds){SUBSUME_HEIGHT_DEFAULT, SUBSUME_DISTANCE_DEFAULT},
		       "server");
	subsume_tree_release(&tree);
}

/* Counted costs have no intervals. */
TEST(the_papers_example_is_shown)
{
	assert_outputs(&example, &example_bounds, "example");
}

TEST(a_tree_of_nothing_is_shown)
{
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_tree tree;

	assert_int_equal(subsume_builder_finish(b, 0, "samples", &tree), 0);
	subsume_builder_free(b);
	assert_outputs(&tree, &example_bounds, "nothing");
	subsume_tree_release(&tree);
}

TEST(a_pages_tree_has_all_cost_and_folds_what_is_too_little)
{
	struct subsume_builder *b = subsume_builder_new();
	struct subsume_tree tree = {0};
	json_t *json;
	const json_t *parents, *costs;
	double sum = 0;

	add(b, "a.main()|a.large()", 1000000);
	add(b, "a.main()|a.little()|a.less()", 3);
	add(b, "a.main()", 5);
	assert_int_equal(subsume_builder_finish(b, 0, "samples", &tree), 0);
	subsume_builder_free(b);
	json = subsume_tree_json(&tree);
	parents = json_object_get(json, "parent");
	costs = json_array_get(json_object_get(json, "costs"), 0);
	assert_int_equal(json_array_size(parents), 2);
	assert_int_equal(json_array_size(json_object_get(json, "methods")), 4);
	for (size_t i = 0; i < json_array_size(costs); i++) {
		assert_true(json_integer_value(json_array_get(parents, i)) <= (json_int_t)i);
		sum += json_real_value(json_array_get(costs, i));
	}
	assert_float_equal(sum, 1000008, 0);
	assert_float_equal(json_real_value(json_array_get(costs, 0)), 8, 0);
	json_decref(json);
	subsume_tree_release(&tree);
}
