#include "attach/agent/stream/code_message.h"

#include <stdlib.h>
#include <string.h>

#include "common/mix.h"

#define NUMBER_SLOTS 4096u

/* Half of them are used; of calls beyond that records are not heard. */
#define CALL_SLOTS 4096u

struct known_number {
	uint64_t method;
	uint32_t number;
};

/* What records say of a call: methods that were inlined there, by their places in the list. */
struct told_call {
	uint32_t method; /* whose call it is */
	int32_t bci;
	bool known;
	uint8_t count;
	uint32_t callees[TARGETS_MAX];
};

struct code_message {
	struct code_methods methods;
	struct code_bytecodes *bytecodes;
	Jxp__CodeImage image;
	struct code_method list[LIMIT_CODE_METHODS];
	uint8_t depths[LIMIT_CODE_METHODS]; /* 0: of the records; else one that those lead to */
	uint16_t places[METHODS_MAX + 1];   /* by number: in the list, + 1 */
	uint16_t copied[COPIED_FRAMES_MAX]; /* by the copy's frames: in the list, + 1 */
	struct code_record records[COPIED_RECORDS_MAX];
	struct code_frame frames[COPIED_STACKS_MAX];
	struct code_call calls[COPIED_CALLS_MAX];
	struct code_reference references[CODE_REFERENCES_MAX];
	uint32_t targets[CODE_REFERENCES_MAX * TARGETS_MAX];
	uint8_t code[CODE_BYTECODES_MAX];
	uint32_t method_count, record_count, frame_count, reference_count, target_count, code_bytes;
	struct known_number numbers[NUMBER_SLOTS]; /* by address */
	uint32_t number_count;
	struct told_call calls_told[CALL_SLOTS]; /* by method and bci */
	uint32_t call_count;
	bool cut;
};

_Static_assert(sizeof(struct code_message) <= CODE_MESSAGE_LISTS_BYTES, "what it takes");
_Static_assert(TARGETS_MAX <= LIMIT_CODE_TARGETS, "what the engine takes");
_Static_assert(COPIED_STACKS_MAX <= LIMIT_CODE_FRAMES, "what the engine takes");

