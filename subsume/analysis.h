/*
 * Which methods other methods' cost can be charged to (Subsuming Methods, ICPE 2015, section 4).
 *
 * A method subsumes when it is high (H: the greatest height of a subtree below it) and no other
 * method is always near above it (dmd: the distance to its nearest dominator, at worst), both above
 * their bounds, in the tree whose recursions are folded (section 4.2). Every other node's cost is
 * induced by the nearest node above it whose method subsumes: induced costs add up to the whole.
 *
 * The paper's conditions are meant by "and", though its listing 5 has "or": only so do the figures
 * of its table 4 come out.
 *
 * Sampling only misses: a sampled tree has some of the paths of the whole one, with the same folds,
 * so what subsumes in it subsumes in the whole.
 *
 * Any thread; pure but for memory.
 */
#ifndef JXPERF_SUBSUME_ANALYSIS_H
#define JXPERF_SUBSUME_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subsume/tree.h"

#define SUBSUME_HEIGHT_DEFAULT   4u
#define SUBSUME_DISTANCE_DEFAULT 4u

/* Dominators are told up to this distance. */
#define SUBSUME_DISTANCE_MAX 32u
#define SUBSUME_FAR          (SUBSUME_DISTANCE_MAX + 1)

struct subsume_bounds {
	unsigned height;
	unsigned distance; /* at most SUBSUME_DISTANCE_MAX */
};

/* This is known of one method. */
struct subsume_facts {
	uint32_t height;
	uint32_t distance;  /* dmd; SUBSUME_FAR: larger than SUBSUME_DISTANCE_MAX; 0 of the root */
	uint32_t dominator; /* the nearest, or 0 */
	uint32_t occurrences; /* nodes */
	bool subsumes;
	uint64_t exclusive;
	uint64_t inclusive; /* each node's once, however often the method is on its path */
	uint64_t induced;   /* 0 unless it subsumes */
};

/* All zero is none. */
struct subsume_analysis {
	struct subsume_bounds bounds;
	struct subsume_facts *methods; /* by number */
	size_t method_count;
	uint64_t total;           /* of all costs */
	uint64_t subsuming_nodes; /* nodes whose method subsumes */
	uint32_t subsuming_methods;
	uint32_t *owner; /* by node: the node that its cost is induced by, itself if it subsumes */
};

/* 0, -EINVAL for bounds or a tree that cannot be, -ENOMEM. */
int subsume_analyse(const struct subsume_tree *tree, const struct subsume_bounds *bounds,
		    struct subsume_analysis *out);

/* The same tree with other bounds: only what subsumes, and the induced costs, are found anew. */
int subsume_rebound(const struct subsume_tree *tree, const struct subsume_bounds *bounds,
		    struct subsume_analysis *a);

void subsume_analysis_release(struct subsume_analysis *a);

#endif
