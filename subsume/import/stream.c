/* Bytes, gzipped or not. */
#include "subsume/import/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "subsume/import/import.h"

/* What is decompressed at once when less is needed; it stays in a processor's cache. */
#define STEP_BYTES (UINT32_C(64) << 10)

/* zlib: a window of 2^15 bytes, and only gzip's header. */
#define GZIP_WINDOW (15 + 16)

int stream_open(struct stream *s, const uint8_t *bytes, size_t size, struct import_sink *sink)
{
	uint64_t most = sink->options->bytes_max;

	*s = (struct stream){.sink = sink, .at = bytes, .end = bytes + size};
	if (size < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return 0;
	s->compressed = true;
	s->input = bytes;
	s->input_end = bytes + size;
	s->at = s->end = NULL;
	s->produced_max = most ? most : IMPORT_BYTES_MAX;
	s->buffer = malloc(STREAM_PIECE_MAX + STEP_BYTES);
	if (!s->buffer || inflateInit2(&s->z, GZIP_WINDOW) != Z_OK) {
		free(s->buffer);
		s->buffer = NULL;
		return err_set(sink->err, ENOMEM, "no memory to decompress in");
	}
	s->at = s->end = s->buffer;
	return 0;
}

void stream_release(struct stream *s)
{
	if (s->buffer)
		(void)inflateEnd(&s->z);
	free(s->buffer);
	*s = (struct stream){0};
}

/* zlib counts in 32 bits. */
static void give_input(struct stream *s)
{
	size_t left = (size_t)(s->input_end - s->input);

	if (s->z.avail_in > 0)
		return;
	s->z.next_in = (uint8_t *)s->input;
	s->z.avail_in = left < INT_MAX ? (unsigned)left : INT_MAX;
	s->input += s->z.avail_in;
}

/* A member has ended: is there another? */
static int next_member(struct stream *s)
{
	give_input(s);
	if (s->z.avail_in == 0)
		s->ended = true;
	else if (inflateReset(&s->z) != Z_OK)
		return err_set(s->sink->err, ENOMEM, "no memory to decompress in");
	return 0;
}

/* Decompresses up to room bytes behind what is there. */
static int step(struct stream *s, size_t room)
{
	int r;

	give_input(s);
	s->z.next_out = (uint8_t *)s->end;
	s->z.avail_out = (unsigned)room;
	r = inflate(&s->z, Z_NO_FLUSH);
	s->produced += room - s->z.avail_out;
	s->end += room - s->z.avail_out;
	if (s->produced > s->produced_max)
		return err_set(s->sink->err, EFBIG,
			       "it decompresses to more than %" PRIu64 " bytes: that is the most "
			       "that is read",
			       s->produced_max);
	if (r == Z_STREAM_END)
		return next_member(s);
	if (r == Z_BUF_ERROR)
		return import_fail(s->sink, EBADMSG, s->produced,
				   "the compressed data end too early");
	if (r != Z_OK)
		return import_fail(s->sink, r == Z_MEM_ERROR ? ENOMEM : EBADMSG, s->produced,
				   "the compressed data are damaged: %s",
				   s->z.msg ? s->z.msg : "not gzip's");
	return 0;
}

int64_t stream_fill(struct stream *s, size_t wanted)
{
	size_t have = (size_t)(s->end - s->at);

	if (have >= wanted || !s->compressed)
		return (int64_t)have;
	memmove(s->buffer, s->at, have);
	s->at = s->buffer;
	s->end = s->buffer + have;
	while (have < wanted && !s->ended) {
		int r = step(s, wanted - have > STEP_BYTES ? wanted - have : STEP_BYTES);

		if (r < 0)
			return r;
		have = (size_t)(s->end - s->at);
	}
	return (int64_t)have;
}

int stream_skip(struct stream *s, uint64_t bytes)
{
	while (bytes > 0) {
		int64_t have = stream_fill(s, 1);
		size_t part;

		if (have < 0)
			return (int)have;
		if (have == 0)
			return import_fail(s->sink, EBADMSG, s->offset,
					   "the file ends %" PRIu64 " bytes too early", bytes);
		part = (uint64_t)have < bytes ? (size_t)have : (size_t)bytes;
		stream_take(s, part);
		bytes -= part;
	}
	return 0;
}
