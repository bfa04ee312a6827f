/* The metadata event of a chunk: a pool of strings, and a tree of elements with attributes, as
 * jdk.jfr.internal.MetadataReader reads it. */
#include "subsume/import/jfr_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

/* root, metadata, class, field, annotation, and what may come. */
#define ELEMENT_DEPTH_MAX 16u

/* Structures in structures. */
#define STRUCT_DEPTH_MAX 32u

/* An element has a name and two counts. */
#define ELEMENT_LEAST   3u
#define ATTRIBUTE_LEAST 2u

void jfr_types_release(struct jfr_types *t)
{
	free(t->types);
	free(t->fields);
	free(t->text);
	free(t->strings);
	ids_release(&t->by_id);
	*t = (struct jfr_types){0};
}

/* ---------------------------------------------------------------- strings */

/* Texts never take more than three bytes for one of the file's, and a NUL. */
static int read_strings(struct jfr_types *t, struct jfr_cursor *c)
{
	size_t count = jfr_count(c, 1);
	struct jfr_cursor texts = *c;
	size_t room, used = 0;
	uint64_t id;

	if (c->wrong)
		return -EBADMSG;
	/* Where the strings end is found first: what is behind them needs no room. */
	for (size_t i = 0; i < count; i++)
		jfr_skip_text(&texts);
	if (texts.wrong) {
		*c = texts;
		return -EBADMSG;
	}
	room = 3 * (size_t)(texts.at - c->at) + count + 1;
	free(t->text);
	free(t->strings);
	t->string_count = 0;
	t->text = malloc(room);
	t->strings = calloc(count + 1, sizeof(*t->strings));
	if (!t->text || !t->strings)
		return -ENOMEM;
	for (; t->string_count < count; t->string_count++) {
		size_t length = jfr_text(c, t->text + used, room - used - 1, &id);

		if (length == JFR_TEXT_POOLED)
			jfr_wrong(c, "a text of the metadata that is elsewhere");
		if (c->wrong)
			return -EBADMSG;
		t->text[used + length] = '\0';
		t->strings[t->string_count] = t->text + used;
		used += length + 1;
	}
	return 0;
}

static const char *string(const struct jfr_types *t, struct jfr_cursor *c)
{
	uint64_t number = jfr_varint(c);

	if (number < t->string_count)
		return t->strings[number];
	jfr_wrong(c, "a text of the metadata that is not there");
	return "";
}

/* ---------------------------------------------------------------- elements */

static uint64_t number_of(const char *text, struct jfr_cursor *c)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		jfr_wrong(c, "a type's id that is not a number");
	return value;
}

static enum jfr_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum jfr_kind kind;
	} kinds[] = {
	    {"boolean", JFR_BYTE}, {"byte", JFR_BYTE},     {"char", JFR_VARINT},
	    {"short", JFR_VARINT}, {"int", JFR_VARINT},    {"long", JFR_VARINT},
	    {"float", JFR_FLOAT},  {"double", JFR_DOUBLE}, {"java.lang.String", JFR_TEXT},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return JFR_STRUCT;
}

static int add_type(struct jfr_types *t, struct jfr_cursor *c)
{
	struct jfr_type type = {.name = "", .first_field = (uint32_t)t->field_count};
	int r;

	for (uint64_t left = jfr_count(c, ATTRIBUTE_LEAST); left > 0 && !c->wrong; left--) {
		const char *key = string(t, c), *value = string(t, c);

		if (strcmp(key, "name") == 0)
			type.name = value;
		else if (strcmp(key, "id") == 0)
			type.id = number_of(value, c);
	}
	type.kind = kind_of(type.name);
	if (c->wrong)
		return -EBADMSG;
	r = array_reserve_within(&t->types, &t->type_room, t->type_count + 1, JFR_TYPES_MAX,
				 sizeof(*t->types));
	if (r == 0)
		r = ids_put(&t->by_id, type.id, t->type_count + 1);
	if (r == 0)
		t->types[t->type_count++] = type;
	else if (r != -ENOMEM)
		jfr_wrong(c, r == -EEXIST ? "a second type with the same id" : "too many types");
	return r;
}

