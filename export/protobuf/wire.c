#include "export/protobuf/wire.h"

#include <string.h>

/* Fields' numbers have at most 29 bits. */
#define NUMBER_MAX ((UINT64_C(1) << 29) - 1)

static uint64_t fail(struct wire *w, const char *wrong)
{
	w->wrong = wrong;
	return 0;
}

uint64_t wire_varint(struct wire *w)
{
	uint64_t value = 0;

	if (w->wrong)
		return 0;
	for (unsigned shift = 0; shift < 64 && w->at < w->end; shift += 7) {
		uint8_t byte = *w->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return fail(w, w->at == w->end ? "a number is cut off" : "a number of more than 10 bytes");
}

/* Little endian, as what we run on. */
static uint64_t fixed(struct wire *w, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(w->end - w->at) < bytes)
		return fail(w, "a number is cut off");
	memcpy(&value, w->at, bytes);
	w->at += bytes;
	return value;
}

static void read_field(struct wire *w, struct wire_field *field)
{
	uint64_t tag = wire_varint(w);

	if (!w->wrong && (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX))
		(void)fail(w, "not a field of a profile");
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum wire_type)(tag & 7);
	field->bytes = NULL;
	field->value = 0;
	if (field->type == WIRE_VARINT || field->type == WIRE_BYTES)
		field->value = wire_varint(w);
	else if (field->type == WIRE_FIXED64 || field->type == WIRE_FIXED32)
		field->value = fixed(w, field->type == WIRE_FIXED64 ? 8 : 4);
	else if (field->type != WIRE_GROUP && field->type != WIRE_GROUP_END)
		(void)fail(w, "a field of a type that profiles do not have");
	if (w->wrong || field->type != WIRE_BYTES)
		return;
	if (field->value > (uint64_t)(w->end - w->at)) {
		(void)fail(w, "a field is longer than what it is in");
		return;
	}
	field->bytes = w->at;
	w->at += field->value;
}

bool wire_next(struct wire *w, struct wire_field *field)
{
	uint64_t groups = 0;

	while (!w->wrong && w->at < w->end) {
		read_field(w, field);
		if (w->wrong)
			return false;
		if (field->type == WIRE_GROUP)
			groups++;
		else if (field->type == WIRE_GROUP_END && groups-- == 0)
			(void)fail(w, "a group ends that did not begin");
		else if (groups == 0 && field->type != WIRE_GROUP_END)
			return true;
	}
	if (!w->wrong && groups > 0)
		(void)fail(w, "a group does not end");
	return false;
}
