#include "attach/agent/stream/code_message.h"

#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "common/mix.h"

#define NUMBER_SLOTS 4096u

/* Half of them are used; of calls beyond that records are not heard. */
#define CALL_SLOTS 4096u

/* A method in it: one of the records', or, at a depth above 0, one that those lead to. */
struct message_method {
	Jxp__CodeImage__Bytecodes bytecodes;
	uint8_t depth;
};

struct known_number {
	uint64_t method;
	uint32_t number;
};

/* What records say of a call: numbers of methods that were inlined there. */
struct told_call {
	uint32_t method; /* whose call it is; 0: none */
	int32_t bci;
	uint8_t count;
	uint32_t callees[TARGETS_MAX];
};

struct code_message {
	struct code_methods methods;
	struct code_bytecodes *bytecodes;
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
	struct known_number numbers[NUMBER_SLOTS]; /* by address */
	uint32_t number_count;
	struct told_call calls_told[CALL_SLOTS]; /* by method and bci */
	uint32_t call_count;
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
	return m->records && m->image.records && m->frames && m->frames_at && m->calls &&
	       m->image.calls && m->checks && m->image.null_checks;
}

/* Forgets the message before; of the large table only what that had set is cleared. */
static void clear(struct code_message *m)
{
	free(m->records);
	free(m->image.records);
	free(m->frames);
	free(m->frames_at);
	free(m->calls);
	free(m->image.calls);
	free(m->checks);
	free(m->image.null_checks);
	m->records = NULL;
	m->frames = NULL;
	m->frames_at = NULL;
	m->calls = NULL;
	m->checks = NULL;
	jxp__code_image__init(&m->image);
	for (size_t i = 0; i < m->method_count; i++)
		m->places[m->list[i].bytecodes.method] = 0;
	memset(m->numbers, 0, sizeof(m->numbers));
	memset(m->calls_told, 0, sizeof(m->calls_told));
	m->bytecode_bytes = m->method_count = m->reference_count = 0;
	m->number_count = m->call_count = 0;
	m->cut = false;
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
			return m->methods.number(m->methods.arg, method);
		*known = (struct known_number){method, m->methods.number(m->methods.arg, method)};
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

/* That of a call, or where it is to be put. */
static struct told_call *told_call_of(struct code_message *m, uint32_t method, int32_t bci)
{
	for (uint64_t hash = mix((uint64_t)method << 32 | (uint32_t)bci);; hash++) {
		struct told_call *told = &m->calls_told[hash % CALL_SLOTS];

		if (!told->method || (told->method == method && told->bci == bci))
			return told;
	}
}

static void tell_callee(struct code_message *m, const Jxp__CodeImage__Frame *caller,
			uint32_t callee)
{
	struct told_call *told = told_call_of(m, caller->method, caller->bci);

	if (!told->method) {
		if (m->call_count == CALL_SLOTS / 2)
			return;
		m->call_count++;
		told->method = caller->method;
		told->bci = caller->bci;
	}
	for (unsigned i = 0; i < told->count; i++)
		if (told->callees[i] == callee)
			return;
	if (told->count < TARGETS_MAX)
		told->callees[told->count++] = callee;
}

static void tell_calls(struct code_message *m, const Jxp__CodeImage__Record *r)
{
	for (size_t i = 1; i < r->n_frames; i++)
		tell_callee(m, r->frames[i], r->frames[i - 1]->method);
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
		tell_calls(m, to);
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

/* False when there is no room for another method that one leads to. */
static bool add_target(struct code_message *m, uint32_t number, uint8_t depth)
{
	if (m->places[number])
		return true;
	if (m->method_count >= CODE_METHODS_MAX) {
		m->cut = true;
		return false;
	}
	return add_method(m, number, depth);
}

/* The methods that calls of a member may lead to, as far as they have room. Where it is named again
 * that is at least as deep. Whether one is still there matters where its bytecodes are read. */
static void add_targets(struct code_message *m, struct code_members *members, uint32_t member,
			uint8_t depth, Jxp__CodeImage__Reference *to)
{
	struct member_targets *t = code_members_targets(members, member);

	for (unsigned i = 0; !t->known && i < t->count; i++) {
		uint32_t number = number_of(m, t->methods[i]);

		if (number)
			t->numbers[t->number_count++] = number;
	}
	t->known = true;
	to->targets = t->numbers;
	while (to->n_targets < t->number_count && add_target(m, t->numbers[to->n_targets], depth))
		to->n_targets++;
}

/* Where a bytecode leads: what the compiler inlined there by its own records, or else whatever it
 * may have. Of a variable handle's call the records most often have the adapter alone. */
static void lead_on(struct code_message *m, const struct message_method *method,
		    const struct read_reference *reference, Jxp__CodeImage__Reference *to)
{
	const Jxp__CodeImage__Bytecodes *b = &method->bytecodes;
	struct told_call *told = told_call_of(m, b->method, to->bci);
	struct code_members *members = code_bytecodes_members(m->bytecodes);

	if (told->count > 0 && !code_members_is_handle(members, reference->member)) {
		to->targets = told->callees;
		to->n_targets = told->count;
	} else if (method->depth == 0 ||
		   (method->depth < CODE_TARGETS_DEPTH && b->code.len <= CODE_LEADS_ON_BYTES)) {
		add_targets(m, members, reference->member, method->depth + 1, to);
	}
}

static void add_references(struct code_message *m, const struct message_method *method,
			   const struct read_method *read, Jxp__CodeImage__Bytecodes *b)
{
	struct code_members *members = code_bytecodes_members(m->bytecodes);

	b->references = &m->references_at[m->reference_count];
	for (size_t i = 0; i < read->reference_count; i++) {
		Jxp__CodeImage__Reference *to = &m->references[m->reference_count];
		int32_t place;

		if (m->reference_count == CODE_REFERENCES_MAX) {
			m->cut = true;
			return;
		}
		place = code_members_use(members, read->references[i].member);
		if (place < 0)
			continue;
		jxp__code_image__reference__init(to);
		to->bci = read->references[i].bci;
		to->member = (uint32_t)place;
		lead_on(m, method, &read->references[i], to);
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
	Jxp__CodeImage__Bytecodes *b = &method->bytecodes;
	const struct method_copy *copy = method_of_number(m->methods.table, b->method);
	const struct read_method *read = code_bytecodes_read(m->bytecodes, b->method, copy);

	if (!read)
		return;
	if (m->bytecode_bytes + read->size > CODE_BYTECODES_MAX) {
		m->cut = true;
		return;
	}
	b->code.data = read->code;
	b->code.len = read->size;
	add_parameters(copy, b);
	m->bytecode_bytes += read->size;
	m->bytecodes_at[m->image.n_bytecodes++] = b;
	add_references(m, method, read, b);
}

/* Those of the records first, then what they lead to, by depth: the list grows meanwhile. */
static void add_all_bytecodes(struct code_message *m)
{
	for (size_t i = 0; i < m->method_count; i++)
		add_bytecodes(m, &m->list[i]);
	m->image.bytecodes = m->bytecodes_at;
	m->image.members =
	    code_members_list(code_bytecodes_members(m->bytecodes), &m->image.n_members);
	m->cut |= code_bytecodes_cut(m->bytecodes);
}

/* False when memory is short. */
static bool make(struct code_message *m, const struct code_copy *copy)
{
	clear(m);
	if (!allocate(m, copy) ||
	    !code_bytecodes_begin(m->bytecodes, copy->metadata, copy->metadata_count))
		return false;
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
	return true;
}

Jxp__CodeImage *code_message_make(struct code_message *m, const struct code_copy *copy)
{
	bool made = make(m, copy);

	/* It has all the room when what images before have read is forgotten. */
	if (made && code_bytecodes_cut(m->bytecodes) && code_bytecodes_forget(m->bytecodes))
		made = make(m, copy);
	return made ? &m->image : NULL;
}

struct code_message *code_message_new(const struct code_methods *methods)
{
	struct code_message *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	jxp__code_image__init(&m->image);
	m->methods = *methods;
	m->bytecodes = code_bytecodes_new(methods->layout);
	if (!m->bytecodes) {
		free(m);
		return NULL;
	}
	return m;
}

void code_message_free(struct code_message *m)
{
	if (!m)
		return;
	clear(m);
	code_bytecodes_free(m->bytecodes);
	free(m);
}

bool code_message_cut(const struct code_message *m)
{
	return m->cut;
}
