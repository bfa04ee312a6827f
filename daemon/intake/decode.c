#include "daemon/intake/decode.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

/* Encoding: https://protobuf.dev/programming-guides/encoding/. A tag is a field's number and how
 * its value is written. */
#define WIRE_VARINT      0u
#define WIRE_FIXED64     1u
#define WIRE_LENGTH      2u
#define TAG(field, wire) ((field) << 3 | (wire))

/* Field numbers (proto/jxperf.proto). */
#define FRAME_BATCH       2u
#define BATCH_ALLOCATIONS 12u
#define BATCH_ACCESSES    14u

/* Tags of one byte: fields up to 15. */
#define TAGS 128

/* What is left to decode. */
struct bytes {
	const uint8_t *at;
	const uint8_t *end;
};

/* ---------------------------------------------------------------- numbers */

/* A number byte by byte. Those of 10 bytes, negative ones, are in no message that is decoded here.
 */
static bool take_slowly(struct bytes *in, uint64_t *value)
{
	uint64_t sum = 0;
	const uint8_t *at = in->at;

	for (unsigned int shift = 0; shift < 63 && at < in->end; shift += 7) {
		uint8_t byte = *at++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			in->at = at;
			*value = sum;
			return true;
		}
	}
	return false;
}

/* Of 8 bytes at once, where there are so many and the number is not longer: the last byte is the
 * first whose top bit is 0, and the groups of 7 bits are brought together by pairs. How long a
 * number is, is hard to predict, so there is no branch on it. */
