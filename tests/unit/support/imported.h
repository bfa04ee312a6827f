/* What the readers of profiles make of bytes: the tree as collapsed stacks, in preorder, nodes
 * without a cost left out; or the one line that says what is wrong. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_IMPORTED_H
#define JXPERF_TESTS_UNIT_SUPPORT_IMPORTED_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "subsume/import/import.h"

#define IMPORTED_BYTES 4096u

struct imported {
	int r;
	char text[IMPORTED_BYTES]; /* stacks, or the error's line */
	uint64_t samples, truncated, truncated_samples;
	size_t nodes;
	char unit[32];
	char notes[512]; /* the line about what was left out */
};

static inline void imported_add(struct imported *i, const char *text)
{
	size_t used = strlen(i->text);

	(void)snprintf(i->text + used, sizeof(i->text) - used, "%s", text);
}

static inline void imported_stacks(struct imported *i, const struct subsume_tree *t)
{
	static uint32_t path[SUBSUME_DEPTH_MAX + 1];
	char cost[32];

	for (size_t n = 0; n < t->node_count; n++) {
		path[t->depth[n]] = t->method[n];
		if (t->cost[n] == 0)
			continue;
		for (unsigned d = 1; d <= t->depth[n]; d++) {
			imported_add(i, d > 1 ? ";" : "");
			imported_add(i, t->methods[path[d]].label);
		}
		(void)snprintf(cost, sizeof(cost), " %" PRIu64 "\n", t->cost[n]);
		imported_add(i, cost);
	}
}

static inline struct imported imported_from(const void *bytes, size_t size,
					    const struct import_options *options)
{
	struct imported i = {.text = ""};
	struct subsume_tree tree = {0};
	struct import_notes notes;
	struct err err = {.message = ""};

	i.r = import_profile(bytes, size, options, &tree, &notes, &err);
	if (i.r < 0) {
		imported_add(&i, err.message);
		return i;
	}
	imported_stacks(&i, &tree);
	i.samples = tree.samples;
	i.truncated = tree.truncated;
	i.truncated_samples = tree.truncated_samples;
	i.nodes = tree.node_count;
	import_notes_line(&notes, &tree, i.notes, sizeof(i.notes));
	(void)snprintf(i.unit, sizeof(i.unit), "%s", tree.unit);
	subsume_tree_release(&tree);
	return i;
}

#endif
