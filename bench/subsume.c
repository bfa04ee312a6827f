/*
 * What an analysis for subsuming methods costs. Prints one row a figure: name value unit (minimum
 * to maximum).
 *
 *   analysis      of a tree as large as the largest of the paper, with as many methods (table 4,
 *                 eclipse): calls along a call graph whose methods are drawn by Zipf's law, half
 *                 of them a caller's own, 5% recursive
 *   memory        the peak of analysis and summary, beside the tree
 *   rebound       the same tree with other bounds
 *   deep, near, unequal, dominated, few, many
 *                 trees of as many nodes that somebody made up to be slow
 *   literal       the paper's algorithms as they are printed, with pointers, on a smaller tree,
 *                 and ours on the same
 *   build         frames of stacks, by name, that are gathered into a tree
 *
 * Times are the thread's CPU time. A figure is the median of ROUNDS rounds.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures.h"
#include "common/random.h"
#include "subsume/analysis.h"
#include "subsume/summary.h"
#include "subsume/tree.h"
#include "tests/unit/support/literal_subsuming.h"

#define ROUNDS        3
#define NODES         20670484u
#define METHODS       16793u
#define LITERAL_NODES 200000u
#define CALLEES       6u
#define USUAL_DEPTH   40u
#define PREFIX        2000u /* of a period, in trees that were made up */

/* ---------------------------------------------------------------- trees */

static void tree_init(struct subsume_tree *t, size_t nodes, size_t methods)
{
	*t = (struct subsume_tree){
	    .method = figures_allocate(nodes, sizeof(*t->method)),
	    .depth = figures_allocate(nodes, sizeof(*t->depth)),
	    .cost = figures_allocate(nodes, sizeof(*t->cost)),
	    .methods = figures_allocate(methods, sizeof(*t->methods)),
	    .method_count = methods,
	    .samples = nodes,
	};
	for (size_t m = 0; m < methods; m++)
		t->methods[m].label = "method";
	t->node_count = 1;
}

static void put(struct subsume_tree *t, uint32_t method, unsigned depth)
{
	t->method[t->node_count] = method;
	t->depth[t->node_count] = (uint16_t)depth;
	t->cost[t->node_count] = 1;
	t->node_count++;
}

/* A rank's weight is about 1/rank: its logarithm is uniform. */
static uint32_t zipf(struct random *r)
{
	unsigned bits = random_below(r, 14);
	uint32_t rank = (1u << bits) + random_below(r, 1u << bits);

	return 1 + rank % (METHODS - 1);
}

/* Half of what a method calls is its own, called by nobody else; the rest are those that many call.
 * The methods that are called least call nothing. 0: none. */
static uint32_t callee(struct random *r, uint32_t method, uint32_t i)
{
	uint32_t own = method * (CALLEES / 2) + 1 + i;

	if (method > METHODS / 2)
		return 0;
	return i < CALLEES / 2 && own < METHODS ? own : zipf(r);
}

/* Depth wanders about USUAL_DEPTH. */
static void make_usual(struct subsume_tree *t, size_t nodes)
{
	uint32_t(*callees)[CALLEES] = figures_allocate(METHODS, sizeof(*callees));
	uint32_t path[SUBSUME_DEPTH_MAX + 1] = {0}, next[SUBSUME_DEPTH_MAX + 1] = {0};
	unsigned depth = 0;
	struct random r;

	random_seed(&r, 1);
	tree_init(t, nodes, METHODS);
	for (uint32_t m = 0; m < METHODS; m++)
		for (uint32_t i = 0; i < CALLEES; i++)
			callees[m][i] = callee(&r, m, i);
	while (t->node_count < nodes) {
		uint32_t method;

		if (depth > 0 && (next[depth] == CALLEES ||
				  random_below(&r, 1000) > (depth < USUAL_DEPTH ? 600u : 450u))) {
			depth--;
			continue;
		}
		method = depth ? callees[path[depth]][next[depth]++] : zipf(&r);
		if (!method)
			continue;
		if (depth > 5 && random_below(&r, 20) == 0)
			method = path[depth - random_below(&r, 5)];
		path[++depth] = method;
		next[depth] = 0;
		put(t, method, depth);
	}
	free(callees);
}

/* Recursions whose period is long, as deep as can be: each is folded, and undone. */
static void make_deep(struct subsume_tree *t, size_t nodes)
{
	tree_init(t, nodes, METHODS);
	for (unsigned depth = 1; t->node_count < nodes; depth = depth % SUBSUME_DEPTH_MAX + 1)
		put(t, 1 + depth % (PREFIX / 2), depth);
}

/* The same, with one method in each period that is another: all that is compared is nearly equal.
 */
