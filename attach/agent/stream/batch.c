#include "attach/agent/stream/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/method/java_name.h"
#include "attach/agent/method/line_table.h"
#include "proto/limits.h"

/* Far enough below FRAME_MAX_AGENT that the largest single part still fits on top. */
#define BATCH_FULL_BYTES (FRAME_MAX_AGENT / 8)

/* A class file allows 65,535 line entries per method; more than this has only code that was made by
 * a program, and its later lines are not told. At up to 12 packed bytes these fit one frame. */
#define BATCH_LINES_MAX 16384

#define PART_BYTES 96u /* generous for any part without strings */

void batch_init(struct batch *b)
{
	*b = (struct batch){.message = JXP__BATCH__INIT};
	buffer_init(&b->events, FRAME_MAX_AGENT);
}

static void release_method(void *part)
{
	Jxp__Method *m = part;

	free(m->class_name);
	free(m->name);
	free(m->file);
	/* All entries of a method are one allocation, the first's. */
	if (m->n_lines > 0)
		free(m->lines[0]);
	free(m->lines);
}

static void release_instruction(void *part)
{
	free(((Jxp__Instruction *)part)->text);
}

static void release_location(void *part)
{
	Jxp__Location *l = part;

	free(l->class_name);
	free(l->field);
	free(l->declared_in);
	free(l->type);
}

static void release_thread(void *part)
{
	free(((Jxp__Thread *)part)->name);
}

static void release_class(void *part)
{
	free(((Jxp__ObjectClass *)part)->name);
}

/* Frees a repeated field; release frees what a part of it owns, NULL when that is nothing. */
static void free_parts(void *array_of_pointers, size_t count, void (*release)(void *part))
{
	void **array = array_of_pointers;

	for (size_t i = 0; i < count; i++) {
		if (release)
			release(array[i]);
		free(array[i]);
	}
	free(array);
}

void batch_clear(struct batch *b)
{
	Jxp__Batch *m = &b->message;

	free_parts(m->methods, m->n_methods, release_method);
	free_parts(m->nodes, m->n_nodes, NULL);
	free_parts(m->instructions, m->n_instructions, release_instruction);
	free_parts(m->locations, m->n_locations, release_location);
	free_parts(m->threads, m->n_threads, release_thread);
	free_parts(m->classes, m->n_classes, release_class);
	buffer_release(&b->events);
	batch_init(b);
}

bool batch_is_full(const struct batch *b)
{
	return b->bytes >= BATCH_FULL_BYTES;
}

/* Makes room for one more in an array that grows in powers of two. */
static bool grow(void ***array, size_t count)
{
	void **grown;

	if ((count & (count - 1)) != 0)
		return true;
	grown = realloc(*array, (count ? count * 2 : 1) * sizeof(void *));
	if (grown)
		*array = grown;
	return grown != NULL;
}

/* Adds a zeroed message of the type to a repeated field, whose array is at *array_pointer. It is
 * the batch's; NULL with b->failed set when there is no memory, now or before. */
static void *add(struct batch *b, const ProtobufCMessageDescriptor *type, void *array_pointer,
		 size_t *count)
{
	void ***array = array_pointer;
	ProtobufCMessage *part = b->failed ? NULL : malloc(type->sizeof_message);

	if (!part || !grow(array, *count)) {
		free(part);
		b->failed = true;
		return NULL;
	}
	protobuf_c_message_init(type, part);
	(*array)[(*count)++] = part;
	b->bytes += PART_BYTES;
	return part;
}

