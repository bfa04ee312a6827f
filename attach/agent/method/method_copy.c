#include "attach/agent/method/method_copy.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/line_table.h"
#include "attach/agent/method/method_text.h"

/* Read at once, on a handler's stack; most texts and line tables have less. */
#define CHUNK_BYTES 256u

/* All of the structures are aligned so, and their sizes counted in these. */
#define WORD_BYTES 8u

/* 64 KiB of bytecodes, and tables of exceptions, variables and parameters behind them. */
#define CONST_WORDS_MAX (1u << 20)

/* Java's flags (JVMS table 4.6-A). */
#define ACCESS_NATIVE 0x0100u

/* FNV-1a. */
#define DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

static uint64_t digest(uint64_t so_far, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < size; i++)
		so_far = (so_far ^ p[i]) * DIGEST_PRIME;
	return so_far;
}

static uint16_t u2_in(const uint8_t *head, uint32_t offset)
{
	uint16_t value;

	memcpy(&value, head + offset, sizeof(value));
	return value;
}

static uint32_t u4_in(const uint8_t *head, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, head + offset, sizeof(value));
	return value;
}

static uint64_t address_in(const uint8_t *head, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, head + offset, sizeof(value));
	return value;
}

static bool could_be(uint64_t address)
{
	return address && address % WORD_BYTES == 0;
}

/* What of a ConstMethod leads on. */
struct const_part {
	uint16_t name, signature; /* in the constant pool */
	bool has_lines;
	uint64_t behind_code;
	uint64_t end;
};

static bool look_at_method(const struct method_layout *l, struct method_look *m)
{
	uint8_t head[METHOD_HEAD_BYTES_MAX];

	if (!could_be(m->method) || !safe_read(m->method, head, l->method_bytes))
		return false;
	m->const_method = address_in(head, l->method_const);
	m->flags = u2_in(head, l->method_flags);
	return could_be(m->const_method);
}

static bool look_at_const(const struct method_layout *l, struct method_look *m,
			  struct const_part *c)
{
	uint8_t head[METHOD_HEAD_BYTES_MAX];
	uint32_t words;

	if (!safe_read(m->const_method, head, l->const_bytes))
		return false;
	m->constants = address_in(head, l->const_constants);
	m->code_size = u2_in(head, l->const_code_size);
	words = u4_in(head, l->const_words);
	c->name = u2_in(head, l->const_name);
	c->signature = u2_in(head, l->const_signature);
	c->has_lines = u2_in(head, l->const_flags) & l->has_lines;
	c->behind_code = m->const_method + l->const_bytes + m->code_size;
	c->end = m->const_method + (uint64_t)words * WORD_BYTES;
	return could_be(m->constants) && words <= CONST_WORDS_MAX && c->behind_code <= c->end;
}

struct pool {
	uint64_t address;
	uint64_t holder;
	uint32_t length;
	uint16_t file;
};

static bool look_at_pool(const struct method_layout *l, uint64_t address, struct pool *p)
{
	uint8_t head[METHOD_HEAD_BYTES_MAX];

	if (!could_be(address) || !safe_read(address, head, l->pool_bytes))
		return false;
	p->address = address;
	p->holder = address_in(head, l->pool_holder);
	p->length = u4_in(head, l->pool_length);
	p->file = l->file_in_class ? 0 : u2_in(head, l->pool_file);
	return could_be(p->holder);
}

static bool look_at_entry(const struct method_layout *l, const struct pool *p, uint32_t index,
			  uint64_t *symbol)
{
	return index > 0 && index < p->length &&
	       safe_read(p->address + l->pool_bytes + (uint64_t)index * sizeof(*symbol), symbol,
			 sizeof(*symbol)) &&
	       could_be(*symbol);
}

/* Of a method that was replaced, the pool is not its class's any more. Methods that method handles
 * are called through (linkToStatic) have a pool of their own, with the index of the class's: none
 * there.
 */
static bool look_at_file(const struct method_layout *l, struct method_look *m, const struct pool *p)
{
	uint64_t constants;
	struct pool own = *p;

	if (l->file_in_class &&
	    (!safe_read(m->holder + l->class_constants, &constants, sizeof(constants)) ||
	     !look_at_pool(l, constants, &own) ||
	     !safe_read(m->holder + l->class_file, &own.file, sizeof(own.file))))
		return false;
	return own.file == 0 || own.file >= own.length ||
	       look_at_entry(l, &own, own.file, &m->symbols[METHOD_FILE]);
}

