#include "report/problems/walks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

/* Names of nodes' classes, sorted. */
struct nodes {
	const char **names;
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* key: a type, up to its brackets. */
static int compare_type(const void *key, const void *b)
{
	const char *type = key, *name = *(const char *const *)b;
	size_t length = strcspn(type, "[");
	int r = strncmp(type, name, length);

	return r ? r : -(int)(name[length] != '\0');
}

/* Is this one, or an array of them? */
static bool has(const struct nodes *nodes, const char *type)
{
	return nodes->count > 0 && bsearch(type, nodes->names, nodes->count, sizeof(*nodes->names),
					   compare_type) != NULL;
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
	for (size_t i = 0; i < l->count; i++)
		if (is_link(&l->list[i]))
			names[nodes.count++] = strings_get(&p->strings, l->list[i].declared_in);
	qsort(names, nodes.count, sizeof(*names), compare_names);
	for (size_t i = 0; i < l->count; i++)
		(*walked)[i + 1] = is_walked(p, &nodes, &l->list[i]);
	return 0;
}