/* To a field of the batch, by its name. */
#define ADD(b, type, field) \
	add(b, &jxp__##type##__descriptor, &(b)->message.field, &(b)->message.n_##field)

Jxp__Node *batch_node(struct batch *b)
{
	return ADD(b, node, nodes);
}

void batch_add(struct batch *b, const struct event_head *event)
{
	if (b->failed || buffer_append(&b->events, event, event->size) < 0)
		b->failed = true;
	else
		b->bytes += event->size;
}

/* A bounded copy; protobuf-c's empty string must not be freed, so empty is copied too. */
static char *copy_string(struct batch *b, const char *s)
{
	char *copy = strndup(s ? s : "", LIMIT_STRING_BYTES - 1);

	if (copy)
		b->bytes += strlen(copy);
	else
		b->failed = true;
	return copy;
}

static size_t count_lines(struct line_table lines)
{
	size_t count = 0;

	while (count < BATCH_LINES_MAX && line_table_next(&lines))
		count++;
	return count;
}

static void copy_lines(struct batch *b, Jxp__Method *to, struct line_table lines)
{
	size_t count = count_lines(lines);
	Jxp__LineEntry *entries;

	if (count == 0)
		return;
	entries = malloc(count * sizeof(*entries));
	to->lines = malloc(count * sizeof(*to->lines));
	if (!entries || !to->lines) {
		free(entries);
		free(to->lines);
		to->lines = NULL;
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < count && line_table_next(&lines); i++) {
		jxp__line_entry__init(&entries[i]);
		entries[i].bci = lines.bci;
		entries[i].line = lines.line;
		to->lines[i] = &entries[i];
	}
	to->n_lines = count;
	b->bytes += count * 12;
}

bool batch_method(struct batch *b, uint32_t id, const struct method_copy *m, uint8_t byte_base)
{
	Jxp__Method *method = ADD(b, method, methods);
	char *class_name;

	if (!method)
		return false;
	class_name = java_name_of_symbol(method_copy_text(m, METHOD_CLASS));
	b->failed |= !class_name;
	method->id = id;
	method->class_name = copy_string(b, class_name);
	method->name = copy_string(b, method_copy_text(m, METHOD_NAME));
	method->file = copy_string(b, method_copy_text(m, METHOD_FILE));
	free(class_name);
	copy_lines(b, method, line_table_of(method_copy_lines(m), m->look.lines_size, byte_base));
	return !b->failed;
}

bool batch_instruction(struct batch *b, uint32_t id, const char *text)
{
	Jxp__Instruction *i = ADD(b, instruction, instructions);

	if (!i)
		return false;
	i->id = id;
	i->text = copy_string(b, text);
	return !b->failed;
}

bool batch_location(struct batch *b, uint32_t id, const struct place_name *n)
{
	Jxp__Location *l = ADD(b, location, locations);

	if (!l)
		return false;
	l->id = id;
	l->kind = n->kind;
	l->class_name = copy_string(b, n->class_name ? n->class_name : "");
	l->field = copy_string(b, n->field ? n->field : "");
	l->declared_in = copy_string(b, n->declared_in ? n->declared_in : "");
	l->type = copy_string(b, n->type ? n->type : "");
	l->offset = n->offset;
	l->bytes = n->bytes;
	l->object_bytes = n->object_bytes;
	return !b->failed;
}

bool batch_object_class(struct batch *b, uint32_t id, const char *name)
{
	Jxp__ObjectClass *c = ADD(b, object_class, classes);

	if (!c)
		return false;
	c->id = id;
	c->name = copy_string(b, name);
	return !b->failed;
}

bool batch_thread(struct batch *b, uint32_t tid, const char *name, bool ended)
{
	Jxp__Thread *t = ADD(b, thread, threads);

	if (!t)
		return false;
	t->tid = tid;
	t->name = copy_string(b, name);
	t->ended = ended;
	return !b->failed;
}

int batch_send(struct batch *b, struct link *link)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	int r = -ENOMEM;

	if (!b->failed) {
		b->message.events.data = buffer_head(&b->events);
		b->message.events.len = buffer_length(&b->events);
		frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
		frame.batch = &b->message;
		r = link_send(link, &frame);
	}
	batch_clear(b);
	return r;
}
