#include "attach/agent/jvm/place_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/java_name.h"
#include "attach/agent/jvm/klass_fields.h"
#include "attach/agent/place/klass.h"
#include "attach/agent/place/object_header.h"

/* No class of a real program has so many superclasses. */
#define SUPERS_MAX 64u

/* The mark word's bytes; what else a header has lies behind it. */
#define MARK_BYTES 8u

void place_name_release(struct place_name *n)
{
	free(n->class_name);
	free(n->field);
	free(n->declared_in);
	free(n->type);
	*n = (struct place_name){0};
}

/* The Java name of a class; to be freed, or NULL. */
static char *class_name(uint64_t klass)
{
	char *symbol = klass_symbol(klass);
	char *name = symbol ? java_name_of_symbol(symbol) : NULL;

	free(symbol);
	return name;
}

static void set_element(struct place_name *n, char type)
{
	n->typed = true;
	n->element = ELEMENT_INTEGER;
	if (type == 'F')
		n->element = ELEMENT_FLOAT32;
	else if (type == 'D')
		n->element = ELEMENT_FLOAT64;
}

static void set_layout(struct place_name *n, const struct place *p, uint32_t offset, uint32_t bytes)
{
	if (p->words > UINT32_MAX / 8)
		return;
	n->offset = offset;
	n->bytes = bytes;
	n->object_bytes = p->words * 8;
}

static bool set_field(struct place_name *n, Jxp__Location__Kind kind, uint64_t declared_in,
		      struct klass_field *f)
{
	n->kind = kind;
	n->field = f->name;
	f->name = NULL;
	n->declared_in = class_name(declared_in);
	n->type = java_name_of(f->signature);
	set_element(n, f->signature[0]);
	klass_field_release(f);
	return n->declared_in && n->type;
}

static unsigned reference_bytes(const struct object_layout *layout)
{
	return layout->oops.used ? 4 : 8;
}

/* A field of an object, its class's or a superclass's. */
static bool name_field(const struct object_layout *layout, const struct place *p, uint64_t klass,
		       struct place_name *n)
{
	struct klass_field f;

	for (unsigned i = 0; klass && i < SUPERS_MAX; i++, klass = klass_super(klass)) {
		if (!klass_field_at(klass, p->offset, false, reference_bytes(layout), &f))
			continue;
		set_layout(n, p, f.offset, f.bytes);
		return set_field(n, JXP__LOCATION__KIND__FIELD, klass, &f);
	}
	return true; /* Padding, or one of the JVM's own. */
}

/* Names a place in the object that stands for a class: the class's static fields lie in there, too.
 */
static bool name_static(const struct object_layout *layout, const struct place *p, uint64_t klass,
			struct place_name *n)
{
	uint64_t subject = klass_address(p->subject);
	struct klass_field f;
	char *name;

	if (!subject || !klass_field_at(subject, p->offset, true, reference_bytes(layout), &f))
		return name_field(layout, p, klass, n);
	name = class_name(subject);
	if (!name) {
		klass_field_release(&f);
		return false;
	}
	free(n->class_name);
	n->class_name = name;
	return set_field(n, JXP__LOCATION__KIND__STATIC, subject, &f);
}

static bool name_header(const struct object_layout *layout, const struct place *p, bool array,
			struct place_name *n)
{
	const char *part = "class";

	if (p->offset < MARK_BYTES)
		part = "mark";
	else if (array && p->offset >= layout->array_length)
		part = "length";
	n->kind = JXP__LOCATION__KIND__HEADER;
	n->field = strdup(part);
	set_element(n, 0);
	if (!array && p->offset < MARK_BYTES)
		set_layout(n, p, 0, MARK_BYTES);
	else if (!array)
		set_layout(n, p, MARK_BYTES, object_header_end(layout) - MARK_BYTES);
	return n->field;
}

static bool name_element(const char *array, struct place_name *n)
{
	size_t length = strlen(array);

	n->kind = JXP__LOCATION__KIND__ELEMENT;
	n->type = length > 2 ? strndup(array, length - 2) : NULL; /* Without "[]". */
	if (!n->type)
		return false;
	if (strcmp(n->type, "float") == 0)
		set_element(n, 'F');
	else if (strcmp(n->type, "double") == 0)
		set_element(n, 'D');
	else
		set_element(n, 0);
	return true;
}

static bool name_object(const struct object_layout *layout, const struct place *p, uint64_t klass,
			struct place_name *n)
{
	int32_t layout_helper;
	bool array;

	if (!safe_read(klass + layout->klass_layout, &layout_helper, sizeof(layout_helper)))
		return false;
	array = klass_is_array(layout_helper);
	if (p->element)
		return name_element(n->class_name, n);
	if (array || p->offset < object_header_end(layout))
		return name_header(layout, p, array, n);
	if (p->subject)
		return name_static(layout, p, klass, n);
	return name_field(layout, p, klass, n);
}

/* In one piece: was there no other class there while its names were read? */
static bool still_there(const struct object_layout *layout, const struct region_map *regions,
			const struct place *p)
{
	return klass_vouches(layout, regions, klass_address(p->klass)) &&
	       (!p->subject || klass_vouches(layout, regions, klass_address(p->subject)));
}

bool place_name_resolve(const struct object_layout *layout, const struct region_map *regions,
			const struct place *place, struct place_name *out)
{
	uint64_t klass = klass_address(place->klass);
	struct place_name n = {.kind = JXP__LOCATION__KIND__UNKNOWN};

	klass_fields_look_anew();
	n.class_name = class_name(klass);
	if (n.class_name && name_object(layout, place, klass, &n) &&
	    still_there(layout, regions, place)) {
		*out = n;
		return true;
	}
	place_name_release(&n);
	return false;
}
