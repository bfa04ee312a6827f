/* Constants of a chunk. */
#include "subsume/import/jfr_pools.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void jfr_pools_release(struct jfr_pools *p)
{
	ids_release(&p->traces);
	ids_release(&p->methods);
	ids_release(&p->classes);
	ids_release(&p->symbols);
	ids_release(&p->strings);
	ids_release(&p->known);
}

static uint64_t offset_of(const struct jfr_pools *p, const uint8_t *at)
{
	return (uint64_t)(at - p->file);
}

int jfr_fail(const struct jfr_pools *p, const struct jfr_cursor *c, const char *what)
{
	return import_fail(p->sink, EBADMSG, offset_of(p, c->where), "%s: %s", what, c->wrong);
}

/* ---------------------------------------------------------------- layout */

enum form {
	PLAIN,
	POOLED,
	ARRAY,
};

/* The field of that name and form, and its type. */
static bool follow(const struct jfr_types *t, const struct jfr_type *type, const char *name,
		   enum form form, const struct jfr_field **field, const struct jfr_type **to)
{
	*field = jfr_field_by_name(t, type, name);
	if (!*field || (*field)->pooled != (form == POOLED) || (*field)->array != (form == ARRAY))
		return false;
	*to = &t->types[(*field)->type];
	return true;
}

int jfr_layout_find(struct jfr_pools *p, const struct jfr_field *trace)
{
	const struct jfr_types *t = p->types;
	struct jfr_layout l = {.trace = &t->types[trace->type]};
	const struct jfr_type *truncated, *string;

	if (!follow(t, l.trace, "truncated", PLAIN, &l.trace_truncated, &truncated) ||
	    truncated->kind != JFR_BYTE ||
	    !follow(t, l.trace, "frames", ARRAY, &l.trace_frames, &l.frame) ||
	    !follow(t, l.frame, "method", POOLED, &l.frame_method, &l.method) ||
	    !follow(t, l.method, "type", POOLED, &l.method_class, &l.class) ||
	    !follow(t, l.class, "name", POOLED, &l.class_name, &l.symbol) ||
	    !follow(t, l.symbol, "string", PLAIN, &l.symbol_string, &string) ||
	    string->kind != JFR_TEXT ||
	    !follow(t, l.method, "name", POOLED, &l.method_name, &string) || string != l.symbol)
		return import_fail(p->sink, EBADMSG, offset_of(p, p->begin),
				   "the chunk's stacks are not of the form that JDKs write");
	if (!follow(t, l.method, "descriptor", POOLED, &l.method_descriptor, &string) ||
	    string != l.symbol)
		l.method_descriptor = NULL;
	p->layout = l;
	return 0;
}

/* ---------------------------------------------------------------- checkpoints */

/* Where constants of the type are to be noted; NULL: they are of no use. */
static struct ids *pool_of(struct jfr_pools *p, const struct jfr_type *type)
{
	const struct jfr_layout *l = &p->layout;

	if (type == l->trace)
		return &p->traces;
	if (type == l->method)
		return &p->methods;
	if (type == l->class)
		return &p->classes;
	if (type == l->symbol)
		return &p->symbols;
	return type->kind == JFR_TEXT ? &p->strings : NULL;
}

/* The constants of one type. */
static int read_pool(struct jfr_pools *p, struct jfr_cursor *c)
{
	const uint8_t *begin = c->at;
	uint64_t id = jfr_varint(c), count = jfr_count(c, 1);
	const struct jfr_type *type = jfr_type_by_id(p->types, id);
	struct ids *pool;
	int r = 0;

	if (c->wrong)
		return jfr_fail(p, c, "a pool of constants");
	if (!type)
		return import_fail(
		    p->sink, EBADMSG, offset_of(p, begin),
		    "constants of the type %" PRIu64 ", which the metadata do not have", id);
	pool = pool_of(p, type);
	for (; count > 0 && !c->wrong && (r == 0 || r == -EEXIST); count--) {
		uint64_t key = jfr_varint(c);
		uint64_t place = (uint64_t)(c->at - p->begin);

		jfr_skip_value(p->types, type, c);
		/* The chain is read from its end: what is there is later. */
		if (pool && !c->wrong)
			r = ids_put(pool, key, place);
	}
	if (c->wrong)
		return jfr_fail(p, c, "a constant");
	if (r == -ENOSPC)
		return import_fail(p->sink, EFBIG, offset_of(p, begin),
				   "more than %" PRIu32 " constants of the type '%s'", IDS_MAX,
				   type->name);
	return r == -ENOMEM ? err_set(p->sink->err, ENOMEM, "no memory for constants") : 0;
}

