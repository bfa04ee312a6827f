#include "attach/agent/stream/code_message.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/stream/code_members.h"
#include "common/mix.h"

/* Of one method; with more bytecodes that name something it says of the first ones. */
#define REFERENCES_OF_METHOD_MAX 2048u

#define NUMBER_SLOTS 8192u

/* A method in it: one of the records', or, at a depth above 0, one that those lead to. */
struct message_method {
	Jxp__CodeImage__Bytecodes bytecodes;
	uint8_t depth;
};

struct known_number {
	uint64_t method;
	uint32_t number;
};

struct code_message {
	Jxp__CodeImage image;
	Jxp__CodeImage__Record *records;
	Jxp__CodeImage__Frame *frames;
	Jxp__CodeImage__Call *calls;
	struct message_method list[LIMIT_CODE_METHODS];
	Jxp__CodeImage__Bytecodes *bytecodes_at[LIMIT_CODE_METHODS];
	uint16_t places[METHODS_MAX + 1]; /* by number: in the list, + 1 */
	Jxp__CodeImage__Frame **frames_at;
	Jxp__CodeImage__NullCheck *checks;
	Jxp__CodeImage__Reference references[CODE_REFERENCES_MAX];
	Jxp__CodeImage__Reference *references_at[CODE_REFERENCES_MAX];
	size_t bytecode_bytes, method_count, reference_count;
	const struct code_methods *methods;
	struct code_members *members;
	struct known_number numbers[NUMBER_SLOTS]; /* by address */
	uint32_t number_count;
	struct reference read[REFERENCES_OF_METHOD_MAX];
	bool cut;
};

_Static_assert(sizeof(struct code_message) <= CODE_MESSAGE_LISTS_BYTES, "what it takes");

static bool allocate(struct code_message *m, const struct code_copy *copy)
{
	m->records = calloc(copy->record_count + 1, sizeof(*m->records));
	m->image.records = calloc(copy->record_count + 1, sizeof(*m->image.records));
	m->frames = calloc(copy->frame_count + 1, sizeof(*m->frames));
	m->frames_at = calloc(copy->stack_count + 1, sizeof(*m->frames_at));
	m->calls = calloc(copy->call_count + 1, sizeof(*m->calls));
	m->image.calls = calloc(copy->call_count + 1, sizeof(*m->image.calls));
	m->checks = calloc(copy->check_count + 1, sizeof(*m->checks));
	m->image.null_checks = calloc(copy->check_count + 1, sizeof(*m->image.null_checks));
	m->members = code_members_new(m->methods->layout, copy->metadata, copy->metadata_count);
	return m->records && m->image.records && m->frames && m->frames_at && m->calls &&
	       m->image.calls && m->checks && m->image.null_checks && m->members;
}

/* Each method is asked about once. */
static uint32_t number_of(struct code_message *m, uint64_t method)
{
	for (uint64_t hash = mix(method);; hash++) {
		struct known_number *known = &m->numbers[hash % NUMBER_SLOTS];

		if (known->method == method)
			return known->number;
		if (known->method && m->number_count < NUMBER_SLOTS / 2)
			continue;
		if (m->number_count == NUMBER_SLOTS / 2)
			return m->methods->number(m->methods->arg, method);
		*known = (struct known_number){method, m->methods->number(m->methods->arg, method)};
		m->number_count++;
		return known->number;
	}
}

/* False when there is no room for another method. */
static bool add_method(struct code_message *m, uint32_t number, uint8_t depth)
{
	struct message_method *method = &m->list[m->method_count];

	if (m->places[number])
		return true;
	if (m->method_count == LIMIT_CODE_METHODS) {
		m->cut = true;
		return false;
	}
	jxp__code_image__bytecodes__init(&method->bytecodes);
	method->bytecodes.method = number;
	method->depth = depth;
	m->places[number] = (uint16_t)++m->method_count;
	return true;
}

/* One of a method without a number has none, and is left out. */
static void number_frames(struct code_message *m, const struct code_copy *copy)
{
	for (uint32_t i = 0; i < copy->frame_count; i++) {
		const struct scope_call *from = &copy->frames[i];
		Jxp__CodeImage__Frame *to = &m->frames[i];
		uint32_t number = number_of(m, from->method);

		jxp__code_image__frame__init(to);
		to->method = number && add_method(m, number, 0) ? number : 0;
		to->bci = from->bci;
	}
}

static size_t add_frames(struct code_message *m, const struct code_copy *copy,
			 const struct copied_record *r)
{
	size_t count = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		Jxp__CodeImage__Frame *frame = &m->frames[copy->stacks[r->first + i]];

		if (frame->method)
			m->frames_at[r->first + count++] = frame;
	}
	return count;
}

static void add_records(struct code_message *m, const struct code_copy *copy)
{
	number_frames(m, copy);
	for (uint32_t i = 0; i < copy->record_count; i++) {
		const struct copied_record *from = &copy->records[i];
		Jxp__CodeImage__Record *to = &m->records[m->image.n_records];

		jxp__code_image__record__init(to);
		to->offset = from->offset;
		to->frames = &m->frames_at[from->first];
		to->n_frames = add_frames(m, copy, from);
		if (to->n_frames > 0)
			m->image.records[m->image.n_records++] = to;
	}
}

static void add_calls(struct code_message *m, const struct code_copy *copy)
{
	for (uint32_t i = 0; i < copy->call_count; i++) {
		const struct copied_call *from = &copy->calls[i];
		Jxp__CodeImage__Call *to = &m->calls[i];

		jxp__code_image__call__init(to);
		to->offset = from->offset;
		to->target = from->target;
		to->method = from->method ? number_of(m, from->method) : 0;
		m->image.calls[m->image.n_calls++] = to;
	}
}

