#include "report/problems/problem_kind.h"

#include <string.h>

#include "report/problems/operation.h"

const struct problem_words problem_words[PROBLEM_KINDS] = {
    [PROBLEM_COPIED] = {"copied", "copies", "",
			"reading the original, or copying what is used alone", true},
    [PROBLEM_CLEARED] = {"cleared", "clears", "", "no clearing of what will be filled", true},
    [PROBLEM_GROWN] = {"grown", "copies", " to grow it",
		       "beginning with the size that it has in the end", true},
    [PROBLEM_OVERWRITTEN] = {"overwritten", "stores", "", "storing once, when the value is final",
			     false},
    [PROBLEM_REWRITTEN] = {"rewritten", "stores", " again", "storing what has changed alone",
			   false},
    [PROBLEM_SEARCHED] = {"searched", "goes over", " again",
			  "a set or a map, or going on where the last search ended", false},
    [PROBLEM_BOOKKEEPING] = {"bookkeeping", "loads", " again",
			     "working on whole blocks, with the bounds looked at once", false},
    [PROBLEM_SCAFFOLDING] = {"scaffolding", "goes through", " for each element",
			     "going over the array or list itself", false},
    [PROBLEM_REPEATED] = {"repeated", "loads", " again",
			  "keeping the result until what it is made of changes", false},
    [PROBLEM_ALLOCATED] = {"allocated", "allocates", "",
			   "values without objects around them, one object that is used again, or "
			   "none where nobody keeps it",
			   false},
};

/* ---------------------------------------------------------------- names */

/* Does it begin with one of these, up to the empty one? */
static bool begins(const char *name, const char *const *words)
{
	for (; **words; words++)
		if (strncmp(name, *words, strlen(*words)) == 0)
			return true;
	return false;
}

static const struct cct_method *method_at(const struct profile *p, uint32_t node)
{
	const struct cct_node *n = cct_node(&p->cct, node);

	return n ? cct_method(&p->cct, n->method) : NULL;
}

static const char *method_name(const struct profile *p, const struct cct_method *m)
{
	return m ? strings_get(&p->strings, m->name) : "";
}

static bool clears(const struct profile *p, const struct pair *pair)
{
	static const char *const words[] = {"clear", "fill",      "reset", "zero",
					    "wipe",  "setMemory", ""};

	return begins(method_name(p, method_at(p, pair->watch_node)), words);
}

static bool copies(const struct profile *p, const struct pair *pair)
{
	static const char *const words[] = {"arraycopy", "copy",     "clone",   "setValues",
					    "assign",    "getChars", "toArray", ""};

	return begins(method_name(p, method_at(p, pair->watch_node)), words);
}

static bool grows(const struct profile *p, const struct pair *pair)
{
	static const char *const words[] = {"grow",   "ensureCapacity", "newCapacity", "resize",
					    "rehash", "expand",         "copyOf",      ""};

	return begins(method_name(p, method_at(p, pair->watch_node)), words) ||
	       begins(method_name(p, method_at(p, pair->trap_node)), words);
}

/* ---------------------------------------------------------------- weights */

/* The part of the weight that is elements of arrays of references where objects are gone over. */
#define OBJECTS_PART 0.15

struct tally {
	double all, clears, copies, grows, wraps, objects, own_fields;
	double same; /* both accesses are one bytecode's */
	uint32_t first_field;
	bool several_fields; /* and there is another one */
};

/* A field of the object whose method loads it, and has loaded it before. */
static bool is_own_field(const struct profile *p, const struct pair *pair, const struct location *l)
{
	const struct cct_method *first = method_at(p, pair->watch_node);
	const struct cct_method *second = method_at(p, pair->trap_node);

	return l->kind == JXP__LOCATION__KIND__FIELD && first && first == second &&
	       (first->class_name == l->declared_in || first->class_name == l->class_name);
}

/* An element of an array of references: who goes over that goes over objects. */
static bool is_of_objects(const struct profile *p, const struct location *l)
{
	static const char *const primitives[] = {"boolean", "byte",  "char",   "short", "int",
						 "long",    "float", "double", ""};

	return l->kind == JXP__LOCATION__KIND__ELEMENT && l->type &&
	       !begins(strings_get(&p->strings, l->type), primitives);
}

