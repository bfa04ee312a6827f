#include "daemon/container/interval_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/container/radix_sort.h"

#define FIRST_NODES 64u

/* interval_node.mark: in the tree; not handed out; otherwise the place in the batch, counted from
 * 1, of the move that the node awaits. */
#define MARK_IN_TREE 0u
#define MARK_FREE    UINT32_MAX

/* A batch of at least so many nodes, which are at least that share of all, is applied by
 * rebuilding. Break-even: 1/32 in random order, 1/2 in the order of addresses
 * (docs/measurements.md). */
#define REBUILD_AT_LEAST 64u
#define REBUILD_SHARE    16u

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

/* ---------------------------------------------------------------- batches */

struct batch {
	const struct interval_move *moves;
	const uint32_t *dead;
	uint32_t move_count;
	uint32_t dead_count;
};

/* Whether move i of the batch is one to be made: its node is there still, and moves no further. */
static bool is_due(const struct interval_tree *t, const struct batch *b, uint32_t i)
{
	return is_live(t, b->moves[i].node) && t->nodes[b->moves[i].node].mark == i + 1;
}

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

/* Takes out all that the batch names before anything gets its new place. */
static void relocate_each(struct interval_tree *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->dead_count; i++)
		(void)interval_tree_remove(t, b->dead[i]); /* Ids of no node are skipped. */
	for (uint32_t i = 0; i < b->move_count; i++) {
		if (!is_live(t, b->moves[i].node))
			continue;
		if (t->nodes[b->moves[i].node].mark == MARK_IN_TREE)
			detach(t, b->moves[i].node);
		t->nodes[b->moves[i].node].mark = i + 1;
	}
	for (uint32_t i = 0; i < b->move_count; i++) {
		uint32_t node = b->moves[i].node;

		if (!is_due(t, b, i) || !set_place(t, node, b->moves[i].start))
			continue;
		make_way(t, t->nodes[node].start, t->nodes[node].last);
		attach(t, node);
	}
}

/* ---------------------------------------------------------------- batches, by rebuilding */

/* Applies the batch to the nodes, without regard to the tree, which is none afterwards. The nodes
 * that have moved stay marked. */
static void relocate_nodes(struct interval_tree *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->dead_count; i++)
		if (is_live(t, b->dead[i]))
			give_back(t, b->dead[i]);
	for (uint32_t i = 0; i < b->move_count; i++)
		if (is_live(t, b->moves[i].node))
			t->nodes[b->moves[i].node].mark = i + 1;
	for (uint32_t i = 0; i < b->move_count; i++)
		if (is_due(t, b, i))
			(void)set_place(t, b->moves[i].node,
					b->moves[i].start); /* Or it is gone. */
	t->root = INTERVAL_NONE;
}

/* The live nodes in the order of their addresses, as values of items. Returns their number. The
 * keys are distances from the lowest address in units of their common alignment, so that one sort
 * by 32 bits does for heaps up to 32 GiB. */
static uint32_t sort_nodes(const struct interval_tree *t, struct radix_item *items,
			   struct radix_item *scratch)
{
	uint64_t lowest = UINT64_MAX, highest = 0, first = 0, differing = 0;
	uint32_t count = 0, unit;

	for (uint32_t node = 1; node <= t->used; node++) {
		const struct interval_node *n = &t->nodes[node];

		if (n->mark == MARK_FREE)
			continue;
		lowest = n->start < lowest ? n->start : lowest;
		highest = n->start > highest ? n->start : highest;
		first = count == 0 ? n->start : first;
		differing |= n->start ^ first;
		items[count++].value = node;
	}
	unit = differing ? (uint32_t)__builtin_ctzll(differing) : 0;
	for (uint32_t i = 0; i < count; i++)
		items[i].key = (uint32_t)((t->nodes[items[i].value].start - lowest) >> unit);
	radix_sort(items, scratch, count);
	if (count == 0 || (highest - lowest) >> unit <= UINT32_MAX)
		return count;
	for (uint32_t i = 0; i < count; i++)
		items[i].key = (uint32_t)((t->nodes[items[i].value].start - lowest) >> unit >> 32);
	radix_sort(items, scratch, count);
	return count;
}

/* Whether no interval overlaps the next one, as it is with an honest JVM. */
static bool are_disjoint(const struct interval_tree *t, const struct radix_item *items,
			 uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (t->nodes[items[i - 1].value].last >= t->nodes[items[i].value].start)
			return false;
	return true;
}

/* Keeps those that did not move. Returns their number. */
static uint32_t drop_moved(const struct interval_tree *t, struct radix_item *items, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (t->nodes[items[i].value].mark == MARK_IN_TREE)
			items[kept++] = items[i];
	return kept;
}

/* Makes the tree, perfectly balanced, of disjoint intervals in order. */
static void build(struct interval_tree *t, const struct radix_item *items, uint32_t count)
{
	struct {
		uint32_t from, to; /* items[from] ... items[to - 1] */
		uint32_t *link;    /* become the tree that hangs there */
	} todo[2 * 32], work;      /* Halving 32 bits, two at a time. */
	size_t todo_count = 0;

	todo[todo_count++] = (__typeof__(work)){0, count, &t->root};
	while (todo_count > 0) {
		struct interval_node *n;
		uint32_t middle;

		work = todo[--todo_count];
		if (work.from == work.to) {
			*work.link = INTERVAL_NONE;
			continue;
		}
		middle = work.from + (work.to - work.from) / 2;
		n = &t->nodes[items[middle].value];
		n->mark = MARK_IN_TREE;
		*work.link = items[middle].value;
		todo[todo_count++] = (__typeof__(work)){middle + 1, work.to, &n->right};
		todo[todo_count++] = (__typeof__(work)){work.from, middle, &n->left};
	}
}

static void rebuild(struct interval_tree *t, const struct batch *b, struct radix_item *items,
		    struct radix_item *scratch)
{
	uint32_t count;

	relocate_nodes(t, b);
	count = sort_nodes(t, items, scratch);
	if (are_disjoint(t, items, count)) {
		build(t, items, count);
		return;
	}
	count = drop_moved(t, items, count);
	build(t, items, count);
	for (uint32_t i = 0; i < b->move_count; i++) {
		uint32_t node = b->moves[i].node;

		if (!is_due(t, b, i))
			continue;
		make_way(t, t->nodes[node].start, t->nodes[node].last);
		attach(t, node);
	}
}

void interval_tree_relocate(struct interval_tree *t, const struct interval_move *moves,
			    uint32_t move_count, const uint32_t *dead, uint32_t dead_count)
{
	const struct batch b = {moves, dead, move_count, dead_count};
	_cleanup_free_ struct radix_item *items = NULL, *scratch = NULL;
	uint64_t batch_size = (uint64_t)move_count + dead_count;

	if (batch_size >= REBUILD_AT_LEAST && batch_size >= t->count / REBUILD_SHARE) {
		items = calloc(t->count, sizeof(*items));
		scratch = calloc(t->count, sizeof(*scratch));
	}
	if (items && scratch)
		rebuild(t, &b, items, scratch);
	else
		relocate_each(t, &b);
}
