#include "daemon/inspector/zip_entry.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define END_MARK      0x06054b50u
#define END_BYTES     22u
#define COMMENT_MAX   65535u
#define ENTRY_MARK    0x02014b50u
#define ENTRY_BYTES   46u
#define NAME_MAX_READ 64u /* longer names are not asked for */
#define LOCAL_MARK    0x04034b50u
#define LOCAL_BYTES   30u
#define FLAG_SECRET   1u
#define STORED        0u
#define DEFLATED      8u

struct zip_directory {
	uint64_t at, end;
	uint64_t base; /* what its offsets count from */
};

struct zip_entry {
	unsigned flags, method;
	uint64_t packed_bytes;
	uint64_t local_at;
};

static unsigned get16(const uint8_t *at)
{
	return at[0] | (unsigned)at[1] << 8;
}

static uint32_t get32(const uint8_t *at)
{
	return get16(at) | (uint32_t)get16(at + 2) << 16;
}

/* ---------------------------------------------------------------- where the entry is */

static bool begins_entry(int fd, uint64_t at)
{
	uint8_t mark[4];

	return fd_read_at(fd, mark, sizeof(mark), at) == sizeof(mark) && get32(mark) == ENTRY_MARK;
}

/* end: of the directory's end, which lies at end_at. */
static int take_directory(int fd, const uint8_t *end, uint64_t end_at, struct zip_directory *d)
{
	uint64_t bytes = get32(end + 12), offset = get32(end + 16);

	if (bytes + offset > end_at)
		return -EBADMSG;
	d->base = 0;
	/* Offsets may count from where the archive begins, behind what is in front of it. */
	if (!begins_entry(fd, offset))
		d->base = end_at - bytes - offset;
	d->at = d->base + offset;
	d->end = d->at + bytes;
	return 0;
}

static int find_directory(int fd, struct zip_directory *d)
{
	_cleanup_free_ uint8_t *tail = malloc(END_BYTES + COMMENT_MAX);
	uint64_t at;
	struct stat st;
	ssize_t n;

	if (!tail)
		return -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	at = (uint64_t)st.st_size > END_BYTES + COMMENT_MAX
		 ? (uint64_t)st.st_size - END_BYTES - COMMENT_MAX
		 : 0;
	n = fd_read_at(fd, tail, END_BYTES + COMMENT_MAX, at);
	if (n < 0)
		return (int)n;
	for (ssize_t i = n - END_BYTES; i >= 0; i--)
		if (get32(tail + i) == END_MARK && i + END_BYTES + get16(tail + i + 20) == n)
			return take_directory(fd, tail + i, at + (uint64_t)i, d);
	return -EBADMSG;
}

static int find_entry(int fd, const struct zip_directory *d, const char *name, struct zip_entry *e)
{
	size_t length = strlen(name);
	uint64_t at = d->at;

	for (unsigned i = 0; i < ZIP_ENTRIES_MAX && at < d->end; i++) {
		uint8_t head[ENTRY_BYTES + NAME_MAX_READ] = {0};
		ssize_t n = fd_read_at(fd, head, sizeof(head), at);

		if (n < 0)
			return (int)n;
		if (n < (ssize_t)ENTRY_BYTES || get32(head) != ENTRY_MARK)
			return -EBADMSG;
		if (get16(head + 28) == length && n >= (ssize_t)(ENTRY_BYTES + length) &&
		    strncasecmp((const char *)head + ENTRY_BYTES, name, length) == 0) {
			*e = (struct zip_entry){.flags = get16(head + 8),
						.method = get16(head + 10),
						.packed_bytes = get32(head + 20),
						.local_at = d->base + get32(head + 42)};
			return 0;
		}
		at += ENTRY_BYTES + get16(head + 28) + get16(head + 30) + get16(head + 32);
	}
	return -ENOENT;
}

/* ---------------------------------------------------------------- what is in it */

/* What is used of zlib, each as its function of that name. */
struct zip_zlib {
	int (*init)(z_streamp stream, int window_bits, const char *version, int stream_bytes);
	int (*inflate)(z_streamp stream, int flush);
	int (*end)(z_streamp stream);
};

/* NULL: there is none. Never unloaded. */
static const struct zip_zlib *load_zlib(void)
{
	static struct zip_zlib found;
	void *library = found.end ? NULL : dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library) {
		*(void **)&found.init = dlsym(library, "inflateInit2_");
		*(void **)&found.inflate = dlsym(library, "inflate");
		*(void **)&found.end = dlsym(library, "inflateEnd");
	}
	return found.init && found.inflate && found.end ? &found : NULL;
}

static ssize_t unpack(uint8_t *packed, size_t packed_bytes, char *text, size_t size, bool *whole)
{
	const struct zip_zlib *zlib = load_zlib();
	z_stream stream = {.next_in = packed,
			   .avail_in = (uInt)packed_bytes,
			   .next_out = (Bytef *)text,
			   .avail_out = (uInt)size};
	int r;

	/* Without a header of zlib's own, which entries of a zip file lack. */
	if (!zlib || zlib->init(&stream, -MAX_WBITS, ZLIB_VERSION, (int)sizeof(stream)) != Z_OK)
		return -ENOTSUP;
	r = zlib->inflate(&stream, Z_SYNC_FLUSH);
	(void)zlib->end(&stream); /* Fails only for a stream that was not made. */
	/* No room, or nothing more to read, is no damage of what there is. */
	if (r != Z_STREAM_END && r != Z_OK && r != Z_BUF_ERROR)
		return -EBADMSG;
	*whole = r == Z_STREAM_END;
	return (ssize_t)(size - stream.avail_out);
}

static ssize_t read_entry(int fd, const struct zip_entry *e, char *text, size_t size, bool *whole)
{
	size_t packed_bytes = e->packed_bytes < ZIP_PACKED_MAX ? e->packed_bytes : ZIP_PACKED_MAX;
	_cleanup_free_ uint8_t *packed = malloc(packed_bytes + 1);
	uint8_t local[LOCAL_BYTES];
	uint64_t at;
	ssize_t n = fd_read_at(fd, local, sizeof(local), e->local_at);

	if (!packed)
		return -ENOMEM;
	if (n < 0)
		return n;
	if (n < (ssize_t)LOCAL_BYTES || get32(local) != LOCAL_MARK)
		return -EBADMSG;
	if (e->flags & FLAG_SECRET || (e->method != STORED && e->method != DEFLATED))
		return -ENOTSUP;
	at = e->local_at + LOCAL_BYTES + get16(local + 26) + get16(local + 28);
	n = fd_read_at(fd, packed, packed_bytes, at);
	if (n < 0)
		return n;
	if ((size_t)n < packed_bytes)
		return -EBADMSG;
	if (e->method == DEFLATED)
		return unpack(packed, packed_bytes, text, size, whole);
	*whole = e->packed_bytes <= size && e->packed_bytes == packed_bytes;
	if (packed_bytes < size)
		size = packed_bytes;
	memcpy(text, packed, size);
	return (ssize_t)size;
}

ssize_t zip_entry_read(int fd, const char *name, char *text, size_t size, bool *whole)
{
	struct zip_directory directory = {0};
	struct zip_entry entry = {0};
	int r = find_directory(fd, &directory);

	if (r == 0)
		r = find_entry(fd, &directory, name, &entry);
	return r < 0 ? r : read_entry(fd, &entry, text, size, whole);
}
