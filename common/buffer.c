#include "common/buffer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_FIRST_BYTES 4096

void buffer_init(struct buffer *b, size_t limit_bytes)
{
	*b = (struct buffer){.limit = limit_bytes};
}

void buffer_release(struct buffer *b)
{
	free(b->data);
	buffer_init(b, b->limit);
}

void buffer_clear(struct buffer *b)
{
	b->start = b->end = 0;
}

/* Moves the content to the front so that consumed space can be used again. */
static void compact(struct buffer *b)
{
	size_t length = buffer_length(b);

	if (b->start == 0)
		return;
	if (b->data)
		memmove(b->data, b->data + b->start, length);
	b->start = 0;
	b->end = length;
}

uint8_t *buffer_reserve(struct buffer *b, size_t size)
{
	size_t length = buffer_length(b);
	size_t wanted;
	uint8_t *grown;

	if (size > b->limit || length > b->limit - size) {
		errno = ENOBUFS;
		return NULL;
	}
	if (b->data && b->capacity - b->end >= size)
		return b->data + b->end;
	compact(b);
	if (b->data && b->capacity - b->end >= size)
		return b->data + b->end;
	wanted = b->capacity ? b->capacity : BUFFER_FIRST_BYTES;
	while (wanted < length + size)
		wanted *= 2;
	if (wanted > b->limit)
		wanted = b->limit;
	grown = realloc(b->data, wanted);
	if (!grown) {
		errno = ENOMEM;
		return NULL;
	}
	b->data = grown;
	b->capacity = wanted;
	return b->data + b->end;
}

void buffer_commit(struct buffer *b, size_t size)
{
	assert(size <= b->capacity - b->end);
	b->end += size;
}

int buffer_append(struct buffer *b, const void *bytes, size_t size)
{
	uint8_t *to;

	if (size == 0)
		return 0;
	to = buffer_reserve(b, size);
	if (!to)
		return -errno;
	memcpy(to, bytes, size);
	buffer_commit(b, size);
	return 0;
}

int buffer_read_all(struct buffer *b, int fd)
{
	for (;;) {
		uint8_t *room = buffer_reserve(b, BUFFER_READ_BYTES);
		ssize_t n;

		if (!room)
			return -errno;
		n = read(fd, room, BUFFER_READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		buffer_commit(b, (size_t)n);
	}
}

void buffer_consume(struct buffer *b, size_t size)
{
	assert(size <= buffer_length(b));
	b->start += size;
	if (b->start == b->end)
		b->start = b->end = 0;
}