static inline bool take_long_number(struct bytes *in, uint64_t *value)
{
	uint64_t word, ends;

	if ((size_t)(in->end - in->at) < sizeof(word))
		return take_slowly(in, value);
	memcpy(&word, in->at, sizeof(word));
	word = le64toh(word);
	ends = ~word & UINT64_C(0x8080808080808080);
	if (!ends)
		return take_slowly(in, value);
	in->at += ((unsigned int)__builtin_ctzll(ends) + 1) / 8;
	word &= ends ^ (ends - 1); /* Up to the top bit of the last byte. */
	word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
	word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
	*value = (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
	return true;
}

static inline bool take_number(struct bytes *in, uint64_t *value)
{
	if (in->at < in->end && *in->at < 0x80) {
		*value = *in->at++;
		return true;
	}
	return take_long_number(in, value);
}

static inline bool take_part(struct bytes *in, struct bytes *part)
{
	uint64_t size;

	if (!take_number(in, &size) || size > (uint64_t)(in->end - in->at))
		return false;
	*part = (struct bytes){in->at, in->at + size};
	in->at += size;
	return true;
}

/* ---------------------------------------------------------------- flat messages */

enum field_type {
	FIELD_UNKNOWN,
	FIELD_32, /* uint32, or an enum, whose values are small */
	FIELD_64,
	FIELD_BOOL,
	FIELD_DOUBLE,
};

/* By tag: which type, and where in the struct. */
struct flat_field {
	uint8_t type; /* enum field_type */
	uint8_t offset;
};

#define NUMBER_FIELD(number, kind, message, name) \
	[TAG(number, WIRE_VARINT)] = {kind, offsetof(message, name)}
#define DOUBLE_FIELD(number, message, name) \
	[TAG(number, WIRE_FIXED64)] = {FIELD_DOUBLE, offsetof(message, name)}

static const struct flat_field allocation_fields[TAGS] = {
    NUMBER_FIELD(1u, FIELD_32, Jxp__Allocation, object),
    NUMBER_FIELD(2u, FIELD_32, Jxp__Allocation, tid),
    NUMBER_FIELD(3u, FIELD_32, Jxp__Allocation, cpu),
    NUMBER_FIELD(4u, FIELD_32, Jxp__Allocation, epoch),
    NUMBER_FIELD(5u, FIELD_64, Jxp__Allocation, time_ns),
    NUMBER_FIELD(6u, FIELD_64, Jxp__Allocation, address),
    NUMBER_FIELD(7u, FIELD_64, Jxp__Allocation, size_bytes),
    DOUBLE_FIELD(8u, Jxp__Allocation, weight),
    NUMBER_FIELD(9u, FIELD_32, Jxp__Allocation, class_id),
    NUMBER_FIELD(10u, FIELD_32, Jxp__Allocation, node),
};

static const struct flat_field access_fields[TAGS] = {
    NUMBER_FIELD(1u, FIELD_32, Jxp__MemoryAccess, tid),
    NUMBER_FIELD(2u, FIELD_32, Jxp__MemoryAccess, cpu),
    NUMBER_FIELD(3u, FIELD_32, Jxp__MemoryAccess, epoch),
    NUMBER_FIELD(4u, FIELD_64, Jxp__MemoryAccess, time_ns),
    NUMBER_FIELD(5u, FIELD_64, Jxp__MemoryAccess, address),
    NUMBER_FIELD(6u, FIELD_32, Jxp__MemoryAccess, length),
    NUMBER_FIELD(7u, FIELD_BOOL, Jxp__MemoryAccess, store),
    NUMBER_FIELD(8u, FIELD_32, Jxp__MemoryAccess, region),
    NUMBER_FIELD(9u, FIELD_32, Jxp__MemoryAccess, node),
    NUMBER_FIELD(10u, FIELD_32, Jxp__MemoryAccess, instruction),
    NUMBER_FIELD(11u, FIELD_64, Jxp__MemoryAccess, weight),
    NUMBER_FIELD(14u, FIELD_32, Jxp__MemoryAccess, location),
    NUMBER_FIELD(15u, FIELD_64, Jxp__MemoryAccess, object_bytes),
};

static bool take_double(struct bytes *in, void *field)
{
	uint64_t bits;

	if ((size_t)(in->end - in->at) < sizeof(bits))
		return false;
	memcpy(&bits, in->at, sizeof(bits));
	bits = le64toh(bits);
	memcpy(field, &bits, sizeof(bits));
	in->at += sizeof(bits);
	return true;
}

static inline bool take_field(struct bytes *in, enum field_type type, void *field)
{
	uint64_t value;

	if (type == FIELD_DOUBLE)
		return take_double(in, field);
	if (type == FIELD_UNKNOWN || !take_number(in, &value))
		return false;
	if (type == FIELD_64)
		*(uint64_t *)field = value;
	else if (type == FIELD_32)
		*(uint32_t *)field = (uint32_t)value;
	else
		*(protobuf_c_boolean *)field = value != 0;
	return true;
}

/* A field that comes again counts, as the format demands. */
static inline bool decode_flat(struct bytes in, const struct flat_field *fields, void *message)
{
	while (in.at < in.end) {
		uint8_t tag = *in.at++;

		if (tag >= TAGS || !take_field(&in, (enum field_type)fields[tag].type,
					       (uint8_t *)message + fields[tag].offset))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- batches */

/* What is in a batch. */
struct inventory {
	size_t allocations;
	size_t accesses;
	size_t rest_bytes;
};

/* Beyond the end, which take_part then says. */
static bool skip(struct bytes *in, unsigned int wire)
{
	struct bytes part;
	uint64_t value;

	if (wire == WIRE_LENGTH)
		return take_part(in, &part);
	return wire == WIRE_VARINT && take_number(in, &value);
}

static bool count_parts(struct bytes in, struct inventory *found)
{
	while (in.at < in.end) {
		const uint8_t *start = in.at;
		uint64_t tag;

		if (!take_number(&in, &tag) || !skip(&in, tag & 7))
			return false;
		if (tag == TAG(BATCH_ALLOCATIONS, WIRE_LENGTH))
			found->allocations++;
		else if (tag == TAG(BATCH_ACCESSES, WIRE_LENGTH))
			found->accesses++;
		else
			found->rest_bytes += (size_t)(in.at - start);
	}
	return true;
}

/* Where decoded parts go; each array is as long as the inventory says. */
struct parts {
	Jxp__Allocation *allocations, **allocation_list;
	Jxp__MemoryAccess *accesses, **access_list;
	uint8_t *rest; /* the other fields, as they came */
	struct inventory taken;
};

static bool parts_allocate(struct arena *a, const struct inventory *found, struct parts *p)
{
	ProtobufCAllocator *from = &a->allocator;

	*p = (struct parts){
	    .allocations =
		from->alloc(from->allocator_data, found->allocations * sizeof(*p->allocations)),
	    .allocation_list =
		from->alloc(from->allocator_data, found->allocations * sizeof(*p->allocation_list)),
	    .accesses = from->alloc(from->allocator_data, found->accesses * sizeof(*p->accesses)),
	    .access_list =
		from->alloc(from->allocator_data, found->accesses * sizeof(*p->access_list)),
	    .rest = from->alloc(from->allocator_data, found->rest_bytes),
	};
	return p->allocations && p->allocation_list && p->accesses && p->access_list && p->rest;
}

static bool take_allocation(struct bytes *in, struct parts *p)
{
	static const Jxp__Allocation initial = JXP__ALLOCATION__INIT;
	Jxp__Allocation *to = &p->allocations[p->taken.allocations];
	struct bytes part;

	*to = initial;
	p->allocation_list[p->taken.allocations++] = to;
	return take_part(in, &part) && decode_flat(part, allocation_fields, to);
}

static bool take_access(struct bytes *in, struct parts *p)
{
	static const Jxp__MemoryAccess initial = JXP__MEMORY_ACCESS__INIT;
	Jxp__MemoryAccess *to = &p->accesses[p->taken.accesses];
	struct bytes part;

	*to = initial;
	p->access_list[p->taken.accesses++] = to;
	return take_part(in, &part) && decode_flat(part, access_fields, to);
}

static bool take_parts(struct bytes in, struct parts *p)
{
	bool ok = true;

	while (ok && in.at < in.end) {
		const uint8_t *start = in.at;
		uint64_t tag;

		ok = take_number(&in, &tag);
		if (ok && tag == TAG(BATCH_ALLOCATIONS, WIRE_LENGTH)) {
			ok = take_allocation(&in, p);
		} else if (ok && tag == TAG(BATCH_ACCESSES, WIRE_LENGTH)) {
			ok = take_access(&in, p);
		} else if (ok) {
			ok = skip(&in, tag & 7);
			memcpy(p->rest + p->taken.rest_bytes, start, (size_t)(in.at - start));
			p->taken.rest_bytes += (size_t)(in.at - start);
		}
	}
	return ok;
}

/* ---------------------------------------------------------------- frames */

/* The one batch that the frame is, and nothing else, or NULL. */
static Jxp__Batch *decode_batch(struct arena *a, const uint8_t *payload, size_t size)
{
	struct bytes in = {payload, payload + size}, batch_bytes;
	struct inventory found = {0};
	struct parts p;
	Jxp__Batch *batch;

	if (size == 0 || *in.at++ != TAG(FRAME_BATCH, WIRE_LENGTH) ||
	    !take_part(&in, &batch_bytes) || in.at != in.end)
		return NULL;
	if (!count_parts(batch_bytes, &found) || !parts_allocate(a, &found, &p) ||
	    !take_parts(batch_bytes, &p))
		return NULL;
	batch = jxp__batch__unpack(&a->allocator, found.rest_bytes, p.rest);
	if (!batch)
		return NULL;
	batch->allocations = p.allocation_list;
	batch->n_allocations = found.allocations;
	batch->accesses = p.access_list;
	batch->n_accesses = found.accesses;
	return batch;
}

const Jxp__AgentFrame *decode_agent_frame(struct arena *a, const uint8_t *payload, size_t size)
{
	Jxp__Batch *batch = decode_batch(a, payload, size);
	Jxp__AgentFrame *frame =
	    batch ? a->allocator.alloc(a->allocator.allocator_data, sizeof(*frame)) : NULL;

	if (!frame) {
		arena_reset(a); /* What was decoded until then. */
		return jxp__agent_frame__unpack(&a->allocator, size, payload);
	}
	jxp__agent_frame__init(frame);
	frame->body_case = JXP__AGENT_FRAME__BODY_BATCH;
	frame->batch = batch;
	return frame;
}
