/*
 * Bytes one after another, of a file that may be gzipped: what has been read is looked at where it
 * lies, and only the part that is looked at is in memory.
 *
 * One thread.
 */
#ifndef JXPERF_SUBSUME_IMPORT_STREAM_H
#define JXPERF_SUBSUME_IMPORT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "subsume/import/sink.h"

/* Bytes that can be had in one piece. */
#define STREAM_PIECE_MAX (UINT32_C(1) << 20)

struct stream {
	struct import_sink *sink;
	const uint8_t *at, *end; /* what is there and has not been taken */
	uint64_t offset;         /* of at, in the uncompressed bytes */

	/* Of a gzipped file. */
	bool compressed;
	bool ended; /* the last of its members */
	z_stream z;
	const uint8_t *input, *input_end; /* input: where z has been given bytes from */
	uint8_t *buffer;
	uint64_t produced, produced_max;
};

/* Opens the bytes, which stay the caller's. 0 or -ENOMEM. */
int stream_open(struct stream *s, const uint8_t *bytes, size_t size, struct import_sink *sink);
void stream_release(struct stream *s);

/* Has at least wanted bytes at s->at, if there are so many: at most STREAM_PIECE_MAX. The number
 * that is there, less than wanted only at the end; or -EBADMSG, -EFBIG with the error set. */
int64_t stream_fill(struct stream *s, size_t wanted);

/* Takes bytes that are there. */
static inline void stream_take(struct stream *s, size_t bytes)
{
	s->at += bytes;
	s->offset += bytes;
}

/* Takes so many bytes without having them in one piece. 0; -EBADMSG also when there are fewer. */
int stream_skip(struct stream *s, uint64_t bytes);

#endif
