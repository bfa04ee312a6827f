#include "proto/frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

int64_t frame_peek(const struct buffer *in, size_t max_bytes, const uint8_t **payload)
{
	size_t available = buffer_length(in);
	uint32_t length;

	if (available < FRAME_HEADER_BYTES)
		return 0;
	memcpy(&length, buffer_head(in), sizeof(length));
	length = le32toh(length);
	if (length == 0 || length > max_bytes)
		return -EMSGSIZE;
	if (available - FRAME_HEADER_BYTES < length)
		return 0;
	*payload = buffer_head(in) + FRAME_HEADER_BYTES;
	return length;
}

void frame_consume(struct buffer *in, size_t payload_bytes)
{
	buffer_consume(in, FRAME_HEADER_BYTES + payload_bytes);
}

int frame_append(struct buffer *out, const ProtobufCMessage *message, size_t max_bytes)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint32_t length;
	uint8_t *to;

	if (size == 0 || size > max_bytes)
		return -EMSGSIZE;
	to = buffer_reserve(out, FRAME_HEADER_BYTES + size);
	if (!to)
		return -errno;
	length = htole32((uint32_t)size);
	memcpy(to, &length, sizeof(length));
	(void)protobuf_c_message_pack(message, to + FRAME_HEADER_BYTES); /* Returns size again. */
	buffer_commit(out, FRAME_HEADER_BYTES + size);
	return 0;
}
