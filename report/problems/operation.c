#include "report/problems/operation.h"

#include <string.h>

/* The most frames between an access and the method that has called both. */
#define NEAR_MAX 3

static uint32_t parent_of(const struct profile *p, uint32_t node)
{
	return node ? cct_node(&p->cct, node)->parent : 0;
}

static unsigned depth_of(const struct profile *p, uint32_t node)
{
	return node ? cct_node(&p->cct, node)->depth : 0;
}

/* Frames of one method that were called from the same place: of one call, it may be. */
static bool is_one_frame(const struct pair_scope *s, uint32_t a, uint32_t b)
{
	const struct profile *p = &s->window->profile;

	return cct_node_method(&p->cct, a) == cct_node_method(&p->cct, b) &&
	       s->paths[parent_of(p, a)] == s->paths[parent_of(p, b)];
}

/* The frame in which two contexts part, as the first one has it; 0 where it is not near to both. */
static uint32_t shared_frame(const struct pair_scope *s, uint32_t a, uint32_t b)
{
	const struct profile *p = &s->window->profile;
	unsigned steps = 0;

	while (a && b && !is_one_frame(s, a, b)) {
		unsigned depth_a = depth_of(p, a), depth_b = depth_of(p, b);

		if (steps++ == NEAR_MAX)
			return 0;
		a = depth_a >= depth_b ? parent_of(p, a) : a;
		b = depth_b >= depth_a ? parent_of(p, b) : b;
	}
	return a && b ? a : 0;
}

struct operation operation_of(const struct pair_scope *s, const struct pair *pair)
{
	const struct profile *p = &s->window->profile;
	uint32_t removable = pair_removable_node(pair);
	uint32_t other = removable == pair->watch_node ? pair->trap_node : pair->watch_node;
	uint32_t shared = 0;

	if (cct_node_method(&p->cct, removable) != cct_node_method(&p->cct, other))
		shared = shared_frame(s, removable, other);
	if (cct_node_method(&p->cct, shared) == 0)
		shared = removable;
	return (struct operation){.method = cct_node_method(&p->cct, shared), .node = shared};
}

bool operation_is_one_call(const struct pair_scope *s, const struct pair *pair)
{
	const struct profile *p = &s->window->profile;

	return pair->watch_node && pair->trap_node &&
	       cct_node(&p->cct, pair->watch_node)->bci !=
		   cct_node(&p->cct, pair->trap_node)->bci &&
	       is_one_frame(s, pair->watch_node, pair->trap_node);
}

static const char *class_name(const struct profile *p, uint32_t method)
{
	const struct cct_method *m = cct_method(&p->cct, method);

	return m ? strings_get(&p->strings, m->class_name) : "";
}

bool operation_is_scaffolding(const struct profile *p, uint32_t node)
{
	static const char *const words[] = {"Iterator", "Itr",     "Spliterator",
					    "Wrapper",  "Adapter", "Enumerat"};
	const char *name = class_name(p, cct_node_method(&p->cct, node));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

bool operation_method_is_basic(const struct profile *p, uint32_t method)
{
	static const char *const packages[] = {"java.lang.",   "java.util.", "java.io.",
					       "java.nio.",    "java.math.", "java.text.",
					       "jdk.internal."};
	const char *name = class_name(p, method);

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strncmp(name, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

bool operation_is_basic(const struct profile *p, uint32_t node)
{
	return operation_method_is_basic(p, cct_node_method(&p->cct, node));
}

uint32_t operation_caller(const struct profile *p, uint32_t node)
{
	uint32_t caller = parent_of(p, node);

	while (caller && cct_node_method(&p->cct, caller) == cct_node_method(&p->cct, node))
		caller = parent_of(p, caller);
	if (!operation_is_basic(p, node))
		return caller;
	for (uint32_t at = caller; at; at = parent_of(p, at))
		if (!operation_is_basic(p, at))
			return at;
	return caller;
}
