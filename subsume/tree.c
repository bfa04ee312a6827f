#include "subsume/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/mix.h"
#include "common/siphash.h"
#include "common/utf8.h"
#include "subsume/names.h"

#define FIRST_NODES   1024u
#define FIRST_METHODS 256u
#define FIRST_NAMES   16384u
#define ROOT_LABEL    "(root)"

struct node {
	uint64_t cost;
	uint32_t parent;
	uint32_t method;
};

/* As it came, but for what subsume_name_normalise leaves out. */
struct tree_name {
	uint32_t offset;
	uint32_t length;
};

struct tree_slot {
	uint32_t hash; /* of a node's path, or of a method's name */
	uint32_t of;   /* that node or method; 0: free; the root is nobody's child */
};

struct tree_table {
	struct tree_slot *slots;
	size_t capacity;
};

/*
 * Both tables are open-addressing ones that are at most half full, and have no slot before there is
 * something to put there. What they hash comes from a file that anybody may have written: their
 * values depend on a key.
 *
 * Invariant: a node's parent has a smaller number; children came in the order of theirs.
 */
struct subsume_builder {
	struct node *nodes;
	size_t node_count, node_room;
	struct tree_table children; /* nodes by parent and method */

	struct tree_name *methods;
	size_t method_count, method_room;
	char *names;
	size_t names_used, names_room;
	struct tree_table named; /* methods by name */

	/* The path that was added last: its methods and its nodes. */
	uint32_t last_methods[SUBSUME_DEPTH_MAX];
	uint32_t last_nodes[SUBSUME_DEPTH_MAX];
	uint64_t last_hashes[SUBSUME_DEPTH_MAX]; /* of the path up to each */
	size_t last_count;

	uint64_t total;
	uint64_t truncated;
	uint64_t truncated_samples;
	uint64_t key[2];
	char normalised[SUBSUME_NAME_MAX];
};

void subsume_tree_release(struct subsume_tree *tree)
{
	free(tree->method);
	free(tree->depth);
	free(tree->cost);
	free(tree->methods);
	free(tree->names);
	*tree = (struct subsume_tree){0};
}

/* ---------------------------------------------------------------- room */

static struct tree_slot *child_slot(const struct subsume_builder *b, uint32_t hash, uint32_t parent,
				    uint32_t method)
{
	struct tree_slot *slots = b->children.slots;
	size_t mask = b->children.capacity - 1, at = hash & mask;

	for (; slots[at].of; at = (at + 1) & mask) {
		const struct node *n = &b->nodes[slots[at].of];

		if (slots[at].hash == hash && n->parent == parent && n->method == method)
			break;
	}
	return &slots[at];
}

