/*
 * Which tracked object of one JVM does an address lie in? An interval splay tree (DJXPerf, section
 * 4.2; top-down splaying: Sleator and Tarjan, "Self-adjusting binary search trees", J. ACM 32(3),
 * 1985, section 4): what was asked for lately is near the root, and accesses are skewed.
 *
 * An interval is the memory of one live object and carries the object's index in a table that lives
 * elsewhere. Intervals of a tree are always disjoint, whatever the JVM said: a new interval is the
 * newer fact, so those it overlaps are stale; they are evicted and each is reported to the owner.
 *
 * Before the tree, a look-up asks a node that answered for such an address lately
 * (interval_hints.h): that the address lies in its interval, or in the gap behind it. An answer
 * from there takes O(1) and leaves the tree as it is, so splaying, which writes all along its way,
 * is only for what is not answered there. Where nothing is tracked is answered too: most accesses
 * meet no tracked object. What a node says of the gap behind it may be less than the gap, never
 * more: insertion sets it, and a look-up that found nothing renews it. A node is noted where it
 * comes to lie, too, since most objects are met a few times in their lives.
 *
 * Nodes live in one array that grows up to a limit, and are named by 32-bit ids, which stay the
 * same until the node is removed or evicted; the owner keeps the id with the object. 32 bytes a
 * node and at most 16 of hints, at most half as much again of room for growth, and 16 bytes more
 * while a large batch is applied: at most 88 bytes an interval in all, once there are some hundred.
 *
 * Nothing recurses: a tree may be as deep as it has nodes. One operation takes O(log n) amortised
 * over all of them, so a single one may be long, but no JVM can make them long on average: the
 * operations that reach the tree are any sequence of operations on a splay tree, and the others
 * take O(1) each.
 *
 * One thread at a time, lookups included: they change the tree.
 */
#ifndef JXPERF_PROFILE_CONTAINER_INTERVAL_TREE_H
#define JXPERF_PROFILE_CONTAINER_INTERVAL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/container/interval_hints.h"

/* The id of no node. */
#define INTERVAL_NONE UINT32_C(0)

struct interval_node {
	uint64_t start; /* first byte */
	uint64_t last;  /* last byte, so that an interval may end with the address space */
	uint32_t left;  /* private from here ... */
	uint32_t right;
	uint32_t state; /* ... to here */
	uint32_t object;
};

/* The interval of object was overlapped by a newer one, or moved to where it cannot be, and is gone
 * together with its node's id. Must not call the tree. */
typedef void interval_evicted(void *context, uint32_t object);

/* Read count; the rest is private. */
struct interval_tree {
	struct interval_node *nodes; /* nodes[0] holds nothing */
	uint32_t root;
	uint32_t free;     /* head of the free nodes, linked through left */
	uint32_t used;     /* nodes[1] ... nodes[used] have been handed out before */
	uint32_t capacity; /* length of nodes */
	uint32_t count;    /* live intervals */
	uint32_t limit;
	uint64_t size_bits; /* sum of the live intervals' log2 of bytes */
	struct interval_hints hints;
	interval_evicted *evicted;
	void *context;
};

struct interval_move {
	uint64_t start; /* where the object is now; its size stays */
	uint32_t node;
};

/* An empty tree that will never hold more than limit intervals. Allocates nothing. evicted may be
 * NULL. */
void interval_tree_init(struct interval_tree *t, uint32_t limit, interval_evicted *evicted,
			void *context);

/* Frees the memory, reports nothing; the tree is then empty, with limit 0. */
void interval_tree_release(struct interval_tree *t);

/* Adds [start, start + size_bytes) and sets *node. -EINVAL, and nothing has changed, if that is
 * empty or goes beyond 2^64. Otherwise what it overlaps is evicted, and then -ENOSPC if there are
 * limit intervals, or -ENOMEM. */
int interval_tree_insert(struct interval_tree *t, uint64_t start, uint64_t size_bytes,
			 uint32_t object, uint32_t *node);

/* Removes a node, which is not reported. -ENOENT if there is no such node. */
int interval_tree_remove(struct interval_tree *t, uint32_t node);

/* The interval that contains the address, or NULL. Valid until the next call that changes the
 * tree. */
const struct interval_node *interval_tree_stab(struct interval_tree *t, uint64_t address);

/*
 * Applies everything that one garbage collection did, as if at once: takes the dead and all that
 * moved out, then puts what moved in, in the order of moves, as interval_tree_insert does. So an
 * object may move to where another one was before. A node keeps its id. Ids of no node are skipped;
 * of several moves of a node the last one counts; a node that is also dead is dead. A node whose
 * new interval goes beyond 2^64 is evicted.
 *
 * Both arrays stay the caller's; one collection must be one call, of at most 2^31 - 1 moves. Cannot
 * fail: a large batch is applied by rebuilding the tree, perfectly balanced, in linear time, and
 * when there is no memory for that, one node after the other.
 */
void interval_tree_relocate(struct interval_tree *t, const struct interval_move *moves,
			    uint32_t move_count, const uint32_t *dead, uint32_t dead_count);

size_t interval_tree_memory_bytes(const struct interval_tree *t);

#endif