/* One checkpoint event; before gets how far before it the one before is, 0 for none. */
static int read_checkpoint(struct jfr_pools *p, uint64_t place, uint64_t *before)
{
	struct jfr_cursor c = {.at = p->begin + place, .end = p->end};
	uint64_t size = jfr_varint(&c), type = jfr_varint(&c), count;
	int r = 0;

	if (size <= (uint64_t)(p->end - p->begin) - place)
		c.end = c.at < p->begin + place + size ? p->begin + place + size : c.at;
	else
		jfr_wrong(&c, "it is longer than its chunk");
	if (type != 1)
		jfr_wrong(&c, "not a checkpoint event");
	(void)jfr_varint(&c); /* start */
	(void)jfr_varint(&c); /* duration */
	*before = 0 - jfr_varint(&c);
	(void)jfr_byte(&c); /* what sort of checkpoint */
	count = jfr_count(&c, 2);
	while (count-- > 0 && r == 0 && !c.wrong)
		r = read_pool(p, &c);
	return r == 0 && c.wrong ? jfr_fail(p, &c, "constants") : r;
}

int jfr_pools_read(struct jfr_pools *p, uint64_t last)
{
	uint64_t before = 1;
	int r = 0;

	ids_clear(&p->traces);
	ids_clear(&p->methods);
	ids_clear(&p->classes);
	ids_clear(&p->symbols);
	ids_clear(&p->strings);
	ids_clear(&p->known);
	while (r == 0 && before != 0) {
		r = read_checkpoint(p, last, &before);
		if (r == 0 && before > last)
			return import_fail(p->sink, EBADMSG, offset_of(p, p->begin + last),
					   "the checkpoint before this one is not before it");
		last -= before;
	}
	return r;
}

/* ---------------------------------------------------------------- methods */

/* A cursor at a field of the constant; at nothing when there is no such constant. */
static struct jfr_cursor at_field(const struct jfr_pools *p, const struct ids *pool, uint64_t id,
				  const struct jfr_type *type, const struct jfr_field *field)
{
	uint64_t place = ids_get(pool, id);
	struct jfr_cursor c = {.at = p->begin + place, .end = place ? p->end : p->begin + place};

	if (place)
		jfr_skip_to(p->types, type, field, &c);
	return c;
}

/* Finds what a pooled field of a constant refers to. -EBADMSG when the constant is not there: it
 * was lost, and what it was cannot be told. */
static int reference(const struct jfr_pools *p, const struct ids *pool, uint64_t id,
		     const struct jfr_type *type, const struct jfr_field *field, uint64_t *to)
{
	struct jfr_cursor c = at_field(p, pool, id, type, field);

	if (c.at == c.end && !c.wrong)
		return import_fail(p->sink, EBADMSG, offset_of(p, p->begin),
				   "the constant %" PRIu64 " of the type '%s' is not in the chunk",
				   id, type->name);
	*to = jfr_varint(&c);
	return c.wrong ? jfr_fail(p, &c, "a constant") : 0;
}

/* Appends a symbol to the label. */
static int append_symbol(struct jfr_pools *p, uint64_t id, size_t *used)
{
	const struct jfr_layout *l = &p->layout;
	struct jfr_cursor c = at_field(p, &p->symbols, id, l->symbol, l->symbol_string);
	uint64_t pooled = 0;
	size_t length;

	if (c.at == c.end && !c.wrong)
		return import_fail(p->sink, EBADMSG, offset_of(p, p->begin),
				   "the symbol %" PRIu64 " is not in the chunk", id);
	length = jfr_text(&c, p->label + *used, sizeof(p->label) - *used, &pooled);
	if (length == JFR_TEXT_POOLED) {
		uint64_t place = ids_get(&p->strings, pooled);

		length = 0;
		c.at = p->begin + place;
		if (place)
			length = jfr_text(&c, p->label + *used, sizeof(p->label) - *used, &pooled);
		else
			jfr_wrong(&c, "its text is not in the chunk");
		if (length == JFR_TEXT_POOLED)
			jfr_wrong(&c, "a text that is elsewhere twice");
	}
	if (c.wrong)
		return jfr_fail(p, &c, "a symbol");
	*used += length;
	return 0;
}

/* Packages are separated by points; the number of a hidden class keeps its slash. */
static void spell_class(char *label, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (label[i] == '/' &&
		    (i + 1 == length || label[i + 1] < '0' || label[i + 1] > '9'))
			label[i] = '.';
}

static int append_char(struct jfr_pools *p, size_t *used, char c, uint64_t id)
{
	if (*used == sizeof(p->label))
		return import_fail(p->sink, EBADMSG, offset_of(p, p->begin),
				   "method %" PRIu64 " has a name of more than %u bytes", id,
				   SUBSUME_NAME_MAX);
	p->label[(*used)++] = c;
	return 0;
}

/* A NUL as in modified UTF-8: names have none inside. */
static int replace_nuls(struct jfr_pools *p, size_t *length, uint64_t id)
{
	size_t nuls = 0, from = *length;

	for (size_t i = 0; i < *length; i++)
		nuls += p->label[i] == '\0';
	for (size_t i = 0; i < nuls; i++) {
		int r = append_char(p, length, '\0', id);

		if (r < 0)
			return r;
	}
	for (size_t to = *length; to > from;) {
		char c = p->label[--from];

		p->label[--to] = (char)(c ? c : '\x80');
		if (!c)
			p->label[--to] = '\xc0';
	}
	return 0;
}

