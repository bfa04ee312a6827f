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
#define ACCESS_STATIC 0x0008u
#define ACCESS_NATIVE 0x0100u

/* A Symbol has no more before its text. */
#define SYMBOL_HEAD_MAX 32u

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

static bool is_in(const struct method_layout *l)
{
	return l->known && l->symbol_body <= SYMBOL_HEAD_MAX;
}

static bool look_at_method(const struct method_layout *l, struct method_look *m)
{
	uint8_t head[METHOD_HEAD_BYTES_MAX];

	if (!could_be(m->method) || !safe_read(m->method, head, l->method_bytes))
		return false;
	m->const_method = address_in(head, l->method_const);
	m->flags = u2_in(head, l->method_flags);
	return could_be(m->const_method);
}

/* Where line tables may be: behind the bytecodes, if there is one. */
struct line_place {
	uint64_t begin, end;
	bool any;
};

static bool look_at_const(const struct method_layout *l, struct method_look *m,
			  struct line_place *lines)
{
	uint8_t head[METHOD_HEAD_BYTES_MAX];
	uint32_t words;

	if (!safe_read(m->const_method, head, l->const_bytes))
		return false;
	m->constants = address_in(head, l->const_constants);
	m->code_size = u2_in(head, l->const_code_size);
	m->entries[METHOD_NAME] = u2_in(head, l->const_name);
	m->entries[METHOD_DESCRIPTOR] = u2_in(head, l->const_signature);
	words = u4_in(head, l->const_words);
	lines->any = u2_in(head, l->const_flags) & l->has_lines;
	lines->begin = m->const_method + l->const_bytes + m->code_size;
	lines->end = m->const_method + (uint64_t)words * WORD_BYTES;
	return could_be(m->constants) && words <= CONST_WORDS_MAX && lines->begin <= lines->end;
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

static uint64_t entry_at(const struct method_layout *l, uint64_t pool, uint16_t index)
{
	return pool + l->pool_bytes + (uint64_t)index * sizeof(uint64_t);
}

/* Before JDK 15. Of a method that was replaced, the pool is not its class's any more. */
static bool look_at_class_file(const struct method_layout *l, struct method_look *m)
{
	uint64_t constants;
	struct pool own;

	return safe_read(m->holder + l->class_constants, &constants, sizeof(constants)) &&
	       look_at_pool(l, constants, &own) &&
	       safe_read(m->holder + l->class_file, &own.file, sizeof(own.file)) &&
	       (own.file == 0 || own.file >= own.length ||
		(safe_read(entry_at(l, constants, own.file), &m->symbols[METHOD_FILE],
			   sizeof(m->symbols[METHOD_FILE])) &&
		 could_be(m->symbols[METHOD_FILE])));
}

/* Lists what leads to the symbols, as parts to be read into to. Methods that method handles are
 * called through (linkToStatic) have a pool of their own, with the index of the class's file: none
 * there. */
static unsigned list_links(const struct method_layout *l, const struct method_look *m,
			   uint64_t to[METHOD_PARTS], struct safe_part parts[METHOD_PARTS])
{
	unsigned count = 0;

	parts[count++] = (struct safe_part){m->holder + l->class_name, &to[METHOD_CLASS],
					    sizeof(to[METHOD_CLASS])};
	for (unsigned i = METHOD_NAME; i < METHOD_PARTS; i++)
		if (m->entries[i])
			parts[count++] = (struct safe_part){
			    entry_at(l, m->constants, m->entries[i]), &to[i], sizeof(to[i])};
	return count;
}

static bool look_at_links(const struct method_layout *l, struct method_look *m)
{
	struct safe_part parts[METHOD_PARTS];
	struct pool p;

	if (!look_at_pool(l, m->constants, &p) || m->entries[METHOD_NAME] == 0 ||
	    m->entries[METHOD_NAME] >= p.length || m->entries[METHOD_DESCRIPTOR] == 0 ||
	    m->entries[METHOD_DESCRIPTOR] >= p.length)
		return false;
	m->holder = p.holder;
	m->entries[METHOD_FILE] = p.file < p.length ? p.file : 0;
	if (!safe_read_parts(parts, list_links(l, m, m->symbols, parts)))
		return false;
	for (unsigned i = 0; i < METHOD_PARTS; i++)
		if (!could_be(m->symbols[i]) && !(i == METHOD_FILE && !m->entries[i]))
			return false;
	return !l->file_in_class || look_at_class_file(l, m);
}

/* The length of the text that a Symbol has, as it is copied; 0: it is none. */
static uint16_t length_in(const struct method_layout *l, const uint8_t *symbol)
{
	uint16_t length = u2_in(symbol, l->symbol_length);

	if (u2_in(symbol, l->symbol_users) == 0)
		return 0;
	return length < METHOD_TEXT_MAX ? length : METHOD_TEXT_MAX;
}

static bool look_at_symbols(const struct method_layout *l, struct method_look *m)
{
	uint8_t heads[METHOD_PARTS][SYMBOL_HEAD_MAX];
	struct safe_part parts[METHOD_PARTS];
	unsigned count = m->symbols[METHOD_FILE] ? METHOD_PARTS : METHOD_FILE;

	for (unsigned i = 0; i < count; i++)
		parts[i] = (struct safe_part){m->symbols[i], heads[i], l->symbol_body};
	if (!safe_read_parts(parts, count))
		return false;
	for (unsigned i = 0; i < count; i++) {
		m->lengths[i] = length_in(l, heads[i]);
		if (m->lengths[i] == 0)
			return false;
	}
	return true;
}

/* False where the table does not end within what is the method's. */
static bool look_at_lines(struct method_look *m, const struct line_place *lines)
{
	struct line_scan scan = {0};
	uint8_t chunk[CHUNK_BYTES];
	uint32_t size = 0;

	for (uint64_t at = lines->begin; at < lines->end; at += CHUNK_BYTES) {
		uint64_t left = lines->end - at;
		uint32_t part = left < CHUNK_BYTES ? (uint32_t)left : CHUNK_BYTES;

		if (!safe_read(at, chunk, part))
			return false;
		for (uint32_t i = 0; i < part; i++) {
			if (!line_scan_byte(&scan, chunk[i]))
				continue;
			m->lines_size = size + i + 1;
			return true;
		}
		size += part;
		if (size >= METHOD_LINES_MAX)
			return true; /* Left out. */
	}
	return false;
}

bool method_look(const struct method_layout *layout, uint64_t method, struct method_look *out)
{
	struct method_look m = {.method = method};
	struct line_place lines;

	if (!is_in(layout) || !look_at_method(layout, &m) || !look_at_const(layout, &m, &lines) ||
	    !look_at_links(layout, &m) || !look_at_symbols(layout, &m) ||
	    (lines.any && !look_at_lines(&m, &lines)))
		return false;
	*out = m;
	return true;
}

#define NAME_BYTES 64u

static bool is_text(const struct method_layout *l, const struct method_look *m,
		    enum method_part part, const char *text)
{
	size_t length = strlen(text);
	char has[NAME_BYTES];

