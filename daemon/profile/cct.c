#include "daemon/profile/cct.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "daemon/container/hash.h"
#include "daemon/profile/certainty.h"
#include "proto/limits.h"

void cct_release(struct cct *t)
{
	free(t->nodes);
	free(t->methods);
	hash_index_release(&t->node_index);
	hash_index_release(&t->method_index);
	*t = (struct cct){0};
}

static bool method_matches(const void *table, uint32_t position, const void *key)
{
	const struct cct *t = table;

	return memcmp(&t->methods[position], key, sizeof(struct cct_method)) == 0;
}

int cct_add_method(struct cct *t, const struct cct_method *method, uint32_t *id)
{
	uint32_t hash = hash_bytes(method, sizeof(*method));
	uint32_t position;
	int r;

	if (hash_index_find(&t->method_index, hash, method_matches, t, method, &position)) {
		*id = position + 1;
		return 0;
	}
	if (t->method_count >= LIMIT_METHODS)
		return -ENOSPC;
	r = array_reserve(&t->methods, &t->method_capacity, t->method_count + 1,
			  sizeof(*t->methods));
	if (r < 0)
		return r;
	r = hash_index_insert(&t->method_index, hash, (uint32_t)t->method_count);
	if (r < 0)
		return r;
	t->methods[t->method_count++] = *method;
	*id = (uint32_t)t->method_count;
	return 0;
}

/* The fields that make a node's identity; no padding, so that it can be hashed as bytes. */
struct node_key {
	uint32_t parent;
	uint32_t method;
	int32_t bci;
	int32_t line;
	uint32_t tier;
};

static struct node_key node_key(const struct cct_node *node)
{
	return (struct node_key){.parent = node->parent,
				 .method = node->method,
				 .bci = node->bci,
				 .line = node->line,
				 .tier = node->tier};
}

static bool node_matches(const void *table, uint32_t position, const void *key)
{
	const struct cct *t = table;
	struct node_key own = node_key(&t->nodes[position]);

	return memcmp(&own, key, sizeof(own)) == 0;
}

int cct_add_node(struct cct *t, const struct cct_node *node, uint32_t *id)
{
	struct node_key key = node_key(node);
	uint32_t hash = hash_bytes(&key, sizeof(key));
	size_t depth = cct_depth(t, node->parent) + 1;
	uint32_t position;
	int r;

	assert(node->method <= t->method_count);
	if (hash_index_find(&t->node_index, hash, node_matches, t, &key, &position)) {
		*id = position + 1;
		return 0;
	}
	if (depth > MAX_FRAMES_LIMIT)
		return -E2BIG;
	if (t->node_count >= LIMIT_NODES)
		return -ENOSPC;
	r = array_reserve(&t->nodes, &t->node_capacity, t->node_count + 1, sizeof(*t->nodes));
	if (r < 0)
		return r;
	r = hash_index_insert(&t->node_index, hash, (uint32_t)t->node_count);
	if (r < 0)
		return r;
	t->nodes[t->node_count] = *node;
	t->nodes[t->node_count].depth = (uint16_t)depth;
	*id = (uint32_t)++t->node_count;
	return 0;
}

void cct_mark(struct cct *t, uint32_t id, uint8_t certainty)
{
	assert(id > 0 && id <= t->node_count);
	if (t->nodes[id - 1].certainty < certainty)
		t->nodes[id - 1].certainty = certainty;
}

bool cct_is_told(const struct cct *t, uint32_t id)
{
	const struct cct_node *node = cct_node(t, id);

	return node && certainty_is_told(node->certainty);
}

const struct cct_node *cct_node(const struct cct *t, uint32_t id)
{
	assert(id <= t->node_count);
	return id == 0 ? NULL : &t->nodes[id - 1];
}

const struct cct_method *cct_method(const struct cct *t, uint32_t id)
{
	assert(id <= t->method_count);
	return id == 0 ? NULL : &t->methods[id - 1];
}

size_t cct_depth(const struct cct *t, uint32_t id)
{
	const struct cct_node *node = cct_node(t, id);

	return node ? node->depth : 0;
}

/* Nodes that are looked for by the path of their parent, or by their line. */
struct path_table {
	const struct cct *cct;
	const uint32_t *paths; /* NULL: by line */
};

static struct node_key path_key(const struct path_table *t, uint32_t id)
{
	struct node_key key = node_key(cct_node(t->cct, id));

	key.tier = 0;
	key.parent = t->paths ? t->paths[key.parent] : 0;
	if (!t->paths)
		key.bci = 0;
	return key;
}

static bool path_matches(const void *table, uint32_t position, const void *key)
{
	struct node_key own = path_key(table, position + 1);

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool same_frame(const struct cct *t, uint32_t a, uint32_t b)
{
	struct node_key x = node_key(cct_node(t, a)), y = node_key(cct_node(t, b));

	x.parent = y.parent = 0;
	x.tier = y.tier = 0;
	return memcmp(&x, &y, sizeof(x)) == 0;
}

/* If what was found for the node's parents and the node end in two turns that are the same: the end
 * of the first one. Else 0. */
static uint32_t turn_before(const struct path_table *t, uint32_t id)
{
	uint32_t nodes[2 * CCT_TURN_MAX];
	size_t count = 0;

	for (; id != 0 && count < 2 * CCT_TURN_MAX; id = t->paths[cct_node(t->cct, id)->parent])
		nodes[count++] = id;
	for (size_t frames = 1; 2 * frames <= count; frames++) {
		size_t same = 0;

		while (same < frames && same_frame(t->cct, nodes[same], nodes[same + frames]))
			same++;
		if (same == frames)
			return nodes[frames];
	}
	return 0;
}

enum equal_by { BY_PATH, BY_LINE, BY_TURNS };

static int find_equal(const struct cct *t, enum equal_by by, uint32_t **out)
{
	_cleanup_(hash_index_release) struct hash_index index = {0};
	_cleanup_free_ uint32_t *found = calloc(t->node_count + 1, sizeof(*found));
	struct path_table table = {.cct = t, .paths = by == BY_LINE ? NULL : found};

	if (!found)
		return -ENOMEM;
	for (uint32_t id = 1; id <= t->node_count; id++) {
		struct node_key key = path_key(&table, id);
		uint32_t hash = hash_bytes(&key, sizeof(key));
		uint32_t position;

		found[id] = by == BY_TURNS ? turn_before(&table, id) : 0;
		if (found[id])
			continue;
		if (hash_index_find(&index, hash, path_matches, &table, &key, &position)) {
			found[id] = position + 1;
			continue;
		}
		if (hash_index_insert(&index, hash, id - 1) < 0)
			return -ENOMEM;
		found[id] = id;
	}
	*out = TAKE_PTR(found);
	return 0;
}

int cct_paths(const struct cct *t, uint32_t **paths)
{
	return find_equal(t, BY_PATH, paths);
}

int cct_lines(const struct cct *t, uint32_t **lines)
{
	return find_equal(t, BY_LINE, lines);
}

int cct_turns(const struct cct *t, uint32_t **turns)
{
	return find_equal(t, BY_TURNS, turns);
}
