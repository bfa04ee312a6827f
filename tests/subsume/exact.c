/*
 * What subsumes in an exact call tree (call_tree.c), and what sampling it would have found.
 *
 *   exact FILE [SAMPLES...]
 *
 * Prints one JSON object: the tree's figures with the default bounds, and for each number of
 * samples the figures of a tree of that many, drawn by the number of calls; how many methods
 * subsume there that do not in the whole ("extra", which must be none), and how many of the twenty
 * with the highest induced cost are in both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "subsume/analysis.h"
#include "subsume/tree.h"

#define TOP 20u

static void die(const char *what)
{
	(void)fprintf(stderr, "exact: %s\n", what);
	exit(1);
}

static void *array(size_t count, size_t size)
{
	void *p = count ? calloc(count, size) : NULL;

	if (!p)
		die("no memory");
	return p;
}

static void read_methods(FILE *in, struct subsume_tree *t)
{
	char line[8192];

	if (fscanf(in, "methods %zu\n", &t->method_count) != 1)
		die("not a call tree");
	t->methods = array(t->method_count, sizeof(*t->methods));
	t->methods[0].label = "";
	for (size_t i = 1; i < t->method_count; i++) {
		if (!fgets(line, sizeof(line), in))
			die("methods are missing");
		line[strcspn(line, "\n")] = '\0';
		t->methods[i].label = strdup(line);
	}
}

static void make_nodes(struct subsume_tree *t, size_t count)
{
	t->method = array(count, sizeof(*t->method));
	t->depth = array(count, sizeof(*t->depth));
	t->cost = array(count, sizeof(*t->cost));
}

static void read_tree(const char *path, struct subsume_tree *t)
{
	FILE *in = fopen(path, "r");
	unsigned long cost;
	unsigned depth;

	if (!in)
		die("cannot open the file");
	read_methods(in, t);
	if (fscanf(in, " nodes %zu", &t->node_count) != 1)
		die("nodes are missing");
	make_nodes(t, t->node_count);
	for (size_t i = 0; i < t->node_count; i++) {
		if (fscanf(in, "%u %u %lu", &depth, &t->method[i], &cost) != 3)
			die("nodes are missing");
		if (depth > SUBSUME_DEPTH_MAX)
			die("the tree is too deep");
		t->depth[i] = (uint16_t)depth;
		t->cost[i] = cost;
	}
	(void)fclose(in);
}

/* A tree of so many calls of the whole one. */
static void sample(const struct subsume_tree *whole, size_t samples, struct random *random,
		   struct subsume_tree *out)
{
	uint64_t *until = array(whole->node_count, sizeof(*until)), total = 0;
	uint64_t *hits = array(whole->node_count, sizeof(*hits));
	bool *kept = array(whole->node_count, sizeof(*kept));
	size_t path[SUBSUME_DEPTH_MAX + 1];

	for (size_t i = 0; i < whole->node_count; i++)
		until[i] = total += whole->cost[i];
	for (size_t s = 0; s < samples; s++) {
		uint64_t x = ((uint64_t)random_next(random) << 32 | random_next(random)) % total;
		size_t low = 0, high = whole->node_count - 1;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (until[middle] > x)
				high = middle;
			else
				low = middle + 1;
		}
		hits[low]++;
	}
	*out = *whole;
	make_nodes(out, whole->node_count);
	for (size_t i = 0; i < whole->node_count; i++) {
		path[whole->depth[i]] = i;
		for (size_t d = whole->depth[i] + 1u; hits[i] && d-- > 0 && !kept[path[d]];)
			kept[path[d]] = true;
	}
	out->node_count = 0;
	for (size_t i = 0; i < whole->node_count; i++) {
		if (!kept[i])
			continue;
		out->method[out->node_count] = whole->method[i];
		out->depth[out->node_count] = whole->depth[i];
		out->cost[out->node_count++] = hits[i];
	}
	free(until);
	free(hits);
	free(kept);
}

static const struct subsume_facts *facts;

static int by_induced(const void *a, const void *b)
{
	uint64_t x = facts[*(const uint32_t *)a].induced, y = facts[*(const uint32_t *)b].induced;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void top(const struct subsume_analysis *a, uint32_t methods[TOP])
{
	uint32_t *all = array(a->method_count, sizeof(*all));

	for (size_t i = 0; i < a->method_count; i++)
		all[i] = (uint32_t)i;
	facts = a->methods;
	qsort(all, a->method_count, sizeof(*all), by_induced);
	memcpy(methods, all, TOP * sizeof(*all));
	free(all);
}

static unsigned common_top(const struct subsume_analysis *a, const struct subsume_analysis *b)
{
	uint32_t x[TOP], y[TOP];
	unsigned same = 0;

	top(a, x);
	top(b, y);
	for (unsigned i = 0; i < TOP; i++)
		for (unsigned j = 0; j < TOP; j++)
			same += x[i] == y[j];
	return same;
}

static void analyse(const struct subsume_tree *t, struct subsume_analysis *a)
{
	const struct subsume_bounds bounds = {SUBSUME_HEIGHT_DEFAULT, SUBSUME_DISTANCE_DEFAULT};

	if (subsume_analyse(t, &bounds, a) < 0)
		die("the analysis failed");
}

int main(int argc, char **argv)
{
	struct random random;
	struct subsume_tree whole = {0}, part;
	struct subsume_analysis a, b;
	const char *separator = "";

	if (argc < 2)
		die("use: exact FILE [SAMPLES...]");
	random_seed(&random, 42);
	read_tree(argv[1], &whole);
	analyse(&whole, &a);
	printf("{\"nodes\": %zu, \"methods\": %zu, \"subsuming_methods\": %u, \"subsuming_nodes\": "
	       "%lu, \"sampled\": [",
	       whole.node_count, whole.method_count, a.subsuming_methods,
	       (unsigned long)a.subsuming_nodes);
	for (int i = 2; i < argc; i++) {
		size_t samples = strtoul(argv[i], NULL, 10);
		unsigned extra = 0;

		sample(&whole, samples, &random, &part);
		analyse(&part, &b);
		for (size_t m = 0; m < a.method_count; m++)
			extra += b.methods[m].subsumes && !a.methods[m].subsumes;
		printf("%s{\"samples\": %zu, \"nodes\": %zu, \"subsuming_methods\": %u, \"extra\": "
		       "%u, \"top20\": %u}",
		       separator, samples, part.node_count, b.subsuming_methods, extra,
		       common_top(&a, &b));
		separator = ", ";
		subsume_analysis_release(&b);
	}
	printf("]}\n");
	return 0;
}