static int add_field(struct jfr_types *t, struct jfr_cursor *c)
{
	struct jfr_field field = {.name = ""};
	int r;

	for (uint64_t left = jfr_count(c, ATTRIBUTE_LEAST); left > 0 && !c->wrong; left--) {
		const char *key = string(t, c), *value = string(t, c);

		if (strcmp(key, "name") == 0)
			field.name = value;
		else if (strcmp(key, "class") == 0)
			field.type_id = number_of(value, c);
		else if (strcmp(key, "constantPool") == 0)
			field.pooled = strcmp(value, "true") == 0;
		else if (strcmp(key, "dimension") == 0)
			field.array = strcmp(value, "0") != 0;
	}
	if (c->wrong)
		return -EBADMSG;
	r = array_reserve_within(&t->fields, &t->field_room, t->field_count + 1, JFR_FIELDS_MAX,
				 sizeof(*t->fields));
	if (r == 0) {
		t->fields[t->field_count++] = field;
		t->types[t->type_count - 1].field_count++;
	} else if (r == -ENOSPC) {
		jfr_wrong(c, "too many fields");
	}
	return r;
}

/* Annotations of the latest field: of jdk.jfr.Timespan's values none is any other's. */
static void read_attributes(struct jfr_types *t, struct jfr_cursor *c, bool of_field)
{
	static const char *const units[] = {
	    [JFR_TICKS] = "TICKS",
	    [JFR_NANOSECONDS] = "NANOSECONDS",
	    [JFR_MICROSECONDS] = "MICROSECONDS",
	    [JFR_MILLISECONDS] = "MILLISECONDS",
	    [JFR_SECONDS] = "SECONDS",
	};

	for (uint64_t left = jfr_count(c, ATTRIBUTE_LEAST); left > 0 && !c->wrong; left--) {
		const char *key = string(t, c), *value = string(t, c);

		for (unsigned u = JFR_TICKS; of_field && u <= JFR_SECONDS; u++)
			if (strcmp(key, "value") == 0 && strcmp(value, units[u]) == 0)
				t->fields[t->field_count - 1].unit = (enum jfr_unit)u;
	}
}

enum parent {
	IN_NOTHING,
	IN_CLASS, /* what is in it are the latest type's fields, */
	IN_FIELD, /* and the latest field's annotations */
};

/* An element and what is in it. */
static int read_element(struct jfr_types *t, struct jfr_cursor *c, enum parent parent,
			unsigned depth)
{
	const char *name = string(t, c);
	bool is_class = parent != IN_CLASS && strcmp(name, "class") == 0;
	bool is_field = parent == IN_CLASS && strcmp(name, "field") == 0;
	enum parent in = IN_NOTHING;
	int r = 0;

	if (is_class)
		in = IN_CLASS;
	else if (is_field)
		in = IN_FIELD;
	if (depth > ELEMENT_DEPTH_MAX)
		jfr_wrong(c, "the metadata's elements are too deep in each other");
	if (is_class)
		r = add_type(t, c);
	else if (is_field)
		r = add_field(t, c);
	else
		read_attributes(t, c, parent == IN_FIELD);
	for (uint64_t left = r == 0 ? jfr_count(c, ELEMENT_LEAST) : 0; left > 0 && r == 0; left--)
		r = read_element(t, c, in, depth + 1);
	return r == 0 && c->wrong ? -EBADMSG : r;
}

/* ---------------------------------------------------------------- sizes */

static uint32_t least_of(struct jfr_types *t, struct jfr_type *type, struct jfr_cursor *c,
			 unsigned depth);

/* Fields of no bytes are left out, or many of them would make a value slow to pass over. */
static void measure_fields(struct jfr_types *t, struct jfr_type *type, struct jfr_cursor *c,
			   unsigned depth)
{
	struct jfr_field *fields = t->fields + type->first_field;
	uint32_t kept = 0;
	uint64_t least = 0;

	for (uint32_t i = 0; i < type->field_count && !c->wrong; i++) {
		uint64_t number = ids_get(&t->by_id, fields[i].type_id);
		uint32_t bytes = 1;

		if (number == 0) {
			jfr_wrong(c, "a field of a type that the metadata do not have");
			break;
		}
		fields[i].type = (uint32_t)number - 1;
		if (!fields[i].pooled && !fields[i].array)
			bytes = least_of(t, &t->types[number - 1], c, depth + 1);
		least += bytes;
		if (bytes > 0)
			fields[kept++] = fields[i];
	}
	type->field_count = kept;
	type->least = least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
}

/* The least that a value of a simple type takes. */
static size_t least_bytes(enum jfr_kind kind)
{
	if (kind == JFR_FLOAT)
		return 4;
	return kind == JFR_DOUBLE ? 8 : 1;
}

