#include "attach/agent/stack/scopes.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/call.h"

/* PcDesc: two ints of four. */
struct pc_desc {
	int32_t pc_offset;
	int32_t scope_offset; /* 0: none */
	int32_t ignored[2];
};

/* Descriptions that are read at once. */
#define CHUNK 32u

/* A compressed number has at most 5 bytes; a scope begins with three. */
#define NUMBER_BYTES_MAX 5u
#define SCOPE_BYTES      (3u * NUMBER_BYTES_MAX)

/* Bytes from here on are followed by another one (UNSIGNED5). */
#define BYTE_CONTINUES 192u

/* The bci of a scope is kept larger by one: -1 is a method's entry. */
#define BCI_BIAS 1

/* Where the parts of an nmethod's debug information are. */
struct parts {
	const struct scope_layout *layout;
	struct page_reader *reader; /* for what is apart, or NULL: by single reads */
	uint64_t pcs;
	uint64_t data;
	uint64_t metadata;
	uint32_t pc_count;
};

static bool read_at(uint64_t address, void *to, size_t bytes)
{
	return safe_read(address, to, bytes);
}

static uint32_t int_in(uint64_t blob, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, (const void *)(uintptr_t)(blob + offset), sizeof(value));
	return value;
}

static struct parts parts_of(const struct scope_layout *l, uint64_t blob)
{
	uint64_t base = l->apart ? memory_word(blob + l->immutable_data) : blob;
	struct parts p = {.layout = l, .pcs = base + int_in(blob, l->pcs)};
	uint64_t pcs_end = base + int_in(blob, l->pcs_end);

	p.data = l->apart ? base + int_in(blob, l->data) : memory_word(blob + l->data);
	p.metadata =
	    (l->apart ? memory_word(blob + l->mutable_data) : blob) + int_in(blob, l->metadata);
	p.pc_count = pcs_end > p.pcs ? (uint32_t)((pcs_end - p.pcs) / sizeof(struct pc_desc)) : 0;
	return p;
}

/* Inside the nmethod there is nothing that can go away. */
static bool fetch(const struct parts *p, uint64_t address, void *to, size_t bytes)
{
	if (p->layout->apart)
		return p->reader ? page_read(p->reader, address, to, bytes)
				 : read_at(address, to, bytes);
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return true;
}

/* The first description at or behind an offset from the first instruction. *last: it is the one
 * that ends the list, behind all code. */
static bool find_desc(const struct parts *p, int64_t offset, struct pc_desc *out, bool *last)
{
	struct pc_desc chunk[CHUNK];
	uint32_t low = 0, high = p->pc_count, count;

	while (high - low > CHUNK) {
		uint32_t middle = low + (high - low) / 2;

		if (!fetch(p, p->pcs + middle * sizeof(chunk[0]), chunk, sizeof(chunk[0])))
			return false;
		if (chunk[0].pc_offset < offset)
			low = middle + 1;
		else
			high = middle + 1;
	}
	count = high - low;
	if (!fetch(p, p->pcs + low * sizeof(chunk[0]), chunk, count * sizeof(chunk[0])))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (chunk[i].pc_offset >= offset) {
			*out = chunk[i];
			*last = low + i + 1 == p->pc_count;
			return true;
		}
	}
	return false;
}

static uint32_t number(const uint8_t **bytes, uint8_t base)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < NUMBER_BYTES_MAX; i++) {
		uint8_t byte = *(*bytes)++;

		value += (uint32_t)(byte - base) << (6 * i);
		if (byte < BYTE_CONTINUES)
			break;
	}
	return value;
}

struct scope_record {
	uint32_t sender; /* its offset; 0: none */
	uint32_t method; /* its number among the nmethod's metadata, from 1 */
	int32_t bci;
};

/* bytes: SCOPE_BYTES, of which the scope takes as many as it needs. */
static struct scope_record decode_scope(const uint8_t *bytes, uint8_t base)
{
	struct scope_record s = {.sender = number(&bytes, base)};

