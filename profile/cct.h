/*
 * The calling context tree of one profile (JXPerf, section 5.6): contexts of all threads merged,
 * each distinct path from a thread's root to a frame kept once and named by its last node.
 *
 * Nodes are interned by (parent, method, bci, line, tier), methods by (class, name, file). The line
 * is part of a node's identity because overloads share class, name and file but not their line
 * tables. Node 0 is the empty context and method 0 a frame the JVM could not name; parents are
 * always older than their children, so that no chain of parents has a cycle. A path has at most
 * MAX_FRAMES_LIMIT frames.
 */
#ifndef JXPERF_PROFILE_CCT_H
#define JXPERF_PROFILE_CCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "proto/jxperf.pb-c.h"

struct cct_method {
	uint32_t class_name; /* ids of the profile's strings */
	uint32_t name;
	uint32_t file;
};

struct cct_node {
	uint32_t parent;
	uint32_t method;
	int32_t bci;   /* -1: unknown */
	int32_t line;  /* -1: unknown */
	uint32_t tier; /* Jxp__Tier; so far it is the key */
	uint16_t depth;
	uint8_t certainty; /* enum certainty: the least of accesses that are the node's; not of its
			    * identity */
};

/* All zero is an empty tree. */
struct cct {
	TABLE_OF(struct cct_node, nodes, node_count, node_table); /* node id N is nodes[N - 1] */
	TABLE_OF(struct cct_method, methods, method_count, method_table); /* likewise */
};

extern const struct table_layout cct_node_layout, cct_method_layout;

void cct_release(struct cct *t);

/* The method's id in *id, new or known. 0, -ENOSPC above LIMIT_METHODS, or -ENOMEM. */
int cct_add_method(struct cct *t, const struct cct_method *method, uint32_t *id);

/* The node's id in *id, new or known; depth need not be set. parent and method must be 0 or ids of
 * this tree. 0, -ENOSPC above LIMIT_NODES, -E2BIG when the path would be too deep, or -ENOMEM. */
int cct_add_node(struct cct *t, const struct cct_node *node, uint32_t *id);

/* Sets the depths of nodes that come from a file, parents before their children. False where a
 * path is too deep. */
bool cct_measure(struct cct *t);

/* An access is said to be made there, so certainly (profile/certainty.h). */
void cct_mark(struct cct *t, uint32_t id, uint8_t certainty);

/* NULL for id 0. */
const struct cct_node *cct_node(const struct cct *t, uint32_t id);
const struct cct_method *cct_method(const struct cct *t, uint32_t id);

/* Is the method known that makes the accesses said to be made there, and not just the compiled one
 * that it is inlined in? Not for id 0. */
bool cct_is_told(const struct cct *t, uint32_t id);

/* The method of a node; 0 for id 0. */
static inline uint32_t cct_node_method(const struct cct *t, uint32_t id)
{
	return id ? t->nodes[id - 1].method : 0;
}

/* Which contexts are the same path through the program, be its frames interpreted or compiled: for
 * each node the oldest one with the same path, and 0 for 0, in an array to be freed. 0 or -ENOMEM.
 */
int cct_paths(const struct cct *t, uint32_t **paths);

/* Which contexts end in the same line: for each node the oldest one whose method and line are its
 * own, whatever called it, and 0 for 0, in an array to be freed. 0 or -ENOMEM. */
int cct_lines(const struct cct *t, uint32_t **lines);

/* Which contexts are the same path but for how deep recursion is: turns of up to CCT_TURN_MAX
 * frames that follow each other count as one. For each node the oldest one with such a path, and 0
 * for 0, in an array to be freed. 0 or -ENOMEM. */
#define CCT_TURN_MAX 8u
int cct_turns(const struct cct *t, uint32_t **turns);

/* The number of frames on the path from the root to the node. */
size_t cct_depth(const struct cct *t, uint32_t id);

#endif
