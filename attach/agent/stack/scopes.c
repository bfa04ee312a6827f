#include "attach/agent/stack/scopes.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/page_reader.h"
#include "attach/agent/code/reserved.h"
#include "attach/agent/code/safe_read.h"
#include "common/mix.h"

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

#define IDS_BYTES_MAX 65536u

/* Ids by Method, of all threads' handlers, in one of two places: a wrong pair is noticed, for an id
 * that is a pointer leads back to its Method. */
struct known_id {
	_Atomic uint64_t method;
	_Atomic uint64_t id;
};
static struct known_id *known_ids; /* NULL until a window begins */

_Static_assert(SCOPES_METHODS * sizeof(*known_ids) <= SCOPES_BYTES, "the ids that are remembered");

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

static uint64_t address_in(uint64_t blob, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)(blob + offset), sizeof(value));
	return value;
}

static uint32_t int_in(uint64_t blob, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, (const void *)(uintptr_t)(blob + offset), sizeof(value));
	return value;
}

static struct parts parts_of(const struct scope_layout *l, uint64_t blob)
{
	uint64_t base = l->apart ? address_in(blob, l->immutable_data) : blob;
	struct parts p = {.layout = l, .pcs = base + int_in(blob, l->pcs)};
	uint64_t pcs_end = base + int_in(blob, l->pcs_end);

	p.data = l->apart ? base + int_in(blob, l->data) : address_in(blob, l->data);
	p.metadata =
	    (l->apart ? address_in(blob, l->mutable_data) : blob) + int_in(blob, l->metadata);
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

static bool leads_to(uint64_t id, uint64_t method)
{
	uint64_t back;

	return id && read_at(id, &back, sizeof(back)) && back == method;
}

/* Method::find_jmethod_id_or_null. */
static bool read_id(const struct scope_layout *l, uint64_t method, uint64_t *id)
{
	uint64_t constants, holder, ids, count, const_method;
	uint16_t in_class;

	if (!read_at(method + l->method_const, &const_method, sizeof(const_method)) ||
	    !read_at(const_method + l->const_constants, &constants, sizeof(constants)) ||
	    !read_at(const_method + l->const_number, &in_class, sizeof(in_class)) ||
	    !read_at(constants + l->pool_holder, &holder, sizeof(holder)) ||
	    !read_at(holder + l->holder_ids, &ids, sizeof(ids)) ||
	    !read_at(ids, &count, sizeof(count)) || in_class >= count || count > IDS_BYTES_MAX)
		return false;
	return read_at(ids + (in_class + 1u) * sizeof(*id), id, sizeof(*id)) && *id &&
	       (!l->ids_are_pointers || leads_to(*id, method));
}

int scopes_init(void)
{
	if (!known_ids)
		known_ids = reserve_memory(SCOPES_BYTES);
	return known_ids ? 0 : -ENOMEM;
}

void scopes_release(void)
{
	empty_memory(known_ids, SCOPES_BYTES);
}

static struct known_id *known_at(uint64_t method, unsigned place)
{
	return &known_ids[(mix(method) ^ place) % SCOPES_METHODS];
}

void scopes_remember(uint64_t method, uint64_t id)
{
	struct known_id *k;

	if (!known_ids)
		return;
	k = known_at(method, 0);
	if (atomic_load_explicit(&k->id, memory_order_relaxed))
		k = known_at(method, 1);
	atomic_store_explicit(&k->method, method, memory_order_relaxed);
	atomic_store_explicit(&k->id, id, memory_order_relaxed);
}

static bool find_known(uint64_t method, uint64_t *id)
{
	for (unsigned place = 0; known_ids && place < 2; place++) {
		const struct known_id *k = known_at(method, place);
		uint64_t found = atomic_load_explicit(&k->id, memory_order_relaxed);

		/* An id stays readable, whatever became of its method. */
		if (atomic_load_explicit(&k->method, memory_order_relaxed) == method && found &&
		    *(const uint64_t *)(uintptr_t)found == method) {
			*id = found;
			return true;
		}
	}
	return false;
}

bool scopes_id_of(const struct scope_layout *l, uint64_t method, uint64_t *id)
{
	if (!l->ids_are_pointers)
		return read_id(l, method, id);
	if (find_known(method, id))
		return true;
	if (!read_id(l, method, id))
		return false;
	scopes_remember(method, *id);
	return true;
}

struct scope {
	uint32_t sender; /* its offset; 0: none */
	uint32_t method; /* its number among the nmethod's metadata, from 1 */
	jint bci;
};

/* bytes: SCOPE_BYTES, of which the scope takes as many as it needs. */
static struct scope decode_scope(const uint8_t *bytes, uint8_t base)
{
	struct scope s = {.sender = number(&bytes, base)};

	s.method = number(&bytes, base);
	s.bci = (jint)(number(&bytes, base) - BCI_BIAS);
	return s;
}

/* One scope; *offset becomes its sender's, 0 for none. */
static bool read_scope(const struct parts *p, uint32_t *offset, struct agct_frame *out)
{
	uint8_t bytes[SCOPE_BYTES];
	uint64_t method, id;
	struct scope s;

	if (!fetch(p, p->data + *offset, bytes, sizeof(bytes)))
		return false;
	s = decode_scope(bytes, p->layout->byte_base);
	*offset = s.sender;
	out->bci = s.bci;
	if (s.method == 0 || s.method > UINT16_MAX ||
	    !fetch(p, p->metadata + (s.method - 1) * sizeof(method), &method, sizeof(method)) ||
	    !scopes_id_of(p->layout, method, &id))
		return false;
	memcpy(&out->method, &id, sizeof(out->method));
	return true;
}

unsigned scopes_at(const struct scope_layout *layout, uint64_t blob, uint64_t begin, uint64_t pc,
		   bool innermost, uint64_t method, struct agct_frame calls[SCOPES_MAX])
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
		calls[0].bci = SCOPES_BCI_UNKNOWN;
		memcpy(&calls[0].method, &method, sizeof(calls[0].method));
		return 1;
	}
	if (desc.scope_offset <= 0 || (!innermost && desc.pc_offset != offset))
		return 0;
	scope = (uint32_t)desc.scope_offset;
	for (unsigned i = 0; i < SCOPES_MAX; i++) {
		if (!read_scope(&p, &scope, &calls[i]))
			return 0;
		if (scope == 0)
			return (uintptr_t)calls[i].method == method ? i + 1 : 0;
	}
	return 0;
}