	s.method = number(&bytes, base);
	s.bci = (int32_t)(number(&bytes, base) - BCI_BIAS);
	return s;
}

/* One scope; *offset becomes its sender's, 0 for none. */
static bool read_scope(const struct parts *p, uint32_t *offset, struct scope_call *out)
{
	uint8_t bytes[SCOPE_BYTES];
	struct scope_record s;

	if (!fetch(p, p->data + *offset, bytes, sizeof(bytes)))
		return false;
	s = decode_scope(bytes, p->layout->byte_base);
	*offset = s.sender;
	out->bci = s.bci;
	return s.method > 0 && s.method <= UINT16_MAX &&
	       fetch(p, p->metadata + (s.method - 1) * sizeof(out->method), &out->method,
		     sizeof(out->method));
}

unsigned scopes_at(const struct scope_layout *layout, uint64_t blob, uint64_t begin, uint64_t pc,
		   bool innermost, uint64_t method, struct scope_call calls[SCOPES_MAX])
{
	int64_t offset = (int64_t)(pc - begin) + innermost;
	struct pc_desc desc;
	struct parts p;
	uint32_t scope;
	bool last;

	if (!layout->known)
		return 0;
	p = parts_of(layout, blob);
	if (!find_desc(&p, offset, &desc, &last))
		return 0;
	if (innermost && last) {
		calls[0] = (struct scope_call){method, CALL_BCI_UNKNOWN};
		return 1;
	}
	if (desc.scope_offset <= 0 || (!innermost && desc.pc_offset != offset))
		return 0;
	scope = (uint32_t)desc.scope_offset;
	for (unsigned i = 0; i < SCOPES_MAX; i++) {
		if (!read_scope(&p, &scope, &calls[i]))
			return 0;
		if (scope == 0)
			return calls[i].method == method ? i + 1 : 0;
	}
	return 0;
}

/* ---------------------------------------------------------------- all places */

/* More descriptions than this has no code of a size that anybody asks for. */
#define DESCS_MAX 65536u

struct scope_list {
	const struct parts *parts;
	struct page_reader reader;
};

/* The calls of a scope and its senders. 0 where they do not end with the method. */
static unsigned listed_calls(struct scope_list *l, uint32_t scope, uint64_t root,
			     struct scope_call calls[SCOPES_MAX])
{
	const struct parts *p = l->parts;

	for (unsigned i = 0; i < SCOPES_MAX; i++) {
		uint8_t bytes[SCOPE_BYTES] = {0};
		struct scope_record s;

		if (page_read_some(&l->reader, p->data + scope, bytes, sizeof(bytes)) == 0)
			return 0;
		s = decode_scope(bytes, p->layout->byte_base);
		scope = s.sender;
		calls[i].bci = s.bci;
		if (s.method == 0 || s.method > UINT16_MAX ||
		    !page_read(&l->reader, p->metadata + (s.method - 1) * sizeof(uint64_t),
			       &calls[i].method, sizeof(calls[i].method)))
			return 0;
		if (scope == 0)
			return calls[i].method == root ? i + 1 : 0;
	}
	return 0;
}

void scopes_each(const struct scope_layout *layout, uint64_t blob, uint32_t size, uint64_t method,
		 scopes_visit *visit, void *arg)
{
	struct scope_list list = {0};
	struct scope_call calls[SCOPES_MAX];
	int64_t last = -1;
	struct parts p;

	if (!layout->known)
		return;
	p = parts_of(layout, blob);
	list.parts = &p;
	for (uint32_t i = 0; i < p.pc_count && i < DESCS_MAX; i++) {
		struct pc_desc desc;
		unsigned count;

		if (!page_read(&list.reader, p.pcs + i * sizeof(desc), &desc, sizeof(desc)))
			return;
		if (desc.pc_offset <= last || desc.pc_offset >= (int64_t)size ||
		    desc.scope_offset <= 0)
			continue;
		last = desc.pc_offset;
		count = listed_calls(&list, (uint32_t)desc.scope_offset, method, calls);
		if (count && !visit(arg, (uint32_t)desc.pc_offset, calls, count))
			return;
	}
}

