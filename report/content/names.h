/*
 * The names of a profile's methods and of places in memory. A name that is not known is "".
 */
#ifndef JXPERF_REPORT_CONTENT_NAMES_H
#define JXPERF_REPORT_CONTENT_NAMES_H

#include "common/label.h"
#include "profile/profile.h"

struct method_names {
	bool known;
	const char *class_name, *name, *file;
};

struct place_names {
	Jxp__Location__Kind kind;
	const char *class_name, *field, *declared_in, *type;
	const char *owner; /* of the field: the class that declares it, as far as that is told */
};

static inline struct method_names method_names(const struct profile *p, uint32_t method)
{
	const struct cct_method *m = cct_method(&p->cct, method);

	if (!m)
		return (struct method_names){false, "", "", ""};
	return (struct method_names){true, strings_get(&p->strings, m->class_name),
				     strings_get(&p->strings, m->name),
				     strings_get(&p->strings, m->file)};
}

/* The names in a node's frame; none where there is no node. */
static inline struct method_names frame_names(const struct profile *p, uint32_t node)
{
	const struct cct_node *n = cct_node(&p->cct, node);

	return method_names(p, n ? n->method : 0);
}

static inline struct place_names place_names(const struct profile *p, uint32_t location)
{
	struct location l = locations_get(&p->locations, location);

	return (struct place_names){
	    .kind = (Jxp__Location__Kind)l.kind,
	    .class_name = strings_get(&p->strings, l.class_name),
	    .field = strings_get(&p->strings, l.field),
	    .declared_in = strings_get(&p->strings, l.declared_in),
	    .type = strings_get(&p->strings, l.type),
	    .owner = strings_get(&p->strings, l.declared_in ? l.declared_in : l.class_name)};
}

#endif