static bool look_at_symbols(const struct method_layout *l, struct method_look *m,
			    const struct const_part *c)
{
	struct pool p;

	if (!look_at_pool(l, m->constants, &p))
		return false;
	m->holder = p.holder;
	return safe_read(m->holder + l->class_name, &m->symbols[METHOD_CLASS],
			 sizeof(m->symbols[METHOD_CLASS])) &&
	       could_be(m->symbols[METHOD_CLASS]) &&
	       look_at_entry(l, &p, c->name, &m->symbols[METHOD_NAME]) &&
	       look_at_entry(l, &p, c->signature, &m->symbols[METHOD_DESCRIPTOR]) &&
	       look_at_file(l, m, &p);
}

/* All that leads to the texts. */
static bool look_at_words(const struct method_layout *l, uint64_t method, struct method_look *m,
			  struct const_part *c)
{
	*m = (struct method_look){.method = method};
	return look_at_method(l, m) && look_at_const(l, m, c) && look_at_symbols(l, m, c);
}

static bool look_at_text(const struct method_layout *l, struct method_look *m,
			 enum method_part part)
{
	uint64_t symbol = m->symbols[part];
	uint8_t chunk[CHUNK_BYTES];
	size_t got = safe_read_some(symbol, chunk, sizeof(chunk)), first;
	uint32_t length;

	if (got < l->symbol_body || got < l->symbol_length + sizeof(uint16_t) ||
	    got < l->symbol_users + sizeof(uint16_t) || u2_in(chunk, l->symbol_users) == 0)
		return false;
	length = u2_in(chunk, l->symbol_length);
	if (length == 0)
		return false;
	length = length < METHOD_TEXT_MAX ? length : METHOD_TEXT_MAX;
	m->lengths[part] = (uint16_t)length;
	first = got - l->symbol_body < length ? got - l->symbol_body : length;
	m->digest = digest(m->digest, chunk + l->symbol_body, first);
	for (uint32_t at = (uint32_t)first; at < length;) {
		uint32_t more = length - at < CHUNK_BYTES ? length - at : CHUNK_BYTES;

		if (!safe_read(symbol + l->symbol_body + at, chunk, more))
			return false;
		m->digest = digest(m->digest, chunk, more);
		at += more;
	}
	return true;
}

/* False where the table does not end within what is the method's. */
static bool look_at_lines(struct method_look *m, const struct const_part *c)
{
	struct line_scan scan = {0};
	uint8_t chunk[CHUNK_BYTES];
	uint64_t sum = m->digest;
	uint32_t size = 0;

	for (uint64_t at = c->behind_code; at < c->end; at += CHUNK_BYTES) {
		uint32_t part = c->end - at < CHUNK_BYTES ? (uint32_t)(c->end - at) : CHUNK_BYTES;

		if (!safe_read(at, chunk, part))
			return false;
		for (uint32_t i = 0; i < part; i++) {
			if (!line_scan_byte(&scan, chunk[i]))
				continue;
			m->lines_size = size + i + 1;
			m->digest = digest(sum, chunk, i + 1);
			return true;
		}
		size += part;
		if (size >= METHOD_LINES_MAX)
			return true; /* Left out. */
		sum = digest(sum, chunk, part);
	}
	return false;
}

/* Of what leads to the texts, and how long they are. */
static uint64_t finish_digest(const struct method_look *m)
{
	uint64_t sum = m->digest;

	sum = digest(sum, &m->const_method, sizeof(m->const_method));
	sum = digest(sum, &m->constants, sizeof(m->constants));
	sum = digest(sum, &m->holder, sizeof(m->holder));
	sum = digest(sum, m->lengths, sizeof(m->lengths));
	sum = digest(sum, &m->flags, sizeof(m->flags));
	return digest(sum, &m->code_size, sizeof(m->code_size));
}

bool method_look(const struct method_layout *layout, uint64_t method, struct method_look *out)
{
	struct const_part c;
	struct method_look m;

	if (!layout->known || !look_at_words(layout, method, &m, &c))
		return false;
	m.digest = DIGEST_BEGIN;
	for (unsigned part = 0; part < METHOD_PARTS; part++)
		if (m.symbols[part] && !look_at_text(layout, &m, part))
			return false;
	if (c.has_lines && !look_at_lines(&m, &c))
		return false;
	m.digest = finish_digest(&m);
	*out = m;
	return true;
}

