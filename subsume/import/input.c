/* Compression and encodings. */
#include "subsume/import/input.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/array.h"
#include "common/cleanup.h"

/* zlib: a window of 2^15 bytes, and only gzip's header. */
#define GZIP_WINDOW (15 + 16)

/* So much is decompressed at once; it stays in a processor's cache. */
#define STEP_BYTES ((size_t)64 << 10)

/* zlib is given so much at once: it counts in 32 bits. */
#define GIVEN_MAX ((size_t)1 << 30)

#define MAGIC(offset, bytes) (offset), (bytes), sizeof(bytes) - 1

/* Files that begin so are refused. */
static const struct {
	size_t offset;
	const char *magic;
	size_t length;
	const char *why;
} foreign[] = {
    {MAGIC(0, "\xfd"
	      "7zXZ\0"),
     "it is compressed by xz: decompress it"},
    {MAGIC(0, "\x28\xb5\x2f\xfd"), "it is compressed by zstd: decompress it"},
    {MAGIC(4, "1AY&SY"), "it is compressed by bzip2: decompress it"},
    {MAGIC(0, "\x04\x22\x4d\x18"), "it is compressed by lz4: decompress it"},
    {MAGIC(0, "\x02\x21\x4c\x18"), "it is compressed by lz4: decompress it"},
    {MAGIC(0, "LZIP\1"), "it is compressed by lzip: decompress it"},
    {MAGIC(0, "\x89LZO\0"), "it is compressed by lzop: decompress it"},
    {MAGIC(0, "\x5d\0\0"), "it is compressed by lzma: decompress it"},
    {MAGIC(0, "\x1f\x9d"), "it is compressed by compress: decompress it"},
    {MAGIC(0, "PK\3\4"), "it is a zip archive: unpack it"},
    {MAGIC(0, "7z\xbc\xaf\x27\x1c"), "it is a 7z archive: unpack it"},
    {MAGIC(0, "\xff\xfe\0\0"), "it is UTF-32: convert it to UTF-8"},
    {MAGIC(0, "\0\0\xfe\xff"), "it is UTF-32: convert it to UTF-8"},
    {MAGIC(0, "PERFILE2"),
     "it is perf's own file: make collapsed stacks of what 'perf script' says"},
    {MAGIC(0, "JAVA PROFILE "), "it is a heap dump, in which no cost is: give a profile"},
};

static int refuse_foreign(const uint8_t *bytes, size_t size, struct err *err)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (size >= foreign[i].offset + foreign[i].length &&
		    memcmp(bytes + foreign[i].offset, foreign[i].magic, foreign[i].length) == 0)
			return err_set(err, EBADMSG, "%s", foreign[i].why);
	return 0;
}

/* ---------------------------------------------------------------- gzip */