/* Forgets the message before; of the large table only what that had set is cleared. */
static void clear(struct code_message *m)
{
	jxp__code_image__init(&m->image);
	for (size_t i = 0; i < m->method_count; i++)
		m->places[m->list[i].name] = 0;
	memset(m->numbers, 0, sizeof(m->numbers));
	memset(m->calls_told, 0, sizeof(m->calls_told));
	m->method_count = m->record_count = m->frame_count = 0;
	m->reference_count = m->target_count = m->code_bytes = 0;
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

/* Its place in the list, + 1; 0 when there is no room for another method. */
static uint16_t add_method(struct code_message *m, uint32_t number, uint8_t depth)
{
	if (m->places[number])
		return m->places[number];
	if (m->method_count == LIMIT_CODE_METHODS) {
		m->cut = true;
		return 0;
	}
	m->list[m->method_count] = (struct code_method){.name = number};
	m->depths[m->method_count] = depth;
	m->places[number] = (uint16_t)++m->method_count;
	return m->places[number];
}

/* One of a method without a number has none, and is left out. */
static void number_frames(struct code_message *m, const struct code_copy *copy)
{
	for (uint32_t i = 0; i < copy->frame_count; i++) {
		uint32_t number = number_of(m, copy->frames[i].method);

		m->copied[i] = number ? add_method(m, number, 0) : 0;
	}
}

static void add_frames(struct code_message *m, const struct code_copy *copy,
		       const struct copied_record *r, struct code_record *to)
{
	to->first_frame = m->frame_count;
	for (uint32_t i = 0; i < r->count && m->frame_count < COPIED_STACKS_MAX; i++) {
		uint16_t at = copy->stacks[r->first + i];

		if (m->copied[at])
			m->frames[m->frame_count++] = (struct code_frame){
			    .method = m->copied[at] - 1u, .bci = copy->frames[at].bci};
	}
	to->frame_count = m->frame_count - to->first_frame;
}

/* That of a call, or where it is to be put. */
static struct told_call *told_call_of(struct code_message *m, uint32_t method, int32_t bci)
{
	for (uint64_t hash = mix((uint64_t)method << 32 | (uint32_t)bci);; hash++) {
		struct told_call *told = &m->calls_told[hash % CALL_SLOTS];

		if (!told->known || (told->method == method && told->bci == bci))
			return told;
	}
}

static void tell_callee(struct code_message *m, const struct code_frame *caller, uint32_t callee)
{
	struct told_call *told = told_call_of(m, caller->method, caller->bci);

	if (!told->known) {
		if (m->call_count == CALL_SLOTS / 2)
			return;
		m->call_count++;
		*told =
		    (struct told_call){.known = true, .method = caller->method, .bci = caller->bci};
	}
	for (unsigned i = 0; i < told->count; i++)
		if (told->callees[i] == callee)
			return;
	if (told->count < TARGETS_MAX)
		told->callees[told->count++] = callee;
}

static void add_records(struct code_message *m, const struct code_copy *copy)
{
	number_frames(m, copy);
	for (uint32_t i = 0; i < copy->record_count; i++) {
		struct code_record *to = &m->records[m->record_count];

		to->offset = copy->records[i].offset;
		add_frames(m, copy, &copy->records[i], to);
		for (uint32_t j = 1; j < to->frame_count; j++)
			tell_callee(m, &m->frames[to->first_frame + j],
				    m->frames[to->first_frame + j - 1].method);
		m->record_count += to->frame_count > 0;
	}
}

/* ---------------------------------------------------------------- bytecodes */

/* The place of a method that one leads to; 0 when there is no room for another. */
static uint16_t add_target(struct code_message *m, uint32_t number, uint8_t depth)
{
	if (m->places[number] || m->method_count < CODE_METHODS_MAX)
		return add_method(m, number, depth);
	m->cut = true;
	return 0;
}

/* The methods that calls of a member may lead to, as far as they have room. Where it is named again
 * that is at least as deep. Whether one is still there matters where its bytecodes are read. */
static void add_targets(struct code_message *m, struct code_members *members, uint32_t member,
			uint8_t depth)
{
	struct member_targets *t = code_members_targets(members, member);
	uint16_t place;

	for (unsigned i = 0; !t->known && i < t->count; i++) {
		uint32_t number = number_of(m, t->methods[i]);

		if (number)
			t->numbers[t->number_count++] = number;
	}
	t->known = true;
	for (unsigned i = 0; i < t->number_count; i++) {
		place = add_target(m, t->numbers[i], depth);
		if (!place)
			return;
		m->targets[m->target_count++] = place - 1u;
	}
}

/* Where a bytecode leads: what the compiler inlined there by its own records, or else whatever it
 * may have. Of a variable handle's call the records most often have the adapter alone. */
static void lead_on(struct code_message *m, uint32_t method, const struct read_reference *reference)
{
	struct told_call *told = told_call_of(m, method, reference->bci);
	struct code_members *members = code_bytecodes_members(m->bytecodes);
	uint8_t depth = m->depths[method];

	if (told->count > 0 && !code_members_is_handle(members, reference->member)) {
		for (unsigned i = 0; i < told->count; i++)
			m->targets[m->target_count++] = told->callees[i];
	} else if (depth == 0 || (depth < CODE_TARGETS_DEPTH &&
				  m->list[method].bytecode_bytes <= CODE_LEADS_ON_BYTES)) {
		add_targets(m, members, reference->member, depth + 1);
	}
}

static void add_references(struct code_message *m, uint32_t method, const struct read_method *read)
{
	struct code_members *members = code_bytecodes_members(m->bytecodes);

	m->list[method].first_reference = m->reference_count;
	for (size_t i = 0; i < read->reference_count; i++) {
		struct code_reference *to = &m->references[m->reference_count];
		int32_t place;

		if (m->reference_count == CODE_REFERENCES_MAX) {
			m->cut = true;
			return;
		}
		place = code_members_use(members, read->references[i].member);
		if (place < 0)
			continue;
		*to = (struct code_reference){.bci = read->references[i].bci,
					      .member = (uint32_t)place,
					      .first_target = m->target_count};
		lead_on(m, method, &read->references[i]);
		to->target_count = m->target_count - to->first_target;
		m->reference_count++;
		m->list[method].reference_count++;
	}
}

/* For methods that take arrays. */
static void add_parameters(struct code_message *m, const struct method_copy *copy,
			   struct code_method *method)
{
	const char *descriptor = method_copy_text(copy, METHOD_DESCRIPTOR);

	if (!strchr(descriptor, '['))
		return;
	method->descriptor = code_members_text(code_bytecodes_members(m->bytecodes), descriptor);
	method->is_static = method_copy_is_static(copy);
}

/* What cannot be read is left out. */
static void add_bytecodes(struct code_message *m, uint32_t index)
{
	struct code_method *method = &m->list[index];
	const struct method_copy *copy = method_of_number(m->methods.table, method->name);
	const struct read_method *read = code_bytecodes_read(m->bytecodes, method->name, copy);

	if (!read)
		return;
	if (m->code_bytes + read->size > CODE_BYTECODES_MAX) {
		m->cut = true;
		return;
	}
	method->bytecode = m->code_bytes;
	method->bytecode_bytes = read->size;
	memcpy(m->code + m->code_bytes, read->code, read->size);
	m->code_bytes += read->size;
	add_parameters(m, copy, method);
	add_references(m, index, read);
}

/* Those of the records first, then what they lead to, by depth: the list grows meanwhile. */
static void add_all_bytecodes(struct code_message *m)
{
	for (uint32_t i = 0; i < m->method_count; i++)
		add_bytecodes(m, i);
	m->cut |= code_bytecodes_cut(m->bytecodes);
}

/* Behind all that bytecodes lead to: those of what is called alone are not sent. */
static void add_calls(struct code_message *m, const struct code_copy *copy)
{
	for (uint32_t i = 0; i < copy->call_count; i++) {
		const struct copied_call *from = &copy->calls[i];
		uint32_t number = from->method ? number_of(m, from->method) : 0;

		m->calls[i] = (struct code_call){.offset = from->offset,
						 .target = from->target,
						 .method = number ? add_method(m, number, 0) : 0};
	}
}

/* ---------------------------------------------------------------- the message */

static ProtobufCBinaryData sent(const void *items, size_t count, size_t size)
{
	return (ProtobufCBinaryData){count * size, (uint8_t *)(uintptr_t)items};
}

static void send_arrays(struct code_message *m, const struct code_copy *copy)
{
	Jxp__CodeImage *image = &m->image;

	image->bytes = sent(copy->bytes, copy->blob.size, 1);
	image->methods = sent(m->list, m->method_count, sizeof(m->list[0]));
	image->records = sent(m->records, m->record_count, sizeof(m->records[0]));
	image->frames = sent(m->frames, m->frame_count, sizeof(m->frames[0]));
	image->calls = sent(m->calls, copy->call_count, sizeof(m->calls[0]));
	image->null_checks = sent(copy->checks, copy->check_count, sizeof(copy->checks[0]));
	image->references = sent(m->references, m->reference_count, sizeof(m->references[0]));
	image->targets = sent(m->targets, m->target_count, sizeof(m->targets[0]));
	image->bytecodes = sent(m->code, m->code_bytes, 1);
	code_members_send(code_bytecodes_members(m->bytecodes), image);
}

/* False when memory is short. */
static bool make(struct code_message *m, const struct code_copy *copy)
{
	clear(m);
	if (!code_bytecodes_begin(m->bytecodes, copy->metadata, copy->metadata_count))
		return false;
	m->image.code = copy->blob.serial;
	m->image.start = copy->blob.start;
	m->image.loop_traps = copy->loop_traps;
	m->image.method = number_of(m, copy->blob.method);
	if (m->image.method)
		(void)add_method(m, m->image.method, 0); /* The first has room. */
	add_records(m, copy);
	add_all_bytecodes(m);
	add_calls(m, copy);
	send_arrays(m, copy);
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
	code_bytecodes_free(m->bytecodes);
	free(m);
}

bool code_message_cut(const struct code_message *m)
{
	return m->cut;
}
