#include "daemon/interval_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/cleanup.h"

#define FIRST_NODES 64u

/* interval_node.mark: in the tree; not handed out; otherwise the place in the batch, counted from
 * 1, of the move that the node awaits. */
#define MARK_IN_TREE 0u
#define MARK_FREE    UINT32_MAX

void interval_tree_init(struct interval_tree *t, uint32_t limit, interval_evicted *evicted,
			void *context)
{
	/* One less than ids, of which MARK_FREE's value and 0 are no node. */
	if (limit > UINT32_MAX - 2)
		limit = UINT32_MAX - 2;
	*t = (struct interval_tree){.limit = limit, .evicted = evicted, .context = context};
}

void interval_tree_release(struct interval_tree *t)
{
	free(t->nodes);
	*t = (struct interval_tree){0};
}

/* ---------------------------------------------------------------- nodes */

static bool is_live(const struct interval_tree *t, uint32_t node)
{
	return node != INTERVAL_NONE && node <= t->used && t->nodes[node].mark != MARK_FREE;
}

const struct interval_node *interval_tree_get(const struct interval_tree *t, uint32_t node)
{
	return is_live(t, node) ? &t->nodes[node] : NULL;
}

/* By half, so that the room for growth is at most half of what is used. */
static int grow(struct interval_tree *t)
{
	size_t capacity = t->capacity ? t->capacity + (size_t)t->capacity / 2 : FIRST_NODES;
	struct interval_node *nodes;

	if (capacity > (size_t)t->limit + 1)
		capacity = (size_t)t->limit + 1;
	nodes = reallocarray(t->nodes, capacity, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	t->nodes = nodes;
	t->capacity = (uint32_t)capacity;
	return 0;
}

static int take_node(struct interval_tree *t, uint32_t *node)
{
	int r;

	if (t->count >= t->limit)
		return -ENOSPC;
	if (t->free != INTERVAL_NONE) {
		*node = t->free;
		t->free = t->nodes[t->free].left;
	} else {
		if (t->used + 1 >= t->capacity) {
			r = grow(t);
			if (r < 0)
				return r;
		}
		*node = ++t->used;
	}
	t->count++;
	return 0;
}

/* The node is in no tree. */
static void give_back(struct interval_tree *t, uint32_t node)
{
	t->nodes[node].mark = MARK_FREE;
	t->nodes[node].left = t->free;
	t->free = node;
	t->count--;
}

static void evict(struct interval_tree *t, uint32_t node)
{
	give_back(t, node);
	if (t->evicted)
		t->evicted(t->context, t->nodes[node].object);
}

/* ---------------------------------------------------------------- tree */

static bool overlaps(const struct interval_node *n, uint64_t low, uint64_t high)
{
	return low <= n->last && n->start <= high;
}

/*
 * Makes a node that overlaps [low, high] the root of tree t, which is not empty, or, if there is
 * none, the last one on the way to where it would be. Returns the root.
 *
 * Simple top-down splaying: what lies left and right of the way is hung to two trees, lower and
 * higher, that become the root's subtrees. Two steps in the same direction rotate.
 */
static uint32_t splay(struct interval_node *nodes, uint32_t t, uint64_t low, uint64_t high)
{
	uint32_t lower = INTERVAL_NONE, higher = INTERVAL_NONE, child;
	uint32_t *lower_end = &lower, *higher_end = &higher;

	for (;;) {
		if (high < nodes[t].start) {
			child = nodes[t].left;
			if (child != INTERVAL_NONE && high < nodes[child].start) {
				nodes[t].left = nodes[child].right;
				nodes[child].right = t;
				t = child;
				child = nodes[t].left;
			}
			if (child == INTERVAL_NONE)
				break;
			*higher_end = t;
			higher_end = &nodes[t].left;
		} else if (low > nodes[t].last) {
			child = nodes[t].right;
			if (child != INTERVAL_NONE && low > nodes[child].last) {
				nodes[t].right = nodes[child].left;
				nodes[child].left = t;
				t = child;
				child = nodes[t].right;
			}
			if (child == INTERVAL_NONE)
				break;
			*lower_end = t;
			lower_end = &nodes[t].right;
		} else {
			break;
		}
		t = child;
	}
	*lower_end = nodes[t].left;
	*higher_end = nodes[t].right;
	nodes[t].left = lower;
	nodes[t].right = higher;
	return t;
}

const struct interval_node *interval_tree_stab(struct interval_tree *t, uint64_t address)
{
	if (t->root == INTERVAL_NONE)
		return NULL;
	t->root = splay(t->nodes, t->root, address, address);
	return overlaps(&t->nodes[t->root], address, address) ? &t->nodes[t->root] : NULL;
}

/* Takes the root out of the tree. */
static void detach_root(struct interval_tree *t)
{
	const struct interval_node *root = &t->nodes[t->root];
	uint32_t left = root->left, right = root->right;

	if (left == INTERVAL_NONE) {
		t->root = right;
		return;
	}
	/* The greatest of what is lower comes up, and has nothing to its right. */
	left = splay(t->nodes, left, root->start, root->last);
	t->nodes[left].right = right;
	t->root = left;
}

static void detach(struct interval_tree *t, uint32_t node)
{
	/* Intervals are disjoint, so what overlaps the node's is the node. */
	t->root = splay(t->nodes, t->root, t->nodes[node].start, t->nodes[node].last);
	detach_root(t);
}

/* Evicts what overlaps [low, high]. The root is then a neighbour of where that lies. */
static void make_way(struct interval_tree *t, uint64_t low, uint64_t high)
{
	while (t->root != INTERVAL_NONE) {
		uint32_t root = splay(t->nodes, t->root, low, high);

		t->root = root;
		if (!overlaps(&t->nodes[root], low, high))
			return;
		detach_root(t);
		evict(t, root);
	}
}

/* Puts the node, whose interval is set, into the tree, as its root. make_way was called before. */
static void attach(struct interval_tree *t, uint32_t node)
{
	struct interval_node *n = &t->nodes[node], *root = &t->nodes[t->root];

	n->mark = MARK_IN_TREE;
	n->left = n->right = INTERVAL_NONE;
	if (t->root != INTERVAL_NONE && n->start < root->start) {
		n->left = root->left;
		n->right = t->root;
		root->left = INTERVAL_NONE;
	} else if (t->root != INTERVAL_NONE) {
		n->left = t->root;
		n->right = root->right;
		root->right = INTERVAL_NONE;
	}
	t->root = node;
}

int interval_tree_insert(struct interval_tree *t, uint64_t start, uint64_t size_bytes,
			 uint32_t object, uint32_t *node)
{
	uint64_t last = start + (size_bytes - 1);
	uint32_t id;
	int r;

	if (size_bytes == 0 || last < start)
		return -EINVAL;
	make_way(t, start, last);
	r = take_node(t, &id);
	if (r < 0)
		return r;
	t->nodes[id].start = start;
	t->nodes[id].last = last;
	t->nodes[id].object = object;
	attach(t, id);
	*node = id;
	return 0;
}

int interval_tree_remove(struct interval_tree *t, uint32_t node)
{
	if (!is_live(t, node))
		return -ENOENT;
	detach(t, node);
	give_back(t, node);
	return 0;
}

/* ---------------------------------------------------------------- batches, one by one */

/* Gives a node that is in no tree its new place, or evicts it if there is no such place. */
static bool set_place(struct interval_tree *t, uint32_t node, uint64_t start)
{
	struct interval_node *n = &t->nodes[node];
	uint64_t last = start + (n->last - n->start);

	if (last < start) {
		evict(t, node);
		return false;
	}
	n->start = start;
	n->last = last;
	return true;
}

static void relocate_each(struct interval_tree *t, const struct interval_move *moves,
			  uint32_t move_count, const uint32_t *dead, uint32_t dead_count)
{
	for (uint32_t i = 0; i < dead_count; i++)
		(void)interval_tree_remove(t, dead[i]); /* Ids of no node are skipped. */
	for (uint32_t i = 0; i < move_count; i++) {
		if (!is_live(t, moves[i].node))
			continue;
		if (t->nodes[moves[i].node].mark == MARK_IN_TREE)
			detach(t, moves[i].node);
		t->nodes[moves[i].node].mark = i + 1;
	}
	for (uint32_t i = 0; i < move_count; i++) {
		uint32_t node = moves[i].node;

		if (!is_live(t, node) || t->nodes[node].mark != i + 1 ||
		    !set_place(t, node, moves[i].start))
			continue;
		make_way(t, t->nodes[node].start, t->nodes[node].last);
		attach(t, node);
	}
}

void interval_tree_relocate(struct interval_tree *t, const struct interval_move *moves,
			    uint32_t move_count, const uint32_t *dead, uint32_t dead_count)
{
	relocate_each(t, moves, move_count, dead, dead_count);
}
