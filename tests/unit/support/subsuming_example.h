/*
 * Example 1 of Subsuming Methods, with the costs of its table 1. main is the root of the tree.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SUBSUMING_EXAMPLE_H
#define JXPERF_TESTS_UNIT_SUPPORT_SUBSUMING_EXAMPLE_H

#include "subsume/analysis.h"
#include "subsume/tree.h"

enum { MAIN, A, B, C, X, Y, EXAMPLE_METHODS };

#define EXAMPLE_NODES 11

static struct subsume_method example_methods[] = {{"main", false}, {"a", false}, {"b", false},
						  {"c", false},    {"x", false}, {"y", false}};
static uint32_t example_method[EXAMPLE_NODES] = {MAIN, A, B, C, X, X, Y, B, C, X, X};
static uint16_t example_depth[EXAMPLE_NODES] = {0, 1, 2, 3, 4, 3, 2, 1, 2, 3, 2};
static uint64_t example_cost[EXAMPLE_NODES] = {3, 4, 8, 4, 12, 12, 10, 4, 2, 6, 6};
static const struct subsume_tree example = {
    .method = example_method,
    .depth = example_depth,
    .cost = example_cost,
    .node_count = EXAMPLE_NODES,
    .methods = example_methods,
    .method_count = EXAMPLE_METHODS,
    .unit = "instructions",
};

/* With these main and b subsume, as in figure 3. */
static const struct subsume_bounds example_bounds = {.height = 1, .distance = 1};

#endif
