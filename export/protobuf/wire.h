/*
 * Reads the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding/)
 * inside a piece of memory: fields one after another, each a number or bytes. Others' profiles and
 * servers' answers are such.
 *
 * A cursor that met something that cannot be says so from then on (wrong), at the byte where it
 * was.
 */
#ifndef JXPERF_EXPORT_PROTOBUF_WIRE_H
#define JXPERF_EXPORT_PROTOBUF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3,
	WIRE_GROUP_END = 4,
	WIRE_FIXED32 = 5,
};

struct wire {
	const uint8_t *at, *end;
	const uint8_t *begin;
	const char *wrong; /* NULL: nothing */
};

/* The current field. */
struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;       /* a number's; of BYTES how many */
	const uint8_t *bytes; /* BYTES */
};

static inline struct wire wire_of(const uint8_t *bytes, size_t size)
{
	return (struct wire){.at = bytes, .end = bytes + size, .begin = bytes};
}

/* 0 when it is wrong. */
uint64_t wire_varint(struct wire *w);

/* The next field; groups, which nobody writes any more, are passed over with what is in them. false
 * at the end, and when it is wrong. */
bool wire_next(struct wire *w, struct wire_field *field);

#endif
