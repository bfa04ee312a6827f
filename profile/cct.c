#include "profile/cct.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "profile/container/hash.h"
#include "profile/certainty.h"
#include "profile/tables.h"
#include "proto/limits.h"

static const struct column method_columns[] = {
    COLUMN(struct cct_method, class_name, .role = COLUMN_CLASS),
    COLUMN(struct cct_method, name, .role = COLUMN_NAME),
    COLUMN(struct cct_method, file, .role = COLUMN_NAME),
};

const struct table_layout cct_method_layout = {
    TABLE_COLUMNS(method_columns),
    .row_size = sizeof(struct cct_method),
    .key_words = 3,
    .limit = LIMIT_METHODS,
};

static const struct column node_columns[] = {
    COLUMN(struct cct_node, parent, .role = COLUMN_OLDER),
    COLUMN(struct cct_node, method, .role = COLUMN_ID, .table = TABLE_METHODS),
    COLUMN(struct cct_node, bci),
    COLUMN(struct cct_node, line),
    COLUMN(struct cct_node, tier, .below = JXP__TIER__TIER_NATIVE + 1),
    COLUMN(struct cct_node, certainty, .role = COLUMN_MOST, .below = CERTAINTY_VALUES),
};

const struct table_layout cct_node_layout = {
    TABLE_COLUMNS(node_columns),
    .row_size = sizeof(struct cct_node),
    .key_words = 5,
    .limit = LIMIT_NODES,
};

void cct_release(struct cct *t)
{
	row_table_release(&t->node_table);
	row_table_release(&t->method_table);
}

int cct_add_method(struct cct *t, const struct cct_method *method, uint32_t *id)
{
	uint32_t position;
	int r = row_table_add(&t->method_table, &cct_method_layout, method, &position);

	if (r < 0)
		return r;
	*id = position + 1;
	return 0;
}

int cct_add_node(struct cct *t, const struct cct_node *node, uint32_t *id)
{
	size_t depth = cct_depth(t, node->parent) + 1;
	uint32_t position;
	int r;

	assert(node->method <= t->method_count);
	if (depth > MAX_FRAMES_LIMIT)
		return -E2BIG;
	r = row_table_add(&t->node_table, &cct_node_layout, node, &position);
	if (r < 0)
		return r;
	if (r > 0) {
		t->nodes[position].depth = (uint16_t)depth;
		t->nodes[position].certainty = node->certainty;
	}
	*id = position + 1;
	return 0;
}

bool cct_measure(struct cct *t)
{
	for (size_t i = 0; i < t->node_count; i++) {
		size_t depth = cct_depth(t, t->nodes[i].parent) + 1;

		if (depth > MAX_FRAMES_LIMIT)
			return false;
		t->nodes[i].depth = (uint16_t)depth;
	}
	return true;
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

/* A node's identity for them: no padding, so that it can be hashed as bytes. */
struct path_key {
	uint32_t parent;
	uint32_t method;
	int32_t bci;
	int32_t line;
};

#define PATH_WORDS (sizeof(struct path_key) / sizeof(uint32_t))

static struct path_key path_key(const struct path_table *t, uint32_t id)
{
	const struct cct_node *node = cct_node(t->cct, id);

	return (struct path_key){.parent = t->paths ? t->paths[node->parent] : 0,
				 .method = node->method,
				 .bci = t->paths ? node->bci : 0,
				 .line = node->line};
}

static bool path_matches(const void *table, uint32_t position, const void *key)
{
	struct path_key own = path_key(table, position + 1);

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool same_frame(const struct cct *t, uint32_t a, uint32_t b)
{
	const struct cct_node *x = cct_node(t, a), *y = cct_node(t, b);

	return x->method == y->method && x->bci == y->bci && x->line == y->line;
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
		struct path_key key = path_key(&table, id);
		uint32_t hash = hash_ids(&key, PATH_WORDS);
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