static bool is_gzip(const uint8_t *bytes, size_t size)
{
	return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

struct unpacking {
	z_stream z;
	const uint8_t *begin, *at, *end; /* at: up to where z has been given bytes */
	uint8_t *out;
	size_t used, room;
	uint64_t most;
	bool ended; /* the last of its members, or the data are cut */
	bool cut;
	struct import_notes *notes;
	struct err *err;
};

static void give_input(struct unpacking *u)
{
	size_t left = (size_t)(u->end - u->at);

	if (u->z.avail_in > 0)
		return;
	u->z.next_in = (uint8_t *)u->at;
	u->z.avail_in = (unsigned)(left < GIVEN_MAX ? left : GIVEN_MAX);
	u->at += u->z.avail_in;
}

static int check_size(const struct unpacking *u)
{
	uint64_t taken = (uint64_t)(u->at - u->begin) - u->z.avail_in;

	if (u->used > u->most)
		return err_set(u->err, EFBIG,
			       "it decompresses to more than %" PRIu64
			       " bytes: decompress it before it is given",
			       u->most);
	if (u->used > INPUT_RATIO_FROM && u->used / INPUT_RATIO_MAX > taken)
		return err_set(u->err, EFBIG,
			       "it decompresses to more than %u times its bytes, as no profile "
			       "does: if it is one, decompress it before it is given",
			       INPUT_RATIO_MAX);
	return 0;
}

/* A member has ended: is there another? What else is behind it is no part of it; gzip(1) leaves it
 * out, too. */
static int next_member(struct unpacking *u)
{
	give_input(u);
	u->ended = u->z.avail_in < 2 || !is_gzip(u->z.next_in, u->z.avail_in);
	if (u->ended && u->z.avail_in > 0 && *u->z.next_in != 0)
		import_notes_remark(u->notes, "what is behind the compressed data is left out");
	if (!u->ended && inflateReset(&u->z) != Z_OK)
		return err_set(u->err, ENOMEM, "no memory to decompress in");
	return 0;
}

static int step(struct unpacking *u)
{
	int r = array_reserve(&u->out, &u->room, u->used + STEP_BYTES, 1);

	if (r < 0)
		return err_set(u->err, ENOMEM, "no memory to decompress in");
	give_input(u);
	u->z.next_out = u->out + u->used;
	u->z.avail_out = (unsigned)STEP_BYTES;
	r = inflate(&u->z, Z_NO_FLUSH);
	u->used += STEP_BYTES - u->z.avail_out;
	if (r == Z_STREAM_END)
		r = next_member(u);
	else if (r == Z_BUF_ERROR)
		u->cut = u->ended = true, r = 0;
	else if (r != Z_OK)
		return err_set(u->err, r == Z_MEM_ERROR ? ENOMEM : EBADMSG,
			       "at byte %zu: the compressed data are damaged: %s", u->used,
			       u->z.msg ? u->z.msg : "not gzip's");
	return r < 0 ? r : check_size(u);
}

static int unpack(struct import_input *in, uint64_t most, struct import_notes *notes,
		  struct err *err)
{
	struct unpacking u = {
	    .begin = in->bytes, .at = in->bytes, .most = most, .notes = notes, .err = err};
	int r = 0;

	u.end = in->bytes + in->size;
	if (inflateInit2(&u.z, GZIP_WINDOW) != Z_OK)
		return err_set(err, ENOMEM, "no memory to decompress in");
	do
		r = step(&u);
	while (r == 0 && !u.ended);
	(void)inflateEnd(&u.z);
	if (r < 0) {
		free(u.out);
		return r;
	}
	assert(u.out); /* Each step makes room. */
	in->bytes = in->own = u.out;
	in->size = u.used;
	in->cut = u.cut;
	return 0;
}

/* ---------------------------------------------------------------- UTF-16 */

/* Which half of a unit comes first: 1 the lower, 2 the upper, 0: it is not UTF-16. Without a mark
 * by two characters of ASCII, which no format that is read begins with. */
static int utf16_order(const uint8_t *b, size_t size)
{
	if (size < 4)
		return 0;
	if ((b[0] == 0xff && b[1] == 0xfe) || (b[0] && !b[1] && b[2] && !b[3]))
		return 1;
	return (b[0] == 0xfe && b[1] == 0xff) || (!b[0] && b[1] && !b[2] && b[3]) ? 2 : 0;
}

/* As UTF-8; halves of surrogates as in modified UTF-8, which names are put in order from. */
static size_t put_unit(uint8_t *to, unsigned unit)
{
	if (unit < 0x80) {
		to[0] = (uint8_t)unit;
		return 1;
	}
	if (unit < 0x800) {
		to[0] = (uint8_t)(0xc0 | unit >> 6);
		to[1] = (uint8_t)(0x80 | (unit & 0x3f));
		return 2;
	}
	to[0] = (uint8_t)(0xe0 | unit >> 12);
	to[1] = (uint8_t)(0x80 | (unit >> 6 & 0x3f));
	to[2] = (uint8_t)(0x80 | (unit & 0x3f));
	return 3;
}

static int from_utf16(struct import_input *in, int order, struct err *err)
{
	size_t units = in->size / 2, used = 0;
	uint8_t *text = malloc(units * 3 + 1);

	if (!text)
		return err_set(err, ENOMEM, "no memory to convert UTF-16");
	for (size_t i = 0; i < units; i++) {
		unsigned low = in->bytes[2 * i + (order == 2)], high;

		high = in->bytes[2 * i + (order == 1)];
		used += put_unit(text + used, high << 8 | low);
	}
	free(in->own);
	in->bytes = in->own = text;
	in->size = used;
	return 0;
}

/* ---------------------------------------------------------------- the whole */

int import_input_open(struct import_input *in, const uint8_t *bytes, size_t size,
		      uint64_t unpacked_max, struct import_notes *notes, struct err *err)
{
	int r = 0, order;

	if (size == 0)
		return err_set(err, ENODATA, "it is empty");
	*in = (struct import_input){.bytes = bytes, .size = size};
	if (is_gzip(bytes, size))
		r = unpack(in, unpacked_max, notes, err);
	if (r == 0 && in->size == 0 && !in->cut)
		r = err_set(err, ENODATA, "it is empty");
	if (r == 0 && in->own && is_gzip(in->bytes, in->size))
		r = err_set(err, EBADMSG, "it is compressed twice: decompress it");
	if (r == 0)
		r = refuse_foreign(in->bytes, in->size, err);
	order = r == 0 ? utf16_order(in->bytes, in->size) : 0;
	if (order)
		r = from_utf16(in, order, err);
	if (r < 0)
		import_input_release(in);
	return r;
}

void import_input_release(struct import_input *in)
{
	free(in->own);
	*in = (struct import_input){0};
}
