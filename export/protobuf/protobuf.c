#include "export/protobuf/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/buffer.h"
#include "export/protobuf/wire.h"

#define WIRE_TYPE_BITS 3

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

static void put_varint(struct protobuf *p, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];

	append(p, bytes, varint_pack(bytes, value));
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
	size_t size = p->used - begun, length_bytes = varint_pack(length, size);

	append(p, length, length_bytes); /* Makes room. */
	if (p->error < 0)
		return;
	memmove(p->bytes + begun + length_bytes, p->bytes + begun, size);
	memcpy(p->bytes + begun, length, length_bytes);
}
