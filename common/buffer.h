/*
 * A growable byte buffer with a hard limit, consumed from the front and appended at the back.
 *
 * Invariant: data[start..end) is the content, end <= capacity <= limit. Pointers returned by
 * buffer_head and buffer_reserve are valid until the next call that changes the buffer.
 */
#ifndef JXPERF_COMMON_BUFFER_H
#define JXPERF_COMMON_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#define BUFFER_READ_BYTES ((size_t)1 << 20)

struct buffer {
	uint8_t *data;
	size_t start;
	size_t end;
	size_t capacity;
	size_t limit;
};

/* Prepares caller-owned storage; allocates nothing. limit_bytes bounds what it will ever hold. */
void buffer_init(struct buffer *b, size_t limit_bytes);

/* Frees the memory; the buffer may be used again with the same limit. */
void buffer_release(struct buffer *b);

/* Empties the buffer and keeps its memory. */
void buffer_clear(struct buffer *b);

static inline size_t buffer_length(const struct buffer *b)
{
	return b->end - b->start;
}

static inline uint8_t *buffer_head(const struct buffer *b)
{
	return b->data + b->start;
}

/* Makes room for size bytes at the back and returns their address, or NULL with the content
 * unchanged when the limit (ENOBUFS) or the memory (ENOMEM) is exhausted. The bytes become content
 * through buffer_commit. */
uint8_t *buffer_reserve(struct buffer *b, size_t size);
void buffer_commit(struct buffer *b, size_t size);

/* 0, -ENOBUFS or -ENOMEM; on failure nothing is appended. */
int buffer_append(struct buffer *b, const void *bytes, size_t size);

/* Packs a whole number 7 bits a byte, the lowest first, each byte but the last with its highest bit
 * set (LEB128); says how many bytes it took. */
#define VARINT_BYTES 10
static inline size_t varint_pack(uint8_t out[VARINT_BYTES], uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out[size++] = (uint8_t)(value | 0x80);
	out[size++] = (uint8_t)value;
	return size;
}

/* Appends what can be read from fd until its end, BUFFER_READ_BYTES at a time, for which there has
 * to be room. 0, -ENOBUFS where there is more than the limit, -ENOMEM, or the -errno of reading;
 * what came before that stays. */
int buffer_read_all(struct buffer *b, int fd);

/* Drops size bytes (at most the length) from the front. */
void buffer_consume(struct buffer *b, size_t size);

#endif
