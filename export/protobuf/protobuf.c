#include "export/protobuf/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

#define WIRE_TYPE_BITS 3
#define VARINT_BYTES   10 /* of 64 bits */

void protobuf_release(struct protobuf *p)
{
	free(p->bytes);
	*p = (struct protobuf){0};
}

void protobuf_clear(struct protobuf *p)
{
	p->used = 0;
}

static void append(struct protobuf *p, const void *bytes, size_t size)
{
	if (p->error == 0)
		p->error = array_reserve(&p->bytes, &p->capacity, p->used + size, 1);
	if (p->error < 0 || size == 0)
		return;
	memcpy(p->bytes + p->used, bytes, size);
	p->used += size;
}

/* How many bytes it took. */
static size_t varint(uint8_t out[VARINT_BYTES], uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out[size++] = (uint8_t)(value | 0x80);
	out[size++] = (uint8_t)value;
	return size;
}

static void put_varint(struct protobuf *p, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];

	append(p, bytes, varint(bytes, value));
}

static void put_key(struct protobuf *p, unsigned field, enum wire_type type)
{
	put_varint(p, (uint64_t)field << WIRE_TYPE_BITS | type);
}

/* Least significant byte first. */
static void put_fixed64(struct protobuf *p, unsigned field, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	put_key(p, field, WIRE_FIXED64);
	append(p, bytes, sizeof(bytes));
}

void protobuf_chosen_number(struct protobuf *p, unsigned field, uint64_t value)
{
	put_key(p, field, WIRE_VARINT);
	put_varint(p, value);
}

void protobuf_number(struct protobuf *p, unsigned field, uint64_t value)
{
	if (value != 0)
		protobuf_chosen_number(p, field, value);
}

void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value)
{
	if (value != 0)
		put_fixed64(p, field, value);
}

void protobuf_chosen_double(struct protobuf *p, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_fixed64(p, field, bits);
}

void protobuf_bytes(struct protobuf *p, unsigned field, const void *bytes, size_t size)
{
	put_key(p, field, WIRE_BYTES);
	put_varint(p, size);
	append(p, bytes, size);
}

void protobuf_text(struct protobuf *p, unsigned field, const char *text)
{
	if (text[0])
		protobuf_bytes(p, field, text, strlen(text));
}

void protobuf_element(struct protobuf *p, uint64_t value)
{
	put_varint(p, value);
}

void protobuf_numbers(struct protobuf *p, unsigned field, const uint32_t *values, size_t count)
{
	size_t begun;

	if (count == 0)
		return;
	begun = protobuf_begin(p, field);
	for (size_t i = 0; i < count; i++)
		put_varint(p, values[i]);
	protobuf_end(p, begun);
}

size_t protobuf_begin(struct protobuf *p, unsigned field)
{
	put_key(p, field, WIRE_BYTES);
	return p->used;
}

/* The length goes before the message when that is known. */
void protobuf_end(struct protobuf *p, size_t begun)
{
	uint8_t length[VARINT_BYTES];
	size_t size = p->used - begun, length_bytes = varint(length, size);

	append(p, length, length_bytes); /* Makes room. */
	if (p->error < 0)
		return;
	memmove(p->bytes + begun + length_bytes, p->bytes + begun, size);
	memcpy(p->bytes + begun, length, length_bytes);
}

/* ---------------------------------------------------------------- reading */

static int read_varint(struct protobuf_reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < VARINT_BYTES; i++) {
		uint8_t byte;

		if (r->at == r->size)
			return -EBADMSG;
		byte = r->bytes[r->at++];
		*value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80)
			return 0;
	}
	return -EBADMSG;
}

static int take(struct protobuf_reader *r, uint64_t size, struct protobuf_field *field)
{
	if (size > r->size - r->at)
		return -EBADMSG;
	field->bytes = r->bytes + r->at;
	field->size = (size_t)size;
	r->at += (size_t)size;
	return 1;
}

int protobuf_next(struct protobuf_reader *r, struct protobuf_field *field)
{
	uint64_t key, size;

	*field = (struct protobuf_field){0};
	if (r->at == r->size)
		return 0;
	if (read_varint(r, &key) < 0 || key >> WIRE_TYPE_BITS == 0 ||
	    key >> WIRE_TYPE_BITS > UINT32_MAX)
		return -EBADMSG;
	field->number = (unsigned)(key >> WIRE_TYPE_BITS);
	switch (key & ((1u << WIRE_TYPE_BITS) - 1)) {
	case WIRE_VARINT:
		return read_varint(r, &field->value) < 0 ? -EBADMSG : 1;
	case WIRE_BYTES:
		field->is_bytes = true;
		return read_varint(r, &size) < 0 ? -EBADMSG : take(r, size, field);
	case WIRE_FIXED64: /* No answer that is read has one that matters: it counts as bytes. */
		field->is_bytes = true;
		return take(r, sizeof(uint64_t), field);
	case WIRE_FIXED32:
		field->is_bytes = true;
		return take(r, sizeof(uint32_t), field);
	default:
		return -EBADMSG;
	}
}
