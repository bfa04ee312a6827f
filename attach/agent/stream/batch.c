#include "attach/agent/stream/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
}

static void free_methods(Jxp__Batch *m)
{
	for (size_t i = 0; i < m->n_methods; i++) {
		Jxp__Method *method = m->methods[i];

		free(method->class_name);
		free(method->name);
		free(method->file);
		/* All entries of a method are one allocation, the first's. */
		if (method->n_lines > 0)
			free(method->lines[0]);
		free(method->lines);
		free(method);
	}
	free(m->methods);
}

static void free_positions(Jxp__Positions *p)
{
	free(p->moved);
	free(p->address);
	free(p->died);
	free(p);
}

void batch_clear(struct batch *b)
{
	Jxp__Batch *m = &b->message;

	free_methods(m);
	for (size_t i = 0; i < m->n_nodes; i++)
		free(m->nodes[i]);
	free(m->nodes);
	for (size_t i = 0; i < m->n_transitions; i++)
		free(m->transitions[i]);
	free(m->transitions);
	for (size_t i = 0; i < m->n_instructions; i++) {
		free(m->instructions[i]->text);
		free(m->instructions[i]);
	}
	free(m->instructions);
	for (size_t i = 0; i < m->n_threads; i++) {
		free(m->threads[i]->name);
		free(m->threads[i]);
	}
	free(m->threads);
	for (size_t i = 0; i < m->n_classes; i++) {
		free(m->classes[i]->name);
		free(m->classes[i]);
	}
	free(m->classes);
	for (size_t i = 0; i < m->n_allocations; i++)
		free(m->allocations[i]);
	free(m->allocations);
	for (size_t i = 0; i < m->n_positions; i++)
		free_positions(m->positions[i]);
	free(m->positions);
	for (size_t i = 0; i < m->n_accesses; i++)
		free(m->accesses[i]);
	free(m->accesses);
	batch_init(b);
}

bool batch_is_full(const struct batch *b)
{
	return b->bytes >= BATCH_FULL_BYTES;
}

/* Appends part (owned by the batch from now on; NULL is a failed allocation) to a repeated field
 * whose array grows in powers of two. */
static bool append(struct batch *b, void *array_pointer, size_t *count, void *part)
{
	void **array = *(void ***)array_pointer;

	if (!part || b->failed)
		goto failed;
	if ((*count & (*count - 1)) == 0) {
		void **grown = realloc(array, (*count ? *count * 2 : 1) * sizeof(void *));

		if (!grown)
			goto failed;
		array = grown;
		*(void ***)array_pointer = grown;
	}
	array[(*count)++] = part;
	b->bytes += PART_BYTES;
	return true;
failed:
	free(part);
	b->failed = true;
	return false;
}

Jxp__Transition *batch_transition(struct batch *b)
{
	Jxp__Transition *t = malloc(sizeof(*t));

	if (t)
		jxp__transition__init(t);
	return append(b, &b->message.transitions, &b->message.n_transitions, t) ? t : NULL;
}

Jxp__Allocation *batch_allocation(struct batch *b)
{
	Jxp__Allocation *a = malloc(sizeof(*a));

	if (a)
		jxp__allocation__init(a);
	return append(b, &b->message.allocations, &b->message.n_allocations, a) ? a : NULL;
}

Jxp__MemoryAccess *batch_access(struct batch *b)
{
	Jxp__MemoryAccess *a = malloc(sizeof(*a));

	if (a)
		jxp__memory_access__init(a);
	return append(b, &b->message.accesses, &b->message.n_accesses, a) ? a : NULL;
}

Jxp__Positions *batch_positions(struct batch *b)
{
	Jxp__Positions *p = malloc(sizeof(*p));

	if (p)
		jxp__positions__init(p);
	if (!append(b, &b->message.positions, &b->message.n_positions, p))
		return NULL;
	p->moved = malloc(BATCH_POSITIONS_MAX * sizeof(*p->moved));
	p->address = malloc(BATCH_POSITIONS_MAX * sizeof(*p->address));
	p->died = malloc(BATCH_POSITIONS_MAX * sizeof(*p->died));
	if (!p->moved || !p->address || !p->died) {
		b->failed = true; /* What there is of it is freed with the batch. */
		return NULL;
	}
	/* 5 and 10 packed bytes at most; taken at once, because it is filled from now on. */
	b->bytes += BATCH_POSITIONS_MAX * 20;
	return p;
}

Jxp__Node *batch_node(struct batch *b)
{
	Jxp__Node *n = malloc(sizeof(*n));

	if (n)
		jxp__node__init(n);
	return append(b, &b->message.nodes, &b->message.n_nodes, n) ? n : NULL;
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

static void copy_lines(struct batch *b, Jxp__Method *to, const struct method_names *m)
{
	size_t count = (size_t)(m->line_count < BATCH_LINES_MAX ? m->line_count : BATCH_LINES_MAX);
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
	for (size_t i = 0; i < count; i++) {
		jxp__line_entry__init(&entries[i]);
		entries[i].bci = (int32_t)m->lines[i].start_location;
		entries[i].line = m->lines[i].line_number;
		to->lines[i] = &entries[i];
	}
	to->n_lines = count;
	b->bytes += count * 12;
}

bool batch_method(struct batch *b, uint32_t id, const struct method_names *m)
{
	Jxp__Method *method = malloc(sizeof(*method));

	if (method)
		jxp__method__init(method);
	if (!append(b, &b->message.methods, &b->message.n_methods, method))
		return false;
	method->id = id;
	method->class_name = copy_string(b, m->class_name);
	method->name = copy_string(b, m->name);
	method->file = copy_string(b, m->file);
	copy_lines(b, method, m);
	return !b->failed;
}

bool batch_instruction(struct batch *b, uint32_t id, const char *text)
{
	Jxp__Instruction *i = malloc(sizeof(*i));

	if (i)
		jxp__instruction__init(i);
	if (!append(b, &b->message.instructions, &b->message.n_instructions, i))
		return false;
	i->id = id;
	i->text = copy_string(b, text);
	return !b->failed;
}

bool batch_object_class(struct batch *b, uint32_t id, const char *name)
{
	Jxp__ObjectClass *c = malloc(sizeof(*c));

	if (c)
		jxp__object_class__init(c);
	if (!append(b, &b->message.classes, &b->message.n_classes, c))
		return false;
	c->id = id;
	c->name = copy_string(b, name);
	return !b->failed;
}

bool batch_thread(struct batch *b, uint32_t tid, const char *name, bool ended)
{
	Jxp__Thread *t = malloc(sizeof(*t));

	if (t)
		jxp__thread__init(t);
	if (!append(b, &b->message.threads, &b->message.n_threads, t))
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
		frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
		frame.batch = &b->message;
		r = link_send(link, &frame);
	}
	batch_clear(b);
	return r;
}
