#include "fleet/config/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/siphash.h"

/* Deeper than any configuration; a hostile text could nest without end. */
#define DEPTH_MAX 8

static uint64_t hash_of(const yaml_node_t *value)
{
	static const uint64_t key[2]; /* Nobody has a reason to choose texts that look alike. */

	return value->type == YAML_SCALAR_NODE
		   ? siphash(key, value->data.scalar.value, value->data.scalar.length)
		   : 0;
}

static int add(struct places *p, const char *path, const yaml_mark_t *mark,
	       const yaml_node_t *value)
{
	struct config_place *place;

	if (p->count == p->capacity) {
		size_t capacity = p->capacity ? 2 * p->capacity : 64;
		struct config_place *grown = reallocarray(p->places, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->places = grown;
		p->capacity = capacity;
	}
	place = &p->places[p->count++];
	(void)snprintf(place->path, sizeof(place->path), "%s", path); /* Both have the same size. */
	place->line = (unsigned)mark->line + 1;
	place->column = (unsigned)mark->column + 1;
	place->value = hash_of(value);
	return 0;
}

static int walk(struct places *p, yaml_document_t *document, int index, const char *path,
		unsigned depth, struct err *err);

static int walk_mapping(struct places *p, yaml_document_t *document, const yaml_node_t *node,
			const char *path, unsigned depth, struct err *err)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;

	for (; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(document, pair->key);
		char inner[PLACE_PATH_BYTES];
		int r;

		if (key->type != YAML_SCALAR_NODE)
			return err_set(err, EINVAL, "%zu:%zu: a key has to be a word",
				       key->start_mark.line + 1, key->start_mark.column + 1);
		(void)snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] ? "." : "",
			       (const char *)key->data.scalar.value); /* May be cut. */
		if (add(p, inner, &key->start_mark, yaml_document_get_node(document, pair->value)) <
		    0)
			return err_set(err, ENOMEM, "out of memory");
		if ((r = walk(p, document, pair->value, inner, depth + 1, err)) < 0)
			return r;
	}
	return 0;
}

static int walk_sequence(struct places *p, yaml_document_t *document, const yaml_node_t *node,
			 const char *path, unsigned depth, struct err *err)
{
	const yaml_node_item_t *start = node->data.sequence.items.start;

	for (const yaml_node_item_t *i = start; i < node->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(document, *i);
		char inner[PLACE_PATH_BYTES];
		int r;

		(void)snprintf(inner, sizeof(inner), "%s[%td]", path, i - start); /* May be cut. */
		if (add(p, inner, &item->start_mark, item) < 0)
			return err_set(err, ENOMEM, "out of memory");
		if ((r = walk(p, document, *i, inner, depth + 1, err)) < 0)
			return r;
	}
	return 0;
}

static int walk(struct places *p, yaml_document_t *document, int index, const char *path,
		unsigned depth, struct err *err)
{
	const yaml_node_t *node = yaml_document_get_node(document, index);

	if (depth > DEPTH_MAX)
		return err_set(err, EINVAL, "%zu:%zu: nested too deeply", node->start_mark.line + 1,
			       node->start_mark.column + 1);
	if (node->type == YAML_MAPPING_NODE)
		return walk_mapping(p, document, node, path, depth, err);
	if (node->type == YAML_SEQUENCE_NODE)
		return walk_sequence(p, document, node, path, depth, err);
	return 0;
}

static int no_yaml(const yaml_parser_t *parser, struct err *err)
{
	return err_set(err, EINVAL, "%zu:%zu: %s%s%s", parser->problem_mark.line + 1,
		       parser->problem_mark.column + 1,
		       parser->problem ? parser->problem : "not YAML", parser->context ? " " : "",
		       parser->context ? parser->context : "");
}

/* A word or an empty list alone has no place, and would pass for an empty file. */
static int check_root(const yaml_node_t *root, struct err *err)
{
	if (!root || root->type == YAML_MAPPING_NODE ||
	    (root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0) ||
	    (root->type == YAML_SEQUENCE_NODE &&
	     root->data.sequence.items.top > root->data.sequence.items.start))
		return 0;
	return err_set(err, EINVAL, "%zu:%zu: keys and their values belong here",
		       root->start_mark.line + 1, root->start_mark.column + 1);
}

int places_find(struct places *p, const char *text, size_t size, struct err *err)
{
	yaml_parser_t parser;
	yaml_document_t document;
	int r = 0;

	*p = (struct places){0};
	if (!yaml_parser_initialize(&parser))
		return err_set(err, ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &document)) {
		r = parser.error == YAML_MEMORY_ERROR ? err_set(err, ENOMEM, "out of memory")
						      : no_yaml(&parser, err);
	} else {
		r = check_root(yaml_document_get_root_node(&document), err);
		if (r == 0 && yaml_document_get_root_node(&document))
			r = walk(p, &document, 1, "", 0, err);
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return r;
}

const struct config_place *places_of(const struct places *p, const char *path)
{
	static const struct config_place start = {.line = 1, .column = 1};
	char wanted[PLACE_PATH_BYTES];

	(void)snprintf(wanted, sizeof(wanted), "%s", path); /* Those of places are cut alike. */
	while (wanted[0]) {
		char *end = wanted;

		for (size_t i = 0; i < p->count; i++)
			if (strcmp(p->places[i].path, wanted) == 0)
				return &p->places[i];
		for (char *c = wanted; *c; c++)
			if (*c == '.' || *c == '[')
				end = c;
		*end = '\0';
	}
	return &start;
}

void places_release(struct places *p)
{
	free(p->places);
	*p = (struct places){0};
}