	return length < sizeof(has) && m->lengths[part] == length &&
	       safe_read(m->symbols[part] + l->symbol_body, has, length) &&
	       memcmp(has, text, length) == 0;
}

bool method_is(const struct method_layout *layout, uint64_t method, const char *class_name,
	       const char *name)
{
	struct method_look m;

	return method_look(layout, method, &m) && is_text(layout, &m, METHOD_CLASS, class_name) &&
	       (!name || is_text(layout, &m, METHOD_NAME, name));
}

size_t method_copy_bytes(const struct method_look *look)
{
	size_t bytes = sizeof(struct method_copy) + look->lines_size;

	for (unsigned part = 0; part < METHOD_PARTS; part++)
		bytes += look->lengths[part] + 1u;
	return bytes;
}

static uint64_t lines_of(const struct method_layout *l, const struct method_look *look)
{
	return look->const_method + l->const_bytes + look->code_size;
}

/* The texts and lines. */
static bool copy_parts(const struct method_layout *l, struct method_copy *to)
{
	struct safe_part parts[METHOD_PARTS + 1];
	const struct method_look *look = &to->look;
	uint8_t *p = to->bytes;
	unsigned count = 0;

	for (unsigned i = 0; i < METHOD_PARTS; i++) {
		size_t length = look->lengths[i];

		if (length > 0)
			parts[count++] =
			    (struct safe_part){look->symbols[i] + l->symbol_body, p, length};
		p[length] = '\0';
		p += length + 1;
	}
	if (look->lines_size > 0)
		parts[count++] = (struct safe_part){lines_of(l, look), p, look->lines_size};
	return safe_read_parts(parts, count);
}

static bool looks_like_one(const struct method_copy *copy)
{
	const uint16_t *lengths = copy->look.lengths;

	return text_is_class_name(method_copy_text(copy, METHOD_CLASS), lengths[METHOD_CLASS]) &&
	       text_is_method_name(method_copy_text(copy, METHOD_NAME), lengths[METHOD_NAME]) &&
	       (lengths[METHOD_DESCRIPTOR] == METHOD_TEXT_MAX ||
		text_is_descriptor(method_copy_text(copy, METHOD_DESCRIPTOR),
				   lengths[METHOD_DESCRIPTOR]));
}

bool method_copy(const struct method_layout *layout, const struct method_look *look,
		 struct method_copy *to)
{
	to->look = *look;
	return copy_parts(layout, to) && method_is_still(layout, to) && looks_like_one(to);
}

/* All that a method says of itself, read at once. */
struct again {
	uint8_t method[METHOD_HEAD_BYTES_MAX];
	uint8_t const_method[METHOD_HEAD_BYTES_MAX];
	uint8_t pool[METHOD_HEAD_BYTES_MAX];
	uint64_t symbols[METHOD_PARTS];
	uint8_t texts[METHOD_PARTS][SYMBOL_HEAD_MAX + CHUNK_BYTES];
	uint8_t lines[CHUNK_BYTES];
};

static uint32_t begin_of(uint32_t size)
{
	return size < CHUNK_BYTES ? size : CHUNK_BYTES;
}

static bool read_again(const struct method_layout *l, const struct method_look *m, struct again *to)
{
	struct safe_part parts[SAFE_PARTS_MAX];
	unsigned count = list_links(l, m, to->symbols, parts);

	parts[count++] = (struct safe_part){m->method, to->method, l->method_bytes};
	parts[count++] = (struct safe_part){m->const_method, to->const_method, l->const_bytes};
	parts[count++] = (struct safe_part){m->constants, to->pool, l->pool_bytes};
	for (unsigned i = 0; i < METHOD_PARTS; i++)
		if (m->symbols[i])
			parts[count++] = (struct safe_part){
			    m->symbols[i], to->texts[i], l->symbol_body + begin_of(m->lengths[i])};
	if (m->lines_size > 0)
		parts[count++] =
		    (struct safe_part){lines_of(l, m), to->lines, begin_of(m->lines_size)};
	return safe_read_parts(parts, count);
}

static bool same_links(const struct method_layout *l, const struct method_look *m,
		       const struct again *now)
{
	for (unsigned i = 0; i < METHOD_PARTS; i++)
		if ((i == METHOD_CLASS || m->entries[i]) && now->symbols[i] != m->symbols[i])
			return false;
	return address_in(now->method, l->method_const) == m->const_method &&
	       u2_in(now->method, l->method_flags) == m->flags &&
	       address_in(now->const_method, l->const_constants) == m->constants &&
	       u2_in(now->const_method, l->const_code_size) == m->code_size &&
	       u2_in(now->const_method, l->const_name) == m->entries[METHOD_NAME] &&
	       u2_in(now->const_method, l->const_signature) == m->entries[METHOD_DESCRIPTOR] &&
	       address_in(now->pool, l->pool_holder) == m->holder;
}

static bool same_texts(const struct method_layout *l, const struct method_copy *copy,
		       const struct again *now)
{
	const struct method_look *m = &copy->look;

	for (unsigned i = 0; i < METHOD_PARTS; i++)
		if (m->symbols[i] &&
		    (length_in(l, now->texts[i]) != m->lengths[i] ||
		     memcmp(now->texts[i] + l->symbol_body, method_copy_text(copy, i),
			    begin_of(m->lengths[i])) != 0))
			return false;
	return memcmp(now->lines, method_copy_lines(copy), begin_of(m->lines_size)) == 0;
}

bool method_is_still(const struct method_layout *layout, const struct method_copy *copy)
{
	struct again now;

	return read_again(layout, &copy->look, &now) && same_links(layout, &copy->look, &now) &&
	       same_texts(layout, copy, &now);
}

bool method_copies_are_same(const struct method_copy *a, const struct method_copy *b)
{
	return memcmp(&a->look, &b->look, sizeof(a->look)) == 0 &&
	       memcmp(a->bytes, b->bytes, method_copy_bytes(&a->look) - sizeof(*a)) == 0;
}

const char *method_copy_text(const struct method_copy *copy, enum method_part part)
{
	const uint8_t *p = copy->bytes;

	if (part == METHOD_FILE && copy->look.lengths[METHOD_FILE] == 0)
		return NULL;
	for (unsigned i = 0; i < part; i++)
		p += copy->look.lengths[i] + 1u;
	return (const char *)p;
}

const uint8_t *method_copy_lines(const struct method_copy *copy)
{
	const uint8_t *p = copy->bytes;

	for (unsigned i = 0; i < METHOD_PARTS; i++)
		p += copy->look.lengths[i] + 1u;
	return p;
}

bool method_copy_is_native(const struct method_copy *copy)
{
	return copy->look.flags & ACCESS_NATIVE;
}

bool method_copy_is_static(const struct method_copy *copy)
{
	return copy->look.flags & ACCESS_STATIC;
}