static void make_near(struct subsume_tree *t, size_t nodes)
{
	tree_init(t, nodes, METHODS);
	for (unsigned depth = 1; t->node_count < nodes; depth = depth % SUBSUME_DEPTH_MAX + 1) {
		unsigned at = depth % (PREFIX / 2);

		/* Every second one is the same, so that most have been met shortly before. */
		put(t, at == 0 ? 1 + PREFIX + depth : at % 2 ? 1 + at : 1, depth);
	}
}

/* One deep recursion, and many calls at its end that all but complete it. */
static void make_unequal(struct subsume_tree *t, size_t nodes)
{
	tree_init(t, nodes, METHODS);
	for (unsigned depth = 1; depth < 2 * PREFIX; depth++)
		put(t, 1 + depth % PREFIX, depth);
	for (uint32_t i = 0; t->node_count + 2 <= nodes; i++) {
		put(t, 1 + PREFIX + i % (METHODS - PREFIX - 1), 2 * PREFIX);
		put(t, 1, 2 * PREFIX + 1);
	}
}

/* Every method has as many dominators as are kept. */
static void make_dominated(struct subsume_tree *t, size_t nodes)
{
	tree_init(t, nodes, METHODS);
	for (unsigned depth = 1; depth < SUBSUME_DISTANCE_MAX; depth++)
		put(t, depth, depth);
	for (uint32_t i = 0; t->node_count < nodes; i++) {
		uint32_t of = METHODS - SUBSUME_DISTANCE_MAX;

		if (i % of == 0)
			put(t, METHODS - 1, SUBSUME_DISTANCE_MAX);
		else
			put(t, SUBSUME_DISTANCE_MAX + i % of - 1, SUBSUME_DISTANCE_MAX + 1);
	}
}

/* Three methods, near the greatest depth: repetitions of all sorts. */
static void make_few(struct subsume_tree *t, size_t nodes)
{
	unsigned depth = 0;
	struct random r;

	random_seed(&r, 2);
	tree_init(t, nodes, METHODS);
	while (t->node_count < nodes) {
		if (depth == SUBSUME_DEPTH_MAX)
			depth -= 1 + random_below(&r, SUBSUME_DEPTH_MAX / 8);
		put(t, 1 + random_below(&r, 3), ++depth);
	}
}

/* As many methods as there may be, all over the tree: nothing stays in a cache. */
static void make_many(struct subsume_tree *t, size_t nodes)
{
	struct random r;

	random_seed(&r, 3);
	tree_init(t, nodes, SUBSUME_METHODS_MAX);
	for (unsigned i = 0; t->node_count < nodes; i++)
		put(t, 1 + random_below(&r, SUBSUME_METHODS_MAX - 1),
		    1 + i % (SUBSUME_DISTANCE_MAX + 1));
}

/* ---------------------------------------------------------------- rows */

static void row(const char *name, double values[ROUNDS], const char *unit)
{
	figures_sort(values, ROUNDS);
	printf("%-32s %10.3f %s (%.3f to %.3f)\n", name, values[ROUNDS / 2], unit, values[0],
	       values[ROUNDS - 1]);
	(void)fflush(stdout);
}

static void one(const char *name, double value, const char *unit)
{
	printf("%-32s %10.3f %s\n", name, value, unit);
	(void)fflush(stdout);
}

/* A figure of /proc/self/status, in bytes. */
static double status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	double kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtod(line + strlen(name) + 1, NULL);
	if (f)
		(void)fclose(f);
	return kib * 1024;
}

/* From here on the peak of resident memory is a new one. Needs no privilege. */
static void forget_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");

	if (f && fputs("5", f) < 0)
		(void)fputs("the peak of memory is that of the process\n", stderr);
	if (f)
		(void)fclose(f);
}

static const struct subsume_bounds usual_bounds = {SUBSUME_HEIGHT_DEFAULT,
						   SUBSUME_DISTANCE_DEFAULT};

static double analysis_s(const struct subsume_tree *t, struct subsume_analysis *a)
{
	double began = figures_cpu_s();

	if (subsume_analyse(t, &usual_bounds, a) < 0)
		abort();
	return figures_cpu_s() - began;
}

static double mean_depth(const struct subsume_tree *t)
{
	double sum = 0;

	for (size_t n = 0; n < t->node_count; n++)
		sum += t->depth[n];
	return sum / (double)t->node_count;
}