static bool is_one_bytecode(const struct profile *p, const struct pair *pair)
{
	const struct cct_node *first = cct_node(&p->cct, pair->watch_node);
	const struct cct_node *second = cct_node(&p->cct, pair->trap_node);

	return first && second && first->method == second->method && first->bci == second->bci;
}

static void count_field(struct tally *t, const struct location *l)
{
	if (l->kind != JXP__LOCATION__KIND__FIELD)
		return;
	if (!t->first_field)
		t->first_field = l->field;
	t->several_fields = t->several_fields || l->field != t->first_field;
}

static void add(struct tally *t, const struct profile *p, const struct group_member *m)
{
	struct location l = locations_get(&p->locations, m->pair->location);

	t->all += m->weight;
	t->clears += clears(p, m->pair) ? m->weight : 0;
	t->copies += copies(p, m->pair) ? m->weight : 0;
	t->grows += grows(p, m->pair) ? m->weight : 0;
	t->wraps += operation_is_scaffolding(p, pair_removable_node(m->pair)) ? m->weight : 0;
	t->same += is_one_bytecode(p, m->pair) ? m->weight : 0;
	t->objects += is_of_objects(p, &l) ? m->weight : 0;
	t->own_fields += is_own_field(p, m->pair, &l) ? m->weight : 0;
	count_field(t, &l);
}

static bool is_most(double part, const struct tally *t)
{
	return 2 * part > t->all;
}

static enum problem_kind of_dead_stores(const struct tally *t)
{
	if (is_most(t->grows, t))
		return PROBLEM_GROWN;
	if (is_most(t->clears, t))
		return PROBLEM_CLEARED;
	if (is_most(t->wraps, t))
		return PROBLEM_SCAFFOLDING;
	return is_most(t->copies, t) || (t->several_fields && is_most(t->same, t))
		   ? PROBLEM_COPIED
		   : PROBLEM_OVERWRITTEN;
}

static bool searches(const struct profile *p, uint32_t method)
{
	static const char *const words[] = {"indexOf", "lastIndexOf", "contains", "find", "search",
					    "lookup",  "remove",      "isIn",     ""};

	const char *name = method_name(p, cct_method(&p->cct, method));

	return begins(name, words) || strstr(name, "Search");
}

static enum problem_kind of_silent_loads(const struct profile *p, const struct pair_group *group,
					 const struct tally *t)
{
	if (is_most(t->wraps, t))
		return PROBLEM_SCAFFOLDING;
	if (searches(p, group->method) || t->objects > OBJECTS_PART * t->all)
		return PROBLEM_SEARCHED;
	return is_most(t->own_fields, t) ? PROBLEM_BOOKKEEPING : PROBLEM_REPEATED;
}

enum problem_kind problem_kind_of(const struct pair_scope *s, const struct pair_group *group,
				  Jxp__Kind main)
{
	const struct profile *p = &s->window->profile;
	struct tally t = {0};

	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].pair->kind == main && group->members[i].weight > 0)
			add(&t, p, &group->members[i]);
	switch (main) {
	case JXP__KIND__KIND_DEAD_STORE:
		return of_dead_stores(&t);
	case JXP__KIND__KIND_SILENT_STORE:
		return PROBLEM_REWRITTEN;
	default:
		return of_silent_loads(p, group, &t);
	}
}

/* Nobody needs a set for what is found by halving, nor for fields. */
static bool is_search_of_many(const struct profile *p, const struct problem *problem)
{
	const char *name = method_name(p, cct_method(&p->cct, problem->method));

	return !problem->all_fields && !strstr(name, "binarySearch") && !strstr(name, "compare");
}

const char *problem_advice(const struct profile *p, const struct problem *problem)
{
	if (problem->kind == PROBLEM_SEARCHED && problem->largest && !is_search_of_many(p, problem))
		return problem_words[PROBLEM_REPEATED].advice;
	if (problem->kind == PROBLEM_ALLOCATED && problem->allocated.class_count > 0 &&
	    strstr(strings_get(&p->strings, problem->allocated.classes[0].name), "[]"))
		return "one array that is used again, or of the right size from the beginning";
	return problem_words[problem->kind].advice;
}