#define NAME_BYTES 64u

bool method_is_of(const struct method_layout *layout, uint64_t method, const char *class_name)
{
	size_t length = strlen(class_name);
	struct const_part c;
	struct method_look m;
	char name[NAME_BYTES];
	uint16_t has;

	return layout->known && length < sizeof(name) && look_at_words(layout, method, &m, &c) &&
	       safe_read(m.symbols[METHOD_CLASS] + layout->symbol_length, &has, sizeof(has)) &&
	       has == length &&
	       safe_read(m.symbols[METHOD_CLASS] + layout->symbol_body, name, length) &&
	       memcmp(name, class_name, length) == 0;
}

size_t method_copy_bytes(const struct method_look *look)
{
	size_t bytes = sizeof(struct method_copy) + look->lines_size;

	for (unsigned part = 0; part < METHOD_PARTS; part++)
		bytes += look->lengths[part] + 1u;
	return bytes;
}

static bool same_words(const struct method_look *a, const struct method_look *b)
{
	return a->const_method == b->const_method && a->constants == b->constants &&
	       a->holder == b->holder && memcmp(a->symbols, b->symbols, sizeof(a->symbols)) == 0 &&
	       a->flags == b->flags && a->code_size == b->code_size;
}

/* The texts and lines, of which *sum becomes the digest. */
static bool copy_parts(const struct method_layout *l, const struct method_look *look,
		       struct method_copy *to, uint64_t *sum)
{
	uint8_t *p = to->bytes;

	*sum = DIGEST_BEGIN;
	for (unsigned part = 0; part < METHOD_PARTS; part++) {
		size_t length = look->lengths[part];

		if (length > 0 && !safe_read(look->symbols[part] + l->symbol_body, p, length))
			return false;
		*sum = digest(*sum, p, length);
		p[length] = '\0';
		p += length + 1;
	}
	if (look->lines_size > 0 &&
	    !safe_read(look->const_method + l->const_bytes + look->code_size, p, look->lines_size))
		return false;
	*sum = digest(*sum, p, look->lines_size);
	return true;
}

static bool looks_like_one(const struct method_copy *copy)
{
	return text_is_class_name(method_copy_text(copy, METHOD_CLASS),
				  copy->lengths[METHOD_CLASS]) &&
	       text_is_method_name(method_copy_text(copy, METHOD_NAME),
				   copy->lengths[METHOD_NAME]) &&
	       (copy->lengths[METHOD_DESCRIPTOR] == METHOD_TEXT_MAX ||
		text_is_descriptor(method_copy_text(copy, METHOD_DESCRIPTOR),
				   copy->lengths[METHOD_DESCRIPTOR]));
}

bool method_copy(const struct method_layout *layout, const struct method_look *look,
		 struct method_copy *to)
{
	struct method_look again;
	struct const_part ignored;
	uint64_t sum;

	*to = (struct method_copy){
	    .method = look->method,
	    .const_method = look->const_method,
	    .digest = look->digest,
	    .lines_size = look->lines_size,
	    .flags = look->flags,
	    .code_size = look->code_size,
	};
	memcpy(to->lengths, look->lengths, sizeof(to->lengths));
	if (!copy_parts(layout, look, to, &sum) ||
	    !look_at_words(layout, look->method, &again, &ignored) || !same_words(look, &again))
		return false;
	again = *look;
	again.digest = sum;
	return finish_digest(&again) == look->digest && looks_like_one(to);
}

const char *method_copy_text(const struct method_copy *copy, enum method_part part)
{
	const uint8_t *p = copy->bytes;

	if (part == METHOD_FILE && copy->lengths[METHOD_FILE] == 0)
		return NULL;
	for (unsigned i = 0; i < part; i++)
		p += copy->lengths[i] + 1u;
	return (const char *)p;
}

const uint8_t *method_copy_lines(const struct method_copy *copy)
{
	const uint8_t *p = copy->bytes;

	for (unsigned i = 0; i < METHOD_PARTS; i++)
		p += copy->lengths[i] + 1u;
	return p;
}

bool method_copy_is_native(const struct method_copy *copy)
{
	return copy->flags & ACCESS_NATIVE;
}
