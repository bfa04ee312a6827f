/*
 * The calling context tree that an analysis for subsuming methods looks at (Subsuming Methods,
 * section 2), whoever made it: a window's ticks, or a profile that was read from a file.
 *
 * Nodes lie in preorder, in arrays side by side, so that one pass over a tree of twenty million
 * nodes is one over memory. Node 0 is a virtual root, which gathers the trees of all threads; its
 * method is number 0. Of a node the parent is the one before it that is one less deep.
 *
 * Where stacks come in any order, as in a file, subsume_builder gathers them first.
 *
 * Any thread, one at a time.
 */
#ifndef JXPERF_SUBSUME_TREE_H
#define JXPERF_SUBSUME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames on one path, the virtual root not counted. Deeper stacks are truncated ones. */
#define SUBSUME_DEPTH_MAX 4096u

/* A tree may have so many at most; a larger one is refused. */
#define SUBSUME_NODES_MAX   (UINT32_C(64) << 20)
#define SUBSUME_METHODS_MAX (UINT32_C(1) << 20)
#define SUBSUME_NAMES_MAX   (UINT64_C(256) << 20) /* bytes, of all methods */
#define SUBSUME_NAME_MAX    (UINT32_C(64) << 10)  /* bytes, of one */
#define SUBSUME_COST_MAX    ((uint64_t)INT64_MAX) /* of all nodes */

struct subsume_method {
	const char *label; /* "java.util.HashMap.get(Ljava/lang/Object;)" as far as it is known */
	bool always_subsumed; /* reflection, lambda forms: no place where anybody looks for a cause
			       */
};

/* All zero is no tree. */
struct subsume_tree {
	uint32_t *method; /* by node, in preorder */
	uint16_t *depth;
	uint64_t *cost; /* the node's own: scale of them are one of the profile's unit */
	uint64_t scale; /* a power of ten; 0 is 1 */
	size_t node_count;
	struct subsume_method *methods; /* methods[0] is the virtual root */
	size_t method_count;
	char *names; /* what the labels point at */
	uint64_t
	    samples; /* that the costs were made of; 0: they were counted, or it is not known */
	uint64_t truncated; /* cost of stacks without their roots, which is in no node */
	uint64_t truncated_samples;
	char unit[32]; /* of costs: "samples", "nanoseconds", "bytes" */
};

void subsume_tree_release(struct subsume_tree *tree);

/* ---------------------------------------------------------------- building one */

struct subsume_builder;

/* NULL without memory. */
struct subsume_builder *subsume_builder_new(void);
void subsume_builder_free(struct subsume_builder *b);

/* The number of the method of that name, new or known; names are normalised (subsume/names.h).
 * length bytes need no NUL behind them; behind one that is in them is what tells methods of the
 * same name apart. Labels are made fit to show (common/utf8.h), and those that are then alike get a
 * number. 0, -ENOSPC above a limit, -ENOMEM. */
int subsume_builder_method(struct subsume_builder *b, const char *name, size_t length,
			   uint32_t *method);

/* Adds cost to the node at the end of a path of count methods, outermost first; count 0 is the
 * root's own. A path that goes on as the one before it costs what is new in it. 0, -E2BIG when it
 * is too deep, -EINVAL for a number that no method has, -ENOSPC above a limit, -ENOMEM. */
int subsume_builder_add(struct subsume_builder *b, const uint32_t *path, size_t count,
			uint64_t cost);

/* A stack whose root is missing: only counted. */
void subsume_builder_truncated(struct subsume_builder *b, uint64_t cost, uint64_t samples);

/* The tree, all of it the caller's; the builder can only be freed afterwards. Children are in the
 * order in which they came first. 0 or -ENOMEM. */
int subsume_builder_finish(struct subsume_builder *b, uint64_t samples, const char *unit,
			   struct subsume_tree *out);

#endif