static uint32_t least_of(struct jfr_types *t, struct jfr_type *type, struct jfr_cursor *c,
			 unsigned depth)
{
	if (type->measured)
		return type->least;
	if (type->entered || depth > STRUCT_DEPTH_MAX) {
		jfr_wrong(c, "a type that contains itself, or too many others in each other");
		return 0;
	}
	type->entered = true;
	if (type->kind == JFR_STRUCT)
		measure_fields(t, type, c, depth);
	else
		type->least = least_bytes(type->kind);
	type->entered = false;
	type->measured = true;
	return type->least;
}

int jfr_types_read(struct jfr_types *t, struct jfr_cursor *c)
{
	int r;

	t->type_count = t->field_count = 0;
	ids_clear(&t->by_id);
	(void)jfr_varint(c); /* size, which the caller knows */
	if (jfr_varint(c) != 0)
		jfr_wrong(c, "not the metadata event");
	for (unsigned i = 0; i < 3; i++)
		(void)jfr_varint(c); /* start, duration, id */
	r = read_strings(t, c);
	/* Not even a type without fields is to point at nothing. */
	if (r == 0)
		r = array_reserve_within(&t->fields, &t->field_room, 1, JFR_FIELDS_MAX,
					 sizeof(*t->fields));
	if (r == 0)
		r = read_element(t, c, IN_NOTHING, 0);
	for (size_t i = 0; r == 0 && i < t->type_count && !c->wrong; i++)
		(void)least_of(t, &t->types[i], c, 0);
	return r == 0 && c->wrong ? -EBADMSG : r;
}

/* ---------------------------------------------------------------- questions */

const struct jfr_type *jfr_type_by_id(const struct jfr_types *t, uint64_t id)
{
	uint64_t number = ids_get(&t->by_id, id);

	return number > 0 ? &t->types[number - 1] : NULL;
}

const struct jfr_type *jfr_type_by_name(const struct jfr_types *t, const char *name)
{
	for (size_t i = 0; i < t->type_count; i++)
		if (strcmp(t->types[i].name, name) == 0)
			return &t->types[i];
	return NULL;
}

const struct jfr_field *jfr_field_by_name(const struct jfr_types *t, const struct jfr_type *type,
					  const char *name)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if (strcmp(t->fields[type->first_field + i].name, name) == 0)
			return &t->fields[type->first_field + i];
	return NULL;
}

/* ---------------------------------------------------------------- passing over */

static void skip_field(const struct jfr_types *t, const struct jfr_field *field,
		       struct jfr_cursor *c, unsigned depth);

static void skip_value(const struct jfr_types *t, const struct jfr_type *type, struct jfr_cursor *c,
		       unsigned depth)
{
	switch (type->kind) {
	case JFR_VARINT:
		(void)jfr_varint(c);
		break;
	case JFR_BYTE:
		(void)jfr_byte(c);
		break;
	case JFR_FLOAT:
		jfr_skip_bytes(c, 4);
		break;
	case JFR_DOUBLE:
		jfr_skip_bytes(c, 8);
		break;
	case JFR_TEXT:
		jfr_skip_text(c);
		break;
	case JFR_STRUCT:
		if (depth > STRUCT_DEPTH_MAX)
			jfr_wrong(c, "a value with too many others in each other");
		for (uint32_t i = 0; i < type->field_count && !c->wrong; i++)
			skip_field(t, &t->fields[type->first_field + i], c, depth + 1);
		break;
	}
}

static void skip_field(const struct jfr_types *t, const struct jfr_field *field,
		       struct jfr_cursor *c, unsigned depth)
{
	const struct jfr_type *type = &t->types[field->type];
	uint64_t count = 1;

	if (field->array && !field->pooled && type->least == 0) {
		(void)jfr_varint(c); /* Any number of nothing. */
		return;
	}
	if (field->array)
		count = jfr_count(c, field->pooled ? 1 : type->least);
	for (; count > 0 && !c->wrong; count--)
		if (field->pooled)
			(void)jfr_varint(c);
		else
			skip_value(t, type, c, depth);
}

void jfr_skip_value(const struct jfr_types *t, const struct jfr_type *type, struct jfr_cursor *c)
{
	skip_value(t, type, c, 0);
}

void jfr_skip_field(const struct jfr_types *t, const struct jfr_field *field, struct jfr_cursor *c)
{
	skip_field(t, field, c, 0);
}

void jfr_skip_to(const struct jfr_types *t, const struct jfr_type *type,
		 const struct jfr_field *field, struct jfr_cursor *c)
{
	const struct jfr_field *f = &t->fields[type->first_field];

	for (; f < field && !c->wrong; f++)
		skip_field(t, f, c, 0);
}