static void bench_usual(void)
{
	struct subsume_bounds other = {3, 6};
	double values[ROUNDS], rebound[ROUNDS], summary[ROUNDS], before, began;
	struct subsume_analysis a;
	struct subsume_summary s;
	struct subsume_tree t;

	make_usual(&t, NODES);
	one("subsume.nodes", (double)t.node_count / 1e6, "million");
	one("subsume.mean_depth", mean_depth(&t), "frames");
	before = status_bytes("VmRSS:");
	forget_peak();
	for (unsigned i = 0; i < ROUNDS; i++) {
		values[i] = analysis_s(&t, &a);
		began = figures_cpu_s();
		if (subsume_rebound(&t, &other, &a) < 0)
			abort();
		rebound[i] = figures_cpu_s() - began;
		began = figures_cpu_s();
		if (subsume_summarise(&t, &a, SUBSUME_TOP_DEFAULT, &s) < 0)
			abort();
		summary[i] = figures_cpu_s() - began;
		subsume_summary_release(&s);
		if (i < ROUNDS - 1)
			subsume_analysis_release(&a);
	}
	row("subsume.analysis", values, "s");
	one("subsume.memory", (status_bytes("VmHWM:") - before) / (double)t.node_count,
	    "bytes a node");
	row("subsume.rebound", rebound, "s");
	row("subsume.summary", summary, "s");
	if (subsume_rebound(&t, &usual_bounds, &a) < 0)
		abort();
	one("subsume.methods_that_subsume", 100.0 * a.subsuming_methods / (double)a.method_count,
	    "%");
	one("subsume.nodes_that_subsume", 100.0 * (double)a.subsuming_nodes / (double)t.node_count,
	    "%");
	subsume_analysis_release(&a);
	subsume_tree_release(&t);
}

static void bench_shape(const char *name, void (*make)(struct subsume_tree *, size_t))
{
	struct subsume_analysis a;
	double values[ROUNDS];
	struct subsume_tree t;

	make(&t, NODES);
	for (unsigned i = 0; i < ROUNDS; i++) {
		values[i] = analysis_s(&t, &a);
		subsume_analysis_release(&a);
	}
	row(name, values, "s");
	subsume_tree_release(&t);
}

static void bench_literal(void)
{
	double ours[ROUNDS], theirs[ROUNDS], times[ROUNDS];
	struct subsume_analysis a;
	struct literal_tree l;
	struct subsume_tree t;

	make_usual(&t, LITERAL_NODES);
	for (unsigned i = 0; i < ROUNDS; i++) {
		double began;

		ours[i] = analysis_s(&t, &a);
		began = figures_cpu_s();
		literal_analyse(&l, &t, &usual_bounds);
		theirs[i] = figures_cpu_s() - began;
		times[i] = theirs[i] / ours[i];
		for (size_t m = 1; m < t.method_count; m++)
			if (a.methods[m].induced != l.methods[m].induced)
				abort();
		literal_release(&l);
		subsume_analysis_release(&a);
	}
	row("subsume.literal_200000_nodes", theirs, "s");
	row("subsume.ours_200000_nodes", ours, "s");
	row("subsume.literal_to_ours", times, "times");
	subsume_tree_release(&t);
}

/* Each node of a tree as a stack of names. */
static double build_s(const struct subsume_tree *t, char (*names)[64], double *bytes)
{
	struct subsume_builder *b = subsume_builder_new();
	uint32_t path[SUBSUME_DEPTH_MAX], known[SUBSUME_DEPTH_MAX];
	struct subsume_tree built;
	double began = figures_cpu_s();

	if (!b)
		abort();
	*bytes = 0;
	for (size_t n = 1; n < t->node_count; n++) {
		unsigned depth = t->depth[n];

		path[depth - 1] = t->method[n];
		for (unsigned d = 0; d < depth; d++) {
			size_t length = strlen(names[path[d]]);

			*bytes += (double)length + 1;
			if (subsume_builder_method(b, names[path[d]], length, &known[d]) < 0)
				abort();
		}
		if (subsume_builder_add(b, known, depth, 1) < 0)
			abort();
	}
	if (subsume_builder_finish(b, t->node_count, "samples", &built) < 0)
		abort();
	subsume_builder_free(b);
	subsume_tree_release(&built);
	return figures_cpu_s() - began;
}

static void bench_build(void)
{
	char(*names)[64] = figures_allocate(METHODS, sizeof(*names));
	double values[ROUNDS], bytes;
	struct subsume_tree t;

	make_usual(&t, LITERAL_NODES);
	for (unsigned m = 0; m < METHODS; m++)
		(void)snprintf(names[m], sizeof(names[m]),
			       "org/example/package%u/SomeClass$Inner.method%u", m % 97, m);
	for (unsigned i = 0; i < ROUNDS; i++) {
		values[i] = build_s(&t, names, &bytes);
		values[i] = bytes / values[i] / 1e6;
	}
	row("subsume.build", values, "MB/s");
	free(names);
	subsume_tree_release(&t);
}

int main(void)
{
	bench_usual();
	bench_shape("subsume.deep", make_deep);
	bench_shape("subsume.near", make_near);
	bench_shape("subsume.unequal", make_unequal);
	bench_shape("subsume.dominated", make_dominated);
	bench_shape("subsume.few", make_few);
	bench_shape("subsume.many", make_many);
	bench_literal();
	bench_build();
	return EXIT_SUCCESS;
}
