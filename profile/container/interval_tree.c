#include "profile/container/interval_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "profile/container/radix_sort.h"

#define FIRST_NODES 64u

/* Most intervals with the gap behind them are in no more. */
#define PLACES_NOTED 4u

/* interval_node.state of a node in the tree: so many bytes behind its interval are known to be in
 * none; up to STATE_GAP_MAX. Of one that is not handed out: STATE_FREE. Otherwise STATE_MOVING plus
 * the place in the batch of the move that the node awaits. */
#define STATE_GAP_MAX (STATE_MOVING - 1)
#define STATE_MOVING  UINT32_C(0x80000000)
#define STATE_FREE    UINT32_MAX

/* A batch of at least so many nodes, which are at least that share of all, is applied by
 * rebuilding; one that is in the order of addresses from a greater share on, for splaying walks
 * along. Break-even: 1/32 in random order, 1/2 in the order of addresses (docs/measurements.md). */
#define REBUILD_AT_LEAST 64u
#define REBUILD_SHARE    16u
#define ORDERED_SHARE    2u

void interval_tree_init(struct interval_tree *t, uint32_t limit, interval_evicted *evicted,
			void *context)
{
	/* One less than ids, of which the greatest and 0 are no node. */
	if (limit > UINT32_MAX - 2)
		limit = UINT32_MAX - 2;
	*t = (struct interval_tree){.limit = limit, .evicted = evicted, .context = context};
}

void interval_tree_release(struct interval_tree *t)
{
	free(t->nodes);
	interval_hints_release(&t->hints);
	*t = (struct interval_tree){0};
}

/* ---------------------------------------------------------------- nodes */

static bool is_live(const struct interval_tree *t, uint32_t node)
{
	return node != INTERVAL_NONE && node <= t->used && t->nodes[node].state != STATE_FREE;
}

static uint32_t size_bits(const struct interval_node *n)
{
	uint64_t bytes_less_one = n->last - n->start;

	return bytes_less_one ? 64 - (uint32_t)__builtin_clzll(bytes_less_one) : 0;
}

/* Places of hints are as large as intervals are (their geometric mean, which a few huge arrays do
 * not change). When that changes, hints are missed until they are noted again. */