/* Room for one more than used. Hashes have as many bits as these tables ever need. */
static int grow(struct tree_table *t, size_t used, size_t first)
{
	size_t capacity = t->capacity ? t->capacity * 2 : first;
	struct tree_slot *slots;

	if (t->capacity && used < t->capacity / 2)
		return 0;
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->capacity; i++) {
		size_t at = t->slots[i].hash & (capacity - 1);

		if (!t->slots[i].of)
			continue;
		while (slots[at].of)
			at = (at + 1) & (capacity - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	*t = (struct tree_table){.slots = slots, .capacity = capacity};
	return 0;
}

static bool has_name(const struct subsume_builder *b, uint32_t method, const char *name,
		     size_t length)
{
	const struct tree_name *n = &b->methods[method];

	return n->length == length && memcmp(b->names + n->offset, name, length) == 0;
}

static struct tree_slot *name_slot(const struct subsume_builder *b, uint32_t hash, const char *name,
				   size_t length)
{
	struct tree_slot *slots = b->named.slots;
	size_t mask = b->named.capacity - 1, at = hash & mask;

	while (slots[at].of && !(slots[at].hash == hash && has_name(b, slots[at].of, name, length)))
		at = (at + 1) & mask;
	return &slots[at];
}

/* ---------------------------------------------------------------- building */

/* The virtual root, node and method. */
static int add_root(struct subsume_builder *b)
{
	int r = array_reserve_within(&b->nodes, &b->node_room, FIRST_NODES, SUBSUME_NODES_MAX,
				     sizeof(*b->nodes));

	if (r == 0)
		r = array_reserve_within(&b->methods, &b->method_room, FIRST_METHODS,
					 SUBSUME_METHODS_MAX, sizeof(*b->methods));
	if (r == 0)
		r = array_reserve_within(&b->names, &b->names_room, FIRST_NAMES, SUBSUME_NAMES_MAX,
					 1);
	if (r < 0)
		return r;
	memcpy(b->names, ROOT_LABEL, sizeof(ROOT_LABEL));
	b->names_used = sizeof(ROOT_LABEL);
	b->methods[0] = (struct tree_name){.offset = 0, .length = sizeof(ROOT_LABEL) - 1};
	b->nodes[0] = (struct node){0};
	b->method_count = b->node_count = 1;
	return 0;
}

struct subsume_builder *subsume_builder_new(void)
{
	struct subsume_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	/* Without a random key, as early in a boot, a file could only make this slow. */
	if (getrandom(b->key, sizeof(b->key), GRND_NONBLOCK) != sizeof(b->key))
		b->key[0] = b->key[1] = (uintptr_t)b;
	if (add_root(b) < 0) {
		subsume_builder_free(b);
		return NULL;
	}
	return b;
}

void subsume_builder_free(struct subsume_builder *b)
{
	if (!b)
		return;
	free(b->nodes);
	free(b->children.slots);
	free(b->methods);
	free(b->names);
	free(b->named.slots);
	free(b);
}

/* The method of that very name, or 0. */
static uint32_t find_method(const struct subsume_builder *b, const char *name, size_t length,
			    uint32_t *hash)
{
	*hash = (uint32_t)siphash(b->key, name, length);
	return b->named.capacity ? name_slot(b, *hash, name, length)->of : 0;
}

/* A normalised name that is not there yet. */
static int add_method(struct subsume_builder *b, const char *name, size_t length, uint32_t hash,
		      uint32_t *method)
{
	int r = grow(&b->named, b->method_count, (size_t)2 * FIRST_METHODS);

	if (r == 0)
		r = array_reserve_within(&b->methods, &b->method_room, b->method_count + 1,
					 SUBSUME_METHODS_MAX, sizeof(*b->methods));
	if (r == 0)
		r = array_reserve_within(&b->names, &b->names_room, b->names_used + length + 1,
					 SUBSUME_NAMES_MAX, 1);
	if (r < 0)
		return r;
	memcpy(b->names + b->names_used, name, length);
	b->names[b->names_used + length] = '\0';
	b->methods[b->method_count] =
	    (struct tree_name){.offset = (uint32_t)b->names_used, .length = (uint32_t)length};
	b->names_used += length + 1;
	*method = (uint32_t)b->method_count++;
	*name_slot(b, hash, name, length) = (struct tree_slot){.hash = hash, .of = *method};
	return 0;
}

int subsume_builder_method(struct subsume_builder *b, const char *name, size_t length,
			   uint32_t *method)
{
	uint32_t hash, found;

	if (length > SUBSUME_NAME_MAX)
		return -ENOSPC;
	/* A name that is known has nothing left to normalise, and most are known. */
	found = find_method(b, name, length, &hash);
	if (!found) {
		length = subsume_name_normalise(name, length, b->normalised);
		length = utf8_join_pairs(b->normalised, length);
		found = find_method(b, b->normalised, length, &hash);
	}
	if (!found)
		return add_method(b, b->normalised, length, hash, method);
	*method = found;
	return 0;
}

/* The child of that method, made if there is none. */
static int child(struct subsume_builder *b, uint32_t hash, uint32_t parent, uint32_t method,
		 uint32_t *node)
{
	struct tree_slot *slot;
	int r = grow(&b->children, b->node_count, (size_t)2 * FIRST_NODES);

	if (r < 0)
		return r;
	slot = child_slot(b, hash, parent, method);
	if (slot->of) {
		*node = slot->of;
		return 0;
	}
	r = array_reserve_within(&b->nodes, &b->node_room, b->node_count + 1, SUBSUME_NODES_MAX,
				 sizeof(*b->nodes));
	if (r < 0)
		return r;
	*node = (uint32_t)b->node_count++;
	b->nodes[*node] = (struct node){.parent = parent, .method = method};
	*slot = (struct tree_slot){.hash = hash, .of = *node};
	return 0;
}

/* What a path's nodes are found by is hashed from its methods alone, so that memory can be asked
 * for all of them at once: looked for one after the other, each would wait for it. */
static void look_ahead(struct subsume_builder *b, const uint32_t *path, size_t from, size_t count)
{
	uint64_t hash = from ? b->last_hashes[from - 1] : b->key[0];
	const struct tree_table *t = &b->children;
	size_t mask = t->capacity - 1;

	for (size_t i = from; i < count; i++) {
		hash = mix(hash + mix_upper(path[i]));
		b->last_hashes[i] = hash;
		if (t->capacity)
			__builtin_prefetch(&t->slots[(uint32_t)hash & mask]);
	}
	for (size_t i = from; i < count && t->capacity; i++)
		__builtin_prefetch(&b->nodes[t->slots[(uint32_t)b->last_hashes[i] & mask].of]);
}

int subsume_builder_add(struct subsume_builder *b, const uint32_t *path, size_t count,
			uint64_t cost)
{
	size_t same = 0;
	uint32_t node;

	if (count > SUBSUME_DEPTH_MAX)
		return -E2BIG;
	if (cost > SUBSUME_COST_MAX - b->total)
		return -ENOSPC;
	while (same < count && same < b->last_count && path[same] == b->last_methods[same])
		same++;
	node = same ? b->last_nodes[same - 1] : 0;
	b->last_count = same;
	look_ahead(b, path, same, count);
	for (; b->last_count < count; b->last_count++) {
		uint32_t method = path[b->last_count];
		int r = method && method < b->method_count
			    ? child(b, (uint32_t)b->last_hashes[b->last_count], node, method, &node)
			    : -EINVAL;

		if (r < 0)
			return r;
		b->last_methods[b->last_count] = method;
		b->last_nodes[b->last_count] = node;
	}
	b->nodes[node].cost += cost;
	b->total += cost;
	return 0;
}

void subsume_builder_truncated(struct subsume_builder *b, uint64_t cost, uint64_t samples)
{
	if (__builtin_add_overflow(b->truncated, cost, &b->truncated))
		b->truncated = UINT64_MAX;
	if (__builtin_add_overflow(b->truncated_samples, samples, &b->truncated_samples))
		b->truncated_samples = UINT64_MAX;
}

/* ---------------------------------------------------------------- the tree */

/* In preorder a node is behind its parent and what is below its elder siblings. After this, the
 * place of each node; sizes is what is free of its subtree. */
static void place_nodes(const struct subsume_builder *b, uint32_t *sizes, uint32_t *places)
{
	for (size_t n = 0; n < b->node_count; n++)
		sizes[n] = 1;
	for (size_t n = b->node_count - 1; n > 0; n--)
		sizes[b->nodes[n].parent] += sizes[n];
	places[0] = 0;
	sizes[0] = 1; /* From here on: the first free place, counted from the node's own. */
	for (size_t n = 1; n < b->node_count; n++) {
		uint32_t parent = b->nodes[n].parent, size = sizes[n];

		places[n] = places[parent] + sizes[parent];
		sizes[parent] += size;
		sizes[n] = 1;
	}
}

static int lay_out(const struct subsume_builder *b, struct subsume_tree *tree)
{
	_cleanup_free_ uint32_t *sizes = malloc(b->node_count * sizeof(*sizes));
	_cleanup_free_ uint32_t *places = malloc(b->node_count * sizeof(*places));

	tree->method = malloc(b->node_count * sizeof(*tree->method));
	tree->depth = malloc(b->node_count * sizeof(*tree->depth));
	tree->cost = malloc(b->node_count * sizeof(*tree->cost));
	if (!sizes || !places || !tree->method || !tree->depth || !tree->cost)
		return -ENOMEM;
	place_nodes(b, sizes, places);
	for (size_t n = 0; n < b->node_count; n++) {
		uint32_t at = places[n];

		tree->method[at] = b->nodes[n].method;
		tree->cost[at] = b->nodes[n].cost;
		tree->depth[at] = n ? (uint16_t)(tree->depth[places[b->nodes[n].parent]] + 1) : 0;
	}
	tree->node_count = b->node_count;
	return 0;
}

/* Labels as they are made: text, and where in it each method's is. */
struct labels {
	char *text;
	size_t used, room;
	size_t *at;       /* by method */
	uint32_t *copies; /* by method: others whose label was the same */
	uint32_t *slots;  /* methods by their label, open addressing; 0 is free */
	size_t capacity;
};

static void release_labels(struct labels *l)
{
	free(l->text);
	free(l->at);
	free(l->copies);
	free(l->slots);
}

static int init_labels(struct labels *l, size_t methods)
{
	for (l->capacity = FIRST_METHODS; l->capacity < 2 * methods; l->capacity *= 2)
		;
	l->at = calloc(methods, sizeof(*l->at));
	l->copies = calloc(methods, sizeof(*l->copies));
	l->slots = calloc(l->capacity, sizeof(*l->slots));
	return l->at && l->copies && l->slots ? 0 : -ENOMEM;
}

/* A name fit to show, up to its NUL, as a method's label. */
static int show_name(struct subsume_builder *b, struct labels *l, uint32_t method)
{
	const struct tree_name *n = &b->methods[method];
	size_t room = UTF8_SHOWN_MAX * ((size_t)n->length + 1);
	int r = array_reserve(&l->text, &l->room, l->used + room, 1);

	if (r < 0)
		return r;
	l->at[method] = l->used;
	l->used += utf8_name(l->text + l->used, room, b->names + n->offset) + 1;
	return 0;
}

/* Gives the label a number, in front of the descriptor. */
static int number_label(struct labels *l, uint32_t method, uint32_t number)
{
	char text[16];
	size_t digits = (size_t)snprintf(text, sizeof(text), "#%" PRIu32, number);
	size_t length = strlen(l->text + l->at[method]), end;
	int r = array_reserve(&l->text, &l->room, l->used + length + digits + 1, 1);
	const char *label;

	if (r < 0)
		return r;
	label = l->text + l->at[method];
	end = strcspn(label, "(");
	end = end ? end : length;
	memcpy(l->text + l->used, label, end);
	memcpy(l->text + l->used + end, text, digits);
	memcpy(l->text + l->used + end + digits, label + end, length - end + 1);
	l->at[method] = l->used;
	l->used += length + digits + 1;
	return 0;
}

/* The slot of the method whose label is the same, or a free one. */
static uint32_t *label_slot(const struct subsume_builder *b, const struct labels *l,
			    uint32_t method)
{
	const char *label = l->text + l->at[method];
	size_t at = siphash(b->key, label, strlen(label)) & (l->capacity - 1);

	while (l->slots[at] && strcmp(l->text + l->at[l->slots[at]], label) != 0)
		at = (at + 1) & (l->capacity - 1);
	return &l->slots[at];
}

/* Methods are told apart wherever they are shown: a label that another method has gets a number.
 * Those that were tried are not tried again. */
static int tell_apart(struct subsume_builder *b, struct labels *l, uint32_t method)
{
	uint32_t *slot = label_slot(b, l, method), first = *slot;
	size_t shown = l->at[method], used = l->used;

	while (*slot) {
		int r;

		l->at[method] = shown;
		l->used = used;
		r = number_label(l, method, ++l->copies[first] + 1);
		if (r < 0)
			return r;
		slot = label_slot(b, l, method);
	}
	*slot = method;
	return 0;
}

static int name_methods(struct subsume_builder *b, struct subsume_tree *tree)
{
	_cleanup_(release_labels) struct labels l = {0};
	int r = init_labels(&l, b->method_count);

	tree->methods = calloc(b->method_count, sizeof(*tree->methods));
	if (!tree->methods)
		return -ENOMEM;
	for (uint32_t m = 0; m < b->method_count && r == 0; m++) {
		const char *name = b->names + b->methods[m].offset;

		tree->methods[m].always_subsumed =
		    m > 0 && subsume_name_always_subsumed(name, strlen(name));
		r = show_name(b, &l, m);
		if (r == 0 && m > 0)
			r = tell_apart(b, &l, m);
	}
	if (r < 0)
		return r;
	for (size_t m = 0; m < b->method_count; m++)
		tree->methods[m].label = l.text + l.at[m];
	tree->method_count = b->method_count;
	tree->names = TAKE_PTR(l.text);
	return 0;
}

int subsume_builder_finish(struct subsume_builder *b, uint64_t samples, const char *unit,
			   struct subsume_tree *out)
{
	struct subsume_tree tree = {.samples = samples,
				    .truncated = b->truncated,
				    .truncated_samples = b->truncated_samples};
	int r;

	/* Large, and needed no more. */
	free(b->children.slots);
	b->children = (struct tree_table){0};
	r = lay_out(b, &tree);
	if (r == 0)
		r = name_methods(b, &tree);
	if (r < 0) {
		subsume_tree_release(&tree);
		return r;
	}
	(void)snprintf(tree.unit, sizeof(tree.unit), "%s", unit);
	*out = tree;
	return 0;
}
