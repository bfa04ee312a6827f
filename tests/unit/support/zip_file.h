/* A zip file of one entry or more, as archivers write it, with what is wrong of it as the test
 * wants. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_ZIP_FILE_H
#define JXPERF_TESTS_UNIT_SUPPORT_ZIP_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

struct zip_file {
	uint8_t *bytes; /* ZIP_FILE_BYTES_MAX of them */
	size_t size;
	size_t base; /* what offsets count from */
	uint8_t directory[1024];
	size_t directory_size, entries;
};

#define ZIP_FILE_BYTES_MAX ((size_t)1 << 20)

static void zip_file_put(uint8_t *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void zip_file_init(struct zip_file *z)
{
	*z = (struct zip_file){.bytes = calloc(1, ZIP_FILE_BYTES_MAX)};
	assert_non_null(z->bytes);
}

static void zip_file_release(struct zip_file *z)
{
	free(z->bytes);
}

static void zip_file_append(struct zip_file *z, const void *bytes, size_t size)
{
	assert_true(z->size + size <= ZIP_FILE_BYTES_MAX);
	memcpy(z->bytes + z->size, bytes, size);
	z->size += size;
}

/* An entry whose bytes are packed already. */
static void zip_file_add_packed(struct zip_file *z, const char *name, unsigned flags,
				unsigned method, const void *packed, size_t packed_size,
				size_t size)
{
	size_t length = strlen(name), local_at = z->size - z->base;
	uint8_t local[30] = {'P', 'K', 3, 4}, entry[46] = {'P', 'K', 1, 2};

	zip_file_put(local + 6, flags, 2);
	zip_file_put(local + 8, method, 2);
	zip_file_put(local + 18, packed_size, 4);
	zip_file_put(local + 22, size, 4);
	zip_file_put(local + 26, length, 2);
	zip_file_put(local + 28, 4, 2); /* An extra field, which the directory has not. */
	zip_file_append(z, local, sizeof(local));
	zip_file_append(z, name, length);
	zip_file_append(z, "\xfe\xca\0\0", 4);
	zip_file_append(z, packed, packed_size);
	zip_file_put(entry + 8, flags, 2);
	zip_file_put(entry + 10, method, 2);
	zip_file_put(entry + 20, packed_size, 4);
	zip_file_put(entry + 24, size, 4);
	zip_file_put(entry + 28, length, 2);
	zip_file_put(entry + 42, local_at, 4);
	assert_true(z->directory_size + sizeof(entry) + length <= sizeof(z->directory));
	memcpy(z->directory + z->directory_size, entry, sizeof(entry));
	memcpy(z->directory + z->directory_size + sizeof(entry), name, length);
	z->directory_size += sizeof(entry) + length;
	z->entries++;
}

static void zip_file_store(struct zip_file *z, const char *name, const char *text)
{
	zip_file_add_packed(z, name, 0, 0, text, strlen(text), strlen(text));
}

static void zip_file_deflate(struct zip_file *z, const char *name, const void *bytes, size_t size)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	size_t most = ZIP_FILE_BYTES_MAX / 2;
	uint8_t *packed = malloc(most);

	assert_non_null(packed);
	stream.next_out = packed;
	stream.avail_out = (uInt)most;
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	zip_file_add_packed(z, name, 0, 8, packed, most - stream.avail_out, size);
	(void)deflateEnd(&stream); /* All was written. */
	free(packed);
}

/* The directory and its end, with a comment. */
static void zip_file_finish(struct zip_file *z, const char *comment)
{
	size_t at = z->size - z->base, length = strlen(comment);
	uint8_t end[22] = {'P', 'K', 5, 6};

	zip_file_put(end + 8, z->entries, 2);
	zip_file_put(end + 10, z->entries, 2);
	zip_file_put(end + 12, z->directory_size, 4);
	zip_file_put(end + 16, at, 4);
	zip_file_put(end + 20, length, 2);
	zip_file_append(z, z->directory, z->directory_size);
	zip_file_append(z, end, sizeof(end));
	zip_file_append(z, comment, length);
}

/* Its first size bytes as a file that is in memory only, to be closed. */
__attribute__((unused)) static int zip_file_open(const struct zip_file *z, size_t size)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, z->bytes, size), size);
	return fd;
}

#endif
