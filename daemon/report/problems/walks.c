#include "daemon/report/problems/walks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

/* Names of nodes' classes. */
struct nodes {
	const char **names;
	size_t count;
};

/* Is this one, or an array of them? */
static bool has(const struct nodes *nodes, const char *type)
{
	for (size_t i = 0; i < nodes->count; i++) {
		size_t length = strlen(nodes->names[i]);

		if (strncmp(type, nodes->names[i], length) == 0 &&
		    (type[length] == '\0' || type[length] == '['))
			return true;
	}
	return false;
}

static bool is_link(const struct location *l)
{
	return l->kind == JXP__LOCATION__KIND__FIELD && l->type && l->type == l->declared_in;
}

static bool is_walked(const struct profile *p, const struct nodes *nodes, const struct location *l)
{
	switch ((Jxp__Location__Kind)l->kind) {
	case JXP__LOCATION__KIND__HEADER:
		return true;
	case JXP__LOCATION__KIND__FIELD:
		return has(nodes, strings_get(&p->strings, l->declared_in)) ||
		       has(nodes, strings_get(&p->strings, l->type));
	case JXP__LOCATION__KIND__ELEMENT:
		return has(nodes, strings_get(&p->strings, l->class_name));
	default:
		return false;
	}
}

int walks_new(const struct profile *p, bool **walked)
{
	const struct locations *l = &p->locations;
	_cleanup_free_ const char **names = calloc(l->count + 1, sizeof(*names));
	struct nodes nodes = {.names = names};

	*walked = calloc(l->count + 1, sizeof(**walked));
	if (!*walked || !names) {
		free(*walked);
		*walked = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < l->count; i++) {
		const char *name = strings_get(&p->strings, l->list[i].declared_in);

		if (is_link(&l->list[i]) && !has(&nodes, name))
			names[nodes.count++] = name;
	}
	for (size_t i = 0; i < l->count; i++)
		(*walked)[i + 1] = is_walked(p, &nodes, &l->list[i]);
	return 0;
}
