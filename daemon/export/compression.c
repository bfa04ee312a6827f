#include "daemon/export/compression.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_HEADER 16 /* added to the bits of the window (deflateInit2) */
/* The fastest: docs/fleet.md has what it was measured to do. */
#define LEVEL        Z_BEST_SPEED
#define MEMORY_LEVEL 8 /* zlib's default */

/* Into at most size bytes. 0 with *used; -ENOBUFS where they do not suffice; or -ENOMEM. */
static int deflate_all(struct export_request *r, uint8_t *out, size_t size, size_t *used)
{
	z_stream stream = {.next_in = r->body,
			   .avail_in = (uInt)r->body_bytes,
			   .next_out = out,
			   .avail_out = (uInt)size};
	int end;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	end = deflate(&stream, Z_FINISH);
	*used = size - stream.avail_out;
	(void)deflateEnd(&stream); /* Says only whether all had been taken. */
	return end == Z_STREAM_END ? 0 : -ENOBUFS;
}

static int compress_request(struct export_request *r)
{
	uint8_t *packed, *fit;
	size_t used = 0;
	int e;

	if (r->body_bytes == 0 || r->body_bytes > UINT_MAX)
		return 0;
	packed = malloc(r->body_bytes);
	if (!packed)
		return -ENOMEM;
	e = deflate_all(r, packed, r->body_bytes, &used);
	if (e < 0) {
		free(packed);
		return e == -ENOBUFS ? 0 : e;
	}
	free(r->body);
	fit = realloc(packed, used);
	r->body = fit ? fit : packed;
	r->body_bytes = used;
	r->gzip = true;
	return 0;
}

int compression_apply(struct export_batch *batch)
{
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++)
		r = compress_request(&batch->requests[i]);
	return r;
}