/* "java.util.HashMap.get(Ljava/lang/Object;)" into the label: what a method returns does not tell
 * it from others, but bridges from what they lead to. Native frames have no class. */
static int make_label(struct jfr_pools *p, uint64_t id, size_t *length)
{
	const struct jfr_layout *l = &p->layout;
	uint64_t class = 0, class_name = 0, name = 0, descriptor = 0;
	size_t name_end;
	const char *end;
	int r;

	*length = 0;
	r = reference(p, &p->methods, id, l->method, l->method_class, &class);
	if (r == 0)
		r = reference(p, &p->methods, id, l->method, l->method_name, &name);
	if (r == 0 && class)
		r = reference(p, &p->classes, class, l->class, l->class_name, &class_name);
	if (r == 0 && class_name)
		r = append_symbol(p, class_name, length);
	if (r < 0)
		return r;
	spell_class(p->label, *length);
	if (*length > 0)
		r = append_char(p, length, '.', id);
	if (r == 0)
		r = append_symbol(p, name, length);
	name_end = *length;
	if (r == 0 && l->method_descriptor)
		r = reference(p, &p->methods, id, l->method, l->method_descriptor, &descriptor);
	if (r == 0 && descriptor)
		r = append_symbol(p, descriptor, length);
	end = memrchr(p->label + name_end, ')', *length - name_end);
	*length = end ? (size_t)(end + 1 - p->label) : name_end;
	return r < 0 ? r : replace_nuls(p, length, id);
}

static int method_of(struct jfr_pools *p, uint64_t id, uint32_t *method)
{
	uint64_t known = ids_get(&p->known, id);
	uint64_t offset;
	size_t length;
	int r;

	*method = (uint32_t)known;
	if (known)
		return 0;
	offset = offset_of(p, p->begin) + ids_get(&p->methods, id);
	r = make_label(p, id, &length);
	if (r == 0)
		r = import_method(p->sink, offset, p->label, length, method);
	if (r < 0)
		return r;
	r = ids_put(&p->known, id, *method);
	if (r == -ENOSPC)
		return import_fail(p->sink, EFBIG, offset, "more than %" PRIu32 " methods",
				   IDS_MAX);
	return r < 0 ? err_set(p->sink->err, -r, "no memory for methods") : 0;
}

/* ---------------------------------------------------------------- stacks */

static int read_frames(struct jfr_pools *p, struct jfr_cursor *c, struct jfr_stack *stack)
{
	const struct jfr_layout *l = &p->layout;
	const struct jfr_field *fields = &p->types->fields[l->frame->first_field];
	uint64_t count = jfr_count(c, l->frame->least);

	for (; count > 0 && !c->wrong; count--) {
		uint64_t id = 0;

		for (uint32_t i = 0; i < l->frame->field_count && !c->wrong; i++)
			if (&fields[i] == l->frame_method)
				id = jfr_varint(c);
			else
				jfr_skip_field(p->types, &fields[i], c);
		if (!c->wrong && ++stack->depth <= SUBSUME_DEPTH_MAX) {
			int r = method_of(p, id, &stack->path[SUBSUME_DEPTH_MAX - stack->depth]);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int read_stack(struct jfr_pools *p, struct jfr_cursor *c, struct jfr_stack *stack)
{
	const struct jfr_layout *l = &p->layout;
	const struct jfr_field *fields = &p->types->fields[l->trace->first_field];
	int r = 0;

	stack->truncated = false;
	stack->depth = 0;
	for (uint32_t i = 0; i < l->trace->field_count && r == 0 && !c->wrong; i++)
		if (&fields[i] == l->trace_truncated)
			stack->truncated = jfr_byte(c) != 0;
		else if (&fields[i] == l->trace_frames)
			r = read_frames(p, c, stack);
		else
			jfr_skip_field(p->types, &fields[i], c);
	return r == 0 && c->wrong ? jfr_fail(p, c, "a stack trace") : r;
}

int jfr_pools_stack(struct jfr_pools *p, uint64_t id, struct jfr_stack *stack)
{
	uint64_t place = ids_get(&p->traces, id);
	struct jfr_cursor c = {.at = p->begin + place, .end = p->end};
	int r;

	if (place == 0)
		return import_fail(p->sink, EBADMSG, offset_of(p, p->begin),
				   "the stack %" PRIu64 " is not in the chunk", id);
	r = read_stack(p, &c, stack);
	if (r < 0)
		return r;
	if (stack->depth > SUBSUME_DEPTH_MAX) {
		stack->truncated = true;
		stack->depth = SUBSUME_DEPTH_MAX;
	}
	return 0;
}
