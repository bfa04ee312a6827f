#include "profile/combine/names.h"

#include <errno.h>
#include <stdlib.h>

#include "common/saturate.h"
#include "compare/side.h"

/* What r says of adding something: what does not fit is lost. */
static int added(int r, enum loss loss, uint32_t *out, uint64_t losses[LOSS_MAX])
{
	if (r != -ENOSPC && r != -E2BIG)
		return r;
	saturate_add(&losses[loss], 1);
	*out = 0;
	return 0;
}

int names_intern(struct profile *to, const char *text, uint32_t *out, uint64_t losses[LOSS_MAX])
{
	return added(strings_intern(&to->strings, text, out), LOSS_STRINGS, out, losses);
}

int names_add_method(struct profile *to, const struct cct_method *method, uint32_t *out,
		     uint64_t losses[LOSS_MAX])
{
	return added(cct_add_method(&to->cct, method, out), LOSS_METHODS, out, losses);
}

int names_add_node(struct profile *to, const struct cct_node *node, uint32_t *out,
		   uint64_t losses[LOSS_MAX])
{
	return added(cct_add_node(&to->cct, node, out), LOSS_NODES, out, losses);
}

int names_add_location(struct profile *to, const struct location *location, uint32_t *out,
		       uint64_t losses[LOSS_MAX])
{
	return added(locations_add(&to->locations, location, out), LOSS_LOCATIONS, out, losses);
}

int names_text(struct profile *to, const struct profile *from, uint32_t id, uint32_t *out,
	       uint64_t losses[LOSS_MAX])
{
	return names_intern(to, strings_get(&from->strings, id), out, losses);
}

int names_class(struct profile *to, const struct profile *from, uint32_t id, uint32_t *out,
		uint64_t losses[LOSS_MAX])
{
	char name[LIMIT_STRING_BYTES + 1];

	return names_intern(to, compare_unnumbered(name, strings_get(&from->strings, id)), out,
			    losses);
}

static int map_method(struct profile *to, const struct profile *from,
		      const struct cct_method *method, enum names_by by, uint32_t *out,
		      uint64_t losses[LOSS_MAX])
{
	struct cct_method known = {0};
	int r = names_class(to, from, method->class_name, &known.class_name, losses);

	if (r == 0)
		r = names_text(to, from, method->name, &known.name, losses);
	if (r == 0 && by == NAMES_WITH_LINES)
		r = names_text(to, from, method->file, &known.file, losses);
	return r < 0 ? r : names_add_method(to, &known, out, losses);
}

static int map_node(struct names_map *m, struct profile *to, const struct cct_node *node,
		    enum names_by by, uint32_t *out, uint64_t losses[LOSS_MAX])
{
	struct cct_node known = {.parent = m->nodes[node->parent],
				 .method = m->methods[node->method],
				 .bci = -1,
				 .line = -1};
	int r;

	if (by == NAMES_WITH_LINES) {
		known.bci = node->bci;
		known.line = node->line;
		known.tier = node->tier;
	}
	/* A context whose root did not fit would be taken for another one. */
	if (node->parent && !known.parent)
		return added(-ENOSPC, LOSS_NODES, out, losses);
	r = names_add_node(to, &known, out, losses);
	if (r == 0 && *out && by == NAMES_WITH_LINES && node->certainty)
		cct_mark(&to->cct, *out, node->certainty);
	return r;
}

static int map_location(struct profile *to, const struct profile *from,
			const struct location *location, uint32_t *out, uint64_t losses[LOSS_MAX])
{
	struct location known = {.kind = location->kind,
				 .offset = location->offset,
				 .bytes = location->bytes,
				 .object_bytes = location->object_bytes};
	int r = names_class(to, from, location->class_name, &known.class_name, losses);

	if (r == 0)
		r = names_text(to, from, location->field, &known.field, losses);
	if (r == 0)
		r = names_class(to, from, location->declared_in, &known.declared_in, losses);
	if (r == 0)
		r = names_class(to, from, location->type, &known.type, losses);
	return r < 0 ? r : names_add_location(to, &known, out, losses);
}

int names_map_init(struct names_map *m, struct profile *to, const struct profile *from,
		   enum names_by by, uint64_t losses[LOSS_MAX])
{
	int r = 0;

	*m = (struct names_map){.methods = calloc(from->cct.method_count + 1, sizeof(*m->methods)),
				.nodes = calloc(from->cct.node_count + 1, sizeof(*m->nodes)),
				.locations =
				    calloc(from->locations.count + 1, sizeof(*m->locations))};
	if (!m->methods || !m->nodes || !m->locations)
		r = -ENOMEM;
	for (size_t i = 0; i < from->cct.method_count && r == 0; i++)
		r = map_method(to, from, &from->cct.methods[i], by, &m->methods[i + 1], losses);
	/* Parents are older than their children. */
	for (size_t i = 0; i < from->cct.node_count && r == 0; i++)
		r = map_node(m, to, &from->cct.nodes[i], by, &m->nodes[i + 1], losses);
	for (size_t i = 0; i < from->locations.count && r == 0; i++)
		r = map_location(to, from, &from->locations.list[i], &m->locations[i + 1], losses);
	if (r < 0)
		names_map_release(m);
	return r;
}

void names_map_release(struct names_map *m)
{
	free(m->methods);
	free(m->nodes);
	free(m->locations);
	*m = (struct names_map){0};
}
