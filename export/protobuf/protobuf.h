/*
 * Writes Protocol Buffers (https://protobuf.dev/programming-guides/encoding/), as much of them as
 * requests to others need: messages are written in one buffer from front to back. No description of
 * a message is needed, so none has to be kept: callers say numbers of fields. What is read is read
 * with export/protobuf/wire.h.
 *
 * An error is kept: what is written behind it does not matter. One thread.
 */
#ifndef JXPERF_EXPORT_PROTOBUF_PROTOBUF_H
#define JXPERF_EXPORT_PROTOBUF_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. */
struct protobuf {
	uint8_t *bytes; /* the caller frees them, or the whole with protobuf_release */
	size_t used, capacity;
	int error; /* 0 or -ENOMEM */
};

void protobuf_release(struct protobuf *p);

/* Forgets what is in it, and keeps its memory. */
void protobuf_clear(struct protobuf *p);

/* A field whose value is 0 is not written: readers take what is absent for 0. */
void protobuf_number(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value);

/* Written in any case, also where it is empty: elements of a list count. */
void protobuf_bytes(struct protobuf *p, unsigned field, const void *bytes, size_t size);

/* Unless it is "". */
void protobuf_text(struct protobuf *p, unsigned field, const char *text);

/* The alternative of a oneof, also where it is 0 or "". */
void protobuf_chosen_number(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_chosen_double(struct protobuf *p, unsigned field, double value);

/* A list of numbers, unless it is empty. */
void protobuf_numbers(struct protobuf *p, unsigned field, const uint32_t *values, size_t count);

/* One more of a list that was begun. */
void protobuf_element(struct protobuf *p, uint64_t value);

/* What is written between the two is a message in this field. begin's result is for end. */
size_t protobuf_begin(struct protobuf *p, unsigned field);
void protobuf_end(struct protobuf *p, size_t begun);

#endif
