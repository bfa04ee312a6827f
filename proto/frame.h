/*
 * Framing: a 4-byte little-endian payload length, then the payload, one protobuf message of
 * jxperf.proto. A payload is 1 byte to the direction's limit (proto/limits.h) long.
 *
 * The decoder works on bytes that arrived so far and never reads past them; a length outside the
 * limits is an error at once, before anything is waited for.
 */
#ifndef JXPERF_PROTO_FRAME_H
#define JXPERF_PROTO_FRAME_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

#define FRAME_HEADER_BYTES 4

/* Looks for a whole frame at the head of in. Returns its payload's size and, in *payload, its
 * address inside in; 0 when more bytes are needed; -EMSGSIZE when the length is 0 or above
 * max_bytes. A frame is removed with frame_consume after use. */
int64_t frame_peek(const struct buffer *in, size_t max_bytes, const uint8_t **payload);
void frame_consume(struct buffer *in, size_t payload_bytes);

/* Appends message as one frame. 0, -EMSGSIZE above max_bytes, or buffer_append's errors; nothing is
 * appended on failure. */
int frame_append(struct buffer *out, const ProtobufCMessage *message, size_t max_bytes);

#endif