/* ---------------------------------------------------------------- all places */

#define LISTED_IDS 256u

/* More descriptions than this has no code of a size that anybody asks for. */
#define DESCS_MAX 65536u

struct scope_list {
	const struct parts *parts;
	struct page_reader reader;
	struct {
		uint32_t number; /* of the method among the nmethod's metadata; 0: nothing */
		uint64_t id;     /* 0: it has none */
	} ids[LISTED_IDS];
};

static uint64_t listed_id(struct scope_list *l, uint32_t method_number)
{
	unsigned i = method_number % LISTED_IDS;
	uint64_t method, id;

	if (l->ids[i].number == method_number)
		return l->ids[i].id;
	l->ids[i].number = method_number;
	l->ids[i].id = 0;
	if (method_number <= UINT16_MAX &&
	    page_read(&l->reader, l->parts->metadata + (method_number - 1) * sizeof(method),
		      &method, sizeof(method)) &&
	    scopes_id_of(l->parts->layout, method, &id))
		l->ids[i].id = id;
	return l->ids[i].id;
}

/* The calls of a scope and its senders. 0 where they do not end with the method. */
static unsigned listed_calls(struct scope_list *l, uint32_t scope, uint64_t root,
			     struct agct_frame calls[SCOPES_MAX])
{
	uint8_t base = l->parts->layout->byte_base;
	unsigned count = 0;

	for (unsigned i = 0; i < SCOPES_MAX; i++) {
		uint8_t bytes[SCOPE_BYTES] = {0};
		struct scope s;
		uint64_t id;

		if (page_read_some(&l->reader, l->parts->data + scope, bytes, sizeof(bytes)) == 0)
			return 0;
		s = decode_scope(bytes, base);
		scope = s.sender;
		if (s.method == 0)
			return 0;
		id = listed_id(l, s.method);
		if (id) {
			calls[count].bci = s.bci;
			memcpy(&calls[count++].method, &id, sizeof(id));
		}
		if (scope == 0)
			return id == root ? count : 0;
	}
	return 0;
}

void scopes_each(const struct scope_layout *layout, uint64_t blob, uint32_t size, uint64_t method,
		 scopes_visit *visit, void *arg)
{
	struct scope_list list = {0};
	struct agct_frame calls[SCOPES_MAX];
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

/* Scopes that were met last, of one nmethod: their senders were, too. */
#define MET_SCOPES 64u

static bool read_listed_scope(const struct parts *p, uint32_t offset, struct scope *out)
{
	uint64_t at = p->data + offset;
	uint8_t bytes[SCOPE_BYTES] = {0};

	if (p->layout->apart) {
		if (page_read_some(p->reader, at, bytes, sizeof(bytes)) == 0)
			return false;
	} else if (at + SCOPE_BYTES <= p->pcs + sizeof(struct pc_desc)) {
		memcpy(bytes, (const void *)(uintptr_t)at, sizeof(bytes));
	} else {
		return false;
	}
	*out = decode_scope(bytes, p->layout->byte_base);
	return out->method > 0 &&
	       (p->layout->apart ? out->method <= UINT16_MAX
				 : out->method <= (p->data - p->metadata) / sizeof(uint64_t));
}

/* A scope and its senders, each of which was written before (DebugInformationRecorder). */
static void visit_scope(const struct parts *p, uint32_t scope, uint32_t met[MET_SCOPES],
			void (*visit)(void *arg, uint64_t method), void *arg)
{
	while (scope > 0 && met[scope % MET_SCOPES] != scope) {
		uint64_t method;
		struct scope s;

		if (!read_listed_scope(p, scope, &s))
			return;
		if (fetch(p, p->metadata + (s.method - 1) * sizeof(method), &method,
			  sizeof(method)))
			visit(arg, method);
		met[scope % MET_SCOPES] = scope;
		scope = s.sender < scope ? s.sender : 0;
	}
}

uint32_t scopes_list(const struct scope_layout *layout, struct page_reader *reader, uint64_t blob,
		     uint64_t end, uint32_t size, const struct scopes_wanted *wanted)
{
	uint32_t met[MET_SCOPES] = {0};
	uint32_t count = 0;
	int64_t last = -1;
	struct pc_desc desc;
	struct parts p;

	if (!parts_within(layout, reader, blob, end, &p))
		return 0;
	for (uint32_t i = 0; i < p.pc_count && read_desc(&p, i, &desc); i++) {
		if (desc.scope_offset <= 0)
			continue;
		visit_scope(&p, (uint32_t)desc.scope_offset, met, wanted->visit, wanted->arg);
		if (desc.pc_offset <= last || desc.pc_offset > (int64_t)size ||
		    count == wanted->offsets_max)
			continue;
		last = desc.pc_offset;
		wanted->offsets[count++] = (uint32_t)last;
	}
	return count;
}