/* ---------------------------------------------------------------- nmethods that may be changing */

/* As scopes_at reads them, but all at once, and of the nmethod itself only what lies in [blob,
 * end).
 */
static bool parts_within(const struct scope_layout *layout, struct page_reader *reader,
			 uint64_t blob, uint64_t end, struct parts *out)
{
	if (!layout->known)
		return false;
	*out = parts_of(layout, blob);
	out->reader = reader;
	if (layout->apart)
		return out->pc_count <= DESCS_MAX;
	/* In this order (nmethod.hpp). */
	return blob < out->metadata && out->metadata <= out->data && out->data <= out->pcs &&
	       out->pcs <= end && out->pc_count <= (end - out->pcs) / sizeof(struct pc_desc);
}

static bool read_desc(const struct parts *p, uint32_t i, struct pc_desc *out)
{
	return fetch(p, p->pcs + i * sizeof(*out), out, sizeof(*out));
}

uint32_t scopes_list(const struct scope_layout *layout, struct page_reader *reader, uint64_t blob,
		     uint64_t end, uint32_t size, uint32_t *offsets, uint32_t max)
{
	uint32_t count = 0;
	int64_t last = -1;
	struct pc_desc desc;
	struct parts p;

	if (!parts_within(layout, reader, blob, end, &p))
		return 0;
	for (uint32_t i = 0; i < p.pc_count && count < max && read_desc(&p, i, &desc); i++) {
		if (desc.scope_offset <= 0 || desc.pc_offset <= last ||
		    desc.pc_offset > (int64_t)size)
			continue;
		last = desc.pc_offset;
		offsets[count++] = (uint32_t)last;
	}
	return count;
}

/* ---------------------------------------------------------------- other tables */

static uint16_t short_in(uint64_t blob, uint32_t offset)
{
	uint16_t value;

	memcpy(&value, (const void *)(uintptr_t)(blob + offset), sizeof(value));
	return value;
}

uint32_t scopes_null_checks(const struct scope_layout *layout, uint64_t blob,
			    struct code_null_check *out, uint32_t max)
{
	uint64_t begin, end;
	uint32_t count;

	if (!layout->known || !layout->checks_known)
		return 0;
	if (layout->apart) {
		uint64_t base = memory_word(blob + layout->immutable_data);

		begin = base + short_in(blob, layout->checks);
		end = base + short_in(blob, layout->checks_end);
	} else {
		begin = blob + int_in(blob, layout->checks);
		end = blob + int_in(blob, layout->checks_end);
	}
	/* The table begins with how many there are; where there are none it is empty. */
	if (end < begin + sizeof(count) || !read_at(begin, &count, sizeof(count)) ||
	    count > (end - begin - sizeof(count)) / sizeof(*out))
		return 0;
	if (count > max)
		count = max;
	return read_at(begin + sizeof(count), out, count * sizeof(*out)) ? count : 0;
}

uint32_t scopes_metadata(const struct scope_layout *layout, uint64_t blob, uint64_t *out,
			 uint32_t max)
{
	uint64_t end, count;
	struct parts p;

	if (!layout->known)
		return 0;
	p = parts_of(layout, blob);
	end = layout->apart
		  ? memory_word(blob + layout->mutable_data) + int_in(blob, layout->mutable_end)
		  : p.data;
	if (end <= p.metadata)
		return 0;
	count = (end - p.metadata) / sizeof(*out);
	if (count > max)
		count = max;
	return read_at(p.metadata, out, count * sizeof(*out)) ? (uint32_t)count : 0;
}