static void add_checks(struct code_message *m, const struct code_copy *copy)
{
	for (uint32_t i = 0; i < copy->check_count; i++) {
		Jxp__CodeImage__NullCheck *to = &m->checks[i];

		jxp__code_image__null_check__init(to);
		to->offset = copy->checks[i].offset;
		to->continuation = copy->checks[i].continuation;
		m->image.null_checks[m->image.n_null_checks++] = to;
	}
}

/* ---------------------------------------------------------------- bytecodes */

/* The methods that calls of a member may lead to, as far as they have room. Where it is named again
 * that is at least as deep. */
static void add_targets(struct code_message *m, uint32_t member, uint8_t depth,
			Jxp__CodeImage__Reference *to)
{
	struct member_targets *t = code_members_targets(m->members, member);

	for (unsigned i = 0; !t->known && i < t->count; i++) {
		uint32_t number = 0;

		if (m->method_count < CODE_METHODS_MAX)
			number = number_of(m, t->methods[i]);
		else
			m->cut = true;
		if (number && add_method(m, number, depth))
			t->numbers[t->number_count++] = number;
	}
	t->known = true;
	to->targets = t->numbers;
	to->n_targets = t->number_count;
}

static void add_references(struct code_message *m, const struct message_method *method,
			   uint64_t pool, size_t count, Jxp__CodeImage__Bytecodes *b)
{
	bool leads_on = method->depth == 0 ||
			(method->depth < CODE_TARGETS_DEPTH && b->code.len <= CODE_LEADS_ON_BYTES);

	b->references = &m->references_at[m->reference_count];
	for (size_t i = 0; i < count; i++) {
		Jxp__CodeImage__Reference *to = &m->references[m->reference_count];
		int32_t member;

		if (m->reference_count == CODE_REFERENCES_MAX) {
			m->cut = true;
			return;
		}
		member = code_members_find(m->members, pool, &m->read[i]);
		if (member < 0)
			continue;
		jxp__code_image__reference__init(to);
		to->bci = (int32_t)m->read[i].bci;
		to->member = (uint32_t)member;
		if (leads_on)
			add_targets(m, to->member, method->depth + 1, to);
		m->references_at[m->reference_count++] = to;
		b->n_references++;
	}
}

/* Of who takes arrays. */
static void add_parameters(const struct method_copy *copy, Jxp__CodeImage__Bytecodes *b)
{
	const char *descriptor = method_copy_text(copy, METHOD_DESCRIPTOR);

	if (!strchr(descriptor, '['))
		return;
	b->descriptor = (char *)(uintptr_t)descriptor;
	b->is_static = method_copy_is_static(copy);
}

/* What cannot be read is left out. */
static void add_bytecodes(struct code_message *m, struct message_method *method)
{
	const struct method_copy *copy =
	    method_of_number(m->methods->table, method->bytecodes.method);
	Jxp__CodeImage__Bytecodes *b = &method->bytecodes;
	size_t size = copy->look.code_size, count = 0;

	if (!m->methods->layout->code_known || size == 0)
		return;
	if (m->bytecode_bytes + size > CODE_BYTECODES_MAX) {
		m->cut = true;
		return;
	}
	b->code.data = malloc(size);
	if (!b->code.data || !references_read(code_members_reader(m->members), copy, b->code.data,
					      m->read, REFERENCES_OF_METHOD_MAX, &count))
		return;
	b->code.len = size;
	add_parameters(copy, b);
	m->bytecode_bytes += size;
	m->bytecodes_at[m->image.n_bytecodes++] = b;
	add_references(m, method, copy->look.constants, count, b);
}

/* Those of the records first, then what they lead to, by depth: the list grows meanwhile. */
static void add_all_bytecodes(struct code_message *m)
{
	for (size_t i = 0; i < m->method_count; i++)
		add_bytecodes(m, &m->list[i]);
	m->image.bytecodes = m->bytecodes_at;
	m->image.members = code_members_list(m->members, &m->image.n_members);
	m->cut |= code_members_cut(m->members);
}

struct code_message *code_message_new(const struct code_copy *copy,
				      const struct code_methods *methods)
{
	struct code_message *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	jxp__code_image__init(&m->image);
	m->methods = methods;
	if (!allocate(m, copy)) {
		code_message_free(m);
		return NULL;
	}
	m->image.code = copy->blob.serial;
	m->image.start = copy->blob.start;
	m->image.bytes.data = (uint8_t *)(uintptr_t)copy->bytes;
	m->image.bytes.len = copy->blob.size;
	m->image.loop_traps = copy->loop_traps;
	m->image.method = number_of(m, copy->blob.method);
	if (m->image.method)
		(void)add_method(m, m->image.method, 0); /* The first has room. */
	add_records(m, copy);
	add_calls(m, copy);
	add_checks(m, copy);
	add_all_bytecodes(m);
	return m;
}

void code_message_free(struct code_message *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->method_count; i++)
		free(m->list[i].bytecodes.code.data);
	code_members_free(m->members);
	free(m->records);
	free(m->image.records);
	free(m->frames);
	free(m->frames_at);
	free(m->calls);
	free(m->image.calls);
	free(m->checks);
	free(m->image.null_checks);
	free(m);
}

Jxp__CodeImage *code_message_image(struct code_message *m)
{
	return &m->image;
}

bool code_message_cut(const struct code_message *m)
{
	return m->cut;
}