static void fit_hints(struct interval_tree *t)
{
	if (t->count > 0)
		t->hints.shift = (uint32_t)((t->size_bits + t->count / 2) / t->count) & 63;
	interval_hints_resize(&t->hints, t->capacity);
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
	/* Contains no address and has no gap: what a hint names that names none. */
	nodes[INTERVAL_NONE] = (struct interval_node){.start = UINT64_MAX};
	t->nodes = nodes;
	t->capacity = (uint32_t)capacity;
	fit_hints(t);
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
	t->size_bits -= size_bits(&t->nodes[node]);
	t->nodes[node].state = STATE_FREE;
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

/* The nodes before and behind a place where there is none. */
struct neighbours {
	uint32_t below, above;
};

/*
 * Makes a node that overlaps [low, high] the root of tree t, which is not empty, or, if there is
 * none, the last one on the way to where it would be; both of its neighbours are on that way, and
 * noted then. Returns the root.
 *
 * Simple top-down splaying: what lies left and right of the way is hung to two trees, lower and
 * higher, that become the root's subtrees. Two steps in the same direction rotate.
 */
static uint32_t splay(struct interval_node *nodes, uint32_t t, uint64_t low, uint64_t high,
		      struct neighbours *around)
{
	uint32_t lower = INTERVAL_NONE, higher = INTERVAL_NONE, child;
	uint32_t *lower_end = &lower, *higher_end = &higher;
	struct neighbours passed = {INTERVAL_NONE, INTERVAL_NONE};

	for (;;) {
		if (high < nodes[t].start) {
			child = nodes[t].left;
			if (child != INTERVAL_NONE && high < nodes[child].start) {
				nodes[t].left = nodes[child].right;
				nodes[child].right = t;
				t = child;
				child = nodes[t].left;
			}
			passed.above = t;
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
			passed.below = t;
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
	*around = passed;
	return t;
}

/* ---------------------------------------------------------------- look-ups */

/* How far the gap behind n reaches, if above, or nothing, is the next one. */
static uint32_t gap_before(const struct interval_tree *t, const struct interval_node *n,
			   uint32_t above)
{
	uint64_t end = above != INTERVAL_NONE ? t->nodes[above].start : UINT64_MAX;
	uint64_t gap = end > n->last ? end - n->last - 1 : 0;

	return gap < STATE_GAP_MAX ? (uint32_t)gap : STATE_GAP_MAX;
}

/* The address is in the gap that n knows of. */
static bool in_gap(const struct interval_node *n, uint64_t address)
{
	return n->state <= STATE_GAP_MAX && address - n->last - 1 < n->state;
}

/* Notes that the node answers for the places that it begins in, before anyone asks: an object is
 * met a few times in its life, so its first time counts. Its interval and its gap are set. */
static void note_places(struct interval_tree *t, uint32_t node)
{
	const struct interval_node *n = &t->nodes[node];
	uint64_t end = n->last + n->state, address = n->start;

	if (!t->hints.slots)
		return;
	for (unsigned i = 0; i < PLACES_NOTED && address <= end && address >= n->start; i++) {
		*interval_hints_slot(&t->hints, address) = node;
		address = ((address >> t->hints.shift) + 1) << t->hints.shift;
	}
}

/* Splays, and notes in *hint, if that is not NULL, who can answer the next time. */
static const struct interval_node *search(struct interval_tree *t, uint64_t address, uint32_t *hint)
{
	struct neighbours around;
	const struct interval_node *root;
	uint32_t answers;

	t->root = answers = splay(t->nodes, t->root, address, address, &around);
	root = &t->nodes[t->root];
	if (!overlaps(root, address, address)) {
		root = NULL;
		answers = around.below;
		if (answers != INTERVAL_NONE)
			t->nodes[answers].state = gap_before(t, &t->nodes[answers], around.above);
	}
	if (hint)
		*hint = answers;
	return root;
}

const struct interval_node *interval_tree_stab(struct interval_tree *t, uint64_t address)
{
	const struct interval_node *n;
	uint32_t *hint;

	if (t->root == INTERVAL_NONE)
		return NULL;
	n = &t->nodes[t->root];
	if (overlaps(n, address, address))
		return n;
	if (!t->hints.slots)
		return search(t, address, NULL);
	hint = interval_hints_slot(&t->hints, address);
	n = &t->nodes[*hint];
	if (overlaps(n, address, address) && n->state != STATE_FREE)
		return n;
	return in_gap(n, address) ? NULL : search(t, address, hint);
}

/* ---------------------------------------------------------------- changes */

/* Takes the root out of the tree. */
static void detach_root(struct interval_tree *t)
{
	const struct interval_node *root = &t->nodes[t->root];
	uint32_t left = root->left, right = root->right;
	struct neighbours around;

	if (left == INTERVAL_NONE) {
		t->root = right;
		return;
	}
	/* The greatest of what is lower comes up, and has nothing to its right. */
	left = splay(t->nodes, left, root->start, root->last, &around);
	t->nodes[left].right = right;
	t->root = left;
}

static void detach(struct interval_tree *t, uint32_t node)
{
	struct neighbours around;

	/* Intervals are disjoint, so what overlaps the node's is the node. */
	t->root = splay(t->nodes, t->root, t->nodes[node].start, t->nodes[node].last, &around);
	detach_root(t);
}

/* Evicts what overlaps [low, high]. The root is then a neighbour of where that lies. */
static struct neighbours make_way(struct interval_tree *t, uint64_t low, uint64_t high)
{
	struct neighbours around = {INTERVAL_NONE, INTERVAL_NONE};

	while (t->root != INTERVAL_NONE) {
		uint32_t root = splay(t->nodes, t->root, low, high, &around);

		t->root = root;
		if (!overlaps(&t->nodes[root], low, high))
			return around;
		detach_root(t);
		evict(t, root);
	}
	return (struct neighbours){INTERVAL_NONE, INTERVAL_NONE};
}

/* Puts the node, whose interval is set, into the tree, as its root, between those that make_way has
 * returned. */
static void attach(struct interval_tree *t, uint32_t node, struct neighbours around)
{
	struct interval_node *n = &t->nodes[node], *root = &t->nodes[t->root];

	n->state = gap_before(t, n, around.above);
	if (around.below != INTERVAL_NONE)
		t->nodes[around.below].state = gap_before(t, &t->nodes[around.below], node);
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
	note_places(t, node);
}

int interval_tree_insert(struct interval_tree *t, uint64_t start, uint64_t size_bytes,
			 uint32_t object, uint32_t *node)
{
	uint64_t last = start + (size_bytes - 1);
	struct neighbours around;
	uint32_t id;
	int r;

	if (size_bytes == 0 || last < start)
		return -EINVAL;
	around = make_way(t, start, last);
	r = take_node(t, &id);
	if (r < 0)
		return r;
	t->nodes[id].start = start;
	t->nodes[id].last = last;
	t->nodes[id].object = object;
	t->size_bits += size_bits(&t->nodes[id]);
	attach(t, id, around);
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

struct node_batch {
	const struct interval_move *moves;
	const uint32_t *dead;
	uint32_t move_count;
	uint32_t dead_count;
};

/* Whether move i of the batch is one to be made: its node is there still, and moves no further. */
static bool is_due(const struct interval_tree *t, const struct node_batch *b, uint32_t i)
{
	return is_live(t, b->moves[i].node) && t->nodes[b->moves[i].node].state == STATE_MOVING + i;
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
static void relocate_each(struct interval_tree *t, const struct node_batch *b)
{
	for (uint32_t i = 0; i < b->dead_count; i++)
		(void)interval_tree_remove(t, b->dead[i]); /* Ids of no node are skipped. */
	for (uint32_t i = 0; i < b->move_count; i++) {
		if (!is_live(t, b->moves[i].node))
			continue;
		if (t->nodes[b->moves[i].node].state <= STATE_GAP_MAX)
			detach(t, b->moves[i].node);
		t->nodes[b->moves[i].node].state = STATE_MOVING + i;
	}
	for (uint32_t i = 0; i < b->move_count; i++) {
		uint32_t node = b->moves[i].node;

		if (!is_due(t, b, i) || !set_place(t, node, b->moves[i].start))
			continue;
		attach(t, node, make_way(t, t->nodes[node].start, t->nodes[node].last));
	}
}

/* ---------------------------------------------------------------- batches, by rebuilding */

/* Applies the batch to the nodes, without regard to the tree, which is none afterwards. The nodes
 * that have moved stay so marked. */
static void relocate_nodes(struct interval_tree *t, const struct node_batch *b)
{
	for (uint32_t i = 0; i < b->dead_count; i++)
		if (is_live(t, b->dead[i]))
			give_back(t, b->dead[i]);
	for (uint32_t i = 0; i < b->move_count; i++)
		if (is_live(t, b->moves[i].node))
			t->nodes[b->moves[i].node].state = STATE_MOVING + i;
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

		if (n->state == STATE_FREE)
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
		if (t->nodes[items[i].value].state <= STATE_GAP_MAX)
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
		n->state =
		    gap_before(t, n, middle + 1 < count ? items[middle + 1].value : INTERVAL_NONE);
		note_places(t, items[middle].value);
		*work.link = items[middle].value;
		todo[todo_count++] = (__typeof__(work)){middle + 1, work.to, &n->right};
		todo[todo_count++] = (__typeof__(work)){work.from, middle, &n->left};
	}
}

static void rebuild(struct interval_tree *t, const struct node_batch *b, struct radix_item *items,
		    struct radix_item *scratch)
{
	uint32_t count;

	relocate_nodes(t, b);
	fit_hints(t);
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
		attach(t, node, make_way(t, t->nodes[node].start, t->nodes[node].last));
	}
}

/* How often a walk through nodes turns round. */
struct tree_walk {
	uint64_t at;
	bool up;
	uint32_t turns;
};

static void walk_to(const struct interval_tree *t, struct tree_walk *w, uint32_t node)
{
	uint64_t start = is_live(t, node) ? t->nodes[node].start : w->at;
	bool up = start == w->at ? w->up : start > w->at;

	w->turns += up != w->up;
	w->up = up;
	w->at = start;
}

/* In random order two thirds of the nodes are turns. */
static bool is_in_order(const struct interval_tree *t, const struct node_batch *b)
{
	struct tree_walk w = {0};

	for (uint32_t i = 0; i < b->dead_count; i++)
		walk_to(t, &w, b->dead[i]);
	for (uint32_t i = 0; i < b->move_count; i++)
		walk_to(t, &w, b->moves[i].node);
	return w.turns <= ((uint64_t)b->dead_count + b->move_count) / 8;
}

static bool rebuilding_pays(const struct interval_tree *t, const struct node_batch *b)
{
	uint64_t size = (uint64_t)b->move_count + b->dead_count;

	return size >= REBUILD_AT_LEAST && size >= t->count / REBUILD_SHARE &&
	       (size >= t->count / ORDERED_SHARE || !is_in_order(t, b));
}

void interval_tree_relocate(struct interval_tree *t, const struct interval_move *moves,
			    uint32_t move_count, const uint32_t *dead, uint32_t dead_count)
{
	const struct node_batch b = {moves, dead, move_count, dead_count};
	_cleanup_free_ struct radix_item *items = NULL, *scratch = NULL;

	if (rebuilding_pays(t, &b)) {
		items = calloc(t->count, sizeof(*items));
		scratch = calloc(t->count, sizeof(*scratch));
	}
	if (items && scratch)
		rebuild(t, &b, items, scratch);
	else
		relocate_each(t, &b);
}

size_t interval_tree_memory_bytes(const struct interval_tree *t)
{
	return t->capacity * sizeof(*t->nodes) + interval_hints_memory_bytes(&t->hints);
}
