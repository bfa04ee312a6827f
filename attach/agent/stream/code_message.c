#include "attach/agent/stream/code_message.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/method/bytecodes.h"

struct code_message {
	Jxp__CodeImage image;
	Jxp__CodeImage__Record *records;
	Jxp__CodeImage__Frame *frames;
	Jxp__CodeImage__Call *calls;
	Jxp__CodeImage__Bytecodes bytecodes[LIMIT_CODE_METHODS];
	Jxp__CodeImage__Bytecodes *bytecodes_at[LIMIT_CODE_METHODS];
	Jxp__CodeImage__Frame **frames_at;
	Jxp__CodeImage__NullCheck *checks;
	size_t bytecode_bytes, method_count;
	const struct code_methods *methods;
};

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

static bool has_bytecodes(const struct code_message *m, uint32_t method)
{
	for (size_t i = 0; i < m->method_count; i++)
		if (m->bytecodes[i].method == method)
			return true;
	return false;
}

static uint32_t number_of(const struct code_message *m, uint64_t method)
{
	return m->methods->number(m->methods->arg, method);
}

/* To be freed; NULL where there are none, or too many. */
static uint8_t *read_bytecodes(const struct code_message *m, const struct method_copy *method)
{
	size_t size = method->look.code_size;
	uint8_t *code;

	if (!m->methods->layout->code_known || size == 0 ||
	    m->bytecode_bytes + size > CODE_BYTECODES_MAX)
		return NULL;
	code = malloc(size);
	if (code && !bytecodes_read(m->methods->layout, method, code)) {
		free(code);
		code = NULL;
	}
	return code;
}

/* False when there is no room for another method. What cannot be read is empty. */
static bool add_bytecodes(struct code_message *m, uint32_t number)
{
	Jxp__CodeImage__Bytecodes *b = &m->bytecodes[m->method_count];
	const struct method_copy *method = method_of_number(m->methods->table, number);

	if (has_bytecodes(m, number))
		return true;
	if (m->method_count == LIMIT_CODE_METHODS)
		return false;
	jxp__code_image__bytecodes__init(b);
	b->method = number;
	b->code.data = read_bytecodes(m, method);
	b->code.len = b->code.data ? method->look.code_size : 0;
	m->bytecode_bytes += b->code.len;
	m->method_count++;
	if (b->code.len > 0)
		m->bytecodes_at[m->image.n_bytecodes++] = b;
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
		to->method = number && add_bytecodes(m, number) ? number : 0;
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
	m->image.method = number_of(m, copy->blob.method);
	if (m->image.method)
		(void)add_bytecodes(m, m->image.method); /* The first has room. */
	add_records(m, copy);
	add_calls(m, copy);
	add_checks(m, copy);
	m->image.bytecodes = m->bytecodes_at;
	return m;
}

void code_message_free(struct code_message *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->method_count; i++)
		free(m->bytecodes[i].code.data);
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
