#include "compare/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/label.h"
#include "common/mix.h"

void compare_tree_release(struct compare_tree *t)
{
	free(t->nodes);
	free(t->methods);
	free(t->ids[0]);
	free(t->ids[1]);
	*t = (struct compare_tree){.nodes = NULL};
}

/* ---------------------------------------------------------------- methods of both */

struct named {
	const char *name;
	uint32_t *id; /* where the tree's goes */
};

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int name_methods(struct compare_tree *t, const struct compare_side sides[2])
{
	size_t count = sides[0].method_count + sides[1].method_count, at = 0;
	_cleanup_free_ struct named *all = calloc(count + 1, sizeof(*all));

	t->methods = calloc(count + 1, sizeof(*t->methods));
	for (int i = 0; i < 2; i++)
		t->ids[i] = calloc(sides[i].method_count + 1, sizeof(*t->ids[i]));
	if (!all || !t->methods || !t->ids[0] || !t->ids[1])
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		for (size_t m = 0; m < sides[i].method_count; m++)
			all[at++] = (struct named){sides[i].methods[m], &t->ids[i][m + 1]};
	qsort(all, count, sizeof(*all), compare_names);
	t->methods[0].name = METHOD_UNKNOWN;
	t->method_count = 1;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(all[i].name, all[i - 1].name) != 0)
			t->methods[t->method_count++].name = all[i].name;
		*all[i].id = (uint32_t)t->method_count - 1;
	}
	for (int i = 0; i < 2; i++)
		for (size_t m = 1; m <= sides[i].method_count && sides[i].excess; m++)
			t->methods[t->ids[i][m]].excess[i] = sides[i].excess[m];
	return 0;
}

/* ---------------------------------------------------------------- contexts of both */

/* Open addressing, at most half full: nodes by parent and method. */
struct node_index {
	uint32_t *slots;
	size_t mask;
};

static uint32_t find_or_add(struct compare_tree *t, const struct node_index *places,
			    uint32_t parent, uint32_t method)
{
	size_t at = mix((uint64_t)parent << 32 | method) & places->mask;

	for (; places->slots[at]; at = (at + 1) & places->mask) {
		const struct compare_tree_node *n = &t->nodes[places->slots[at]];

		if (n->parent == parent && n->method == method)
			return places->slots[at];
	}
	places->slots[at] = (uint32_t)t->node_count;
	t->nodes[t->node_count] = (struct compare_tree_node){.parent = parent, .method = method};
	return (uint32_t)t->node_count++;
}

/* Ticks of one length, as far as anybody knows. */
static struct compare_sums sums_of(const struct compare_node *n)
{
	return (struct compare_sums){.amount = n->ns,
				     .squares = n->ticks > 0 ? n->ns * n->ns / n->ticks : 0,
				     .count = n->ticks};
}

static int add_side(struct compare_tree *t, const struct node_index *places,
		    const struct compare_side *side, int number)
{
	_cleanup_free_ uint32_t *nodes = calloc(side->node_count + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < side->node_count; i++) {
		const struct compare_node *n = &side->nodes[i];
		struct compare_sums sums = sums_of(n);
		uint32_t id = find_or_add(t, places, nodes[n->parent], t->ids[number][n->method]);

		nodes[i + 1] = id;
		compare_sums_add(&t->nodes[id].own[number], &sums);
	}
	return 0;
}

static int add_nodes(struct compare_tree *t, const struct compare_side sides[2])
{
	size_t count = sides[0].node_count + sides[1].node_count + 1, room = 16;
	_cleanup_free_ uint32_t *slots = NULL;
	struct node_index places;
	int r = 0;

	while (room < 2 * count)
		room *= 2;
	slots = calloc(room, sizeof(*slots));
	t->nodes = calloc(count, sizeof(*t->nodes));
	if (!slots || !t->nodes)
		return -ENOMEM;
	places = (struct node_index){slots, room - 1};
	t->node_count = 1;
	for (int i = 0; i < 2 && r == 0; i++)
		r = add_side(t, &places, &sides[i], i);
	return r;
}

/* ---------------------------------------------------------------- sums */

static bool is_outermost(const struct compare_tree *t, uint32_t node)
{
	uint32_t method = t->nodes[node].method;

	for (uint32_t n = t->nodes[node].parent; n; n = t->nodes[n].parent)
		if (t->nodes[n].method == method)
			return false;
	return true;
}

uint32_t compare_tree_caller(const struct compare_tree *t, uint32_t node)
{
	uint32_t method = t->nodes[node].method;

	while (node && t->nodes[node].method == method)
		node = t->nodes[node].parent;
	return node;
}

/* Nodes of the second side may be parents of older ones of neither: parents are before their
 * children all the same, since both were added in that order. */
static void add_up(struct compare_tree *t)
{
	for (size_t i = t->node_count; i-- > 1;) {
		struct compare_tree_node *n = &t->nodes[i];

		for (int s = 0; s < 2; s++) {
			compare_sums_add(&n->total[s], &n->own[s]);
			if (n->parent)
				compare_sums_add(&t->nodes[n->parent].total[s], &n->total[s]);
		}
	}
	for (size_t i = 1; i < t->node_count; i++) {
		struct compare_tree_node *n = &t->nodes[i];
		struct compare_method *m = &t->methods[n->method];

		n->outermost = is_outermost(t, (uint32_t)i);
		for (int s = 0; s < 2; s++) {
			compare_sums_add(&m->own[s], &n->own[s]);
			if (n->outermost)
				compare_sums_add(&m->total[s], &n->total[s]);
		}
	}
}

int compare_tree_init(struct compare_tree *t, const struct compare_side sides[2])
{
	int r;

	*t = (struct compare_tree){.nodes = NULL};
	r = name_methods(t, sides);
	if (r == 0)
		r = add_nodes(t, sides);
	if (r < 0)
		compare_tree_release(t);
	else
		add_up(t);
	return r;
}
