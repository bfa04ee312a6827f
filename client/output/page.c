#include "client/output/page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/base64.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"

#define PAGE_FROM_BINARY "../share/jxperf/page.html"
#define MARK             "@REPORT@"

/* Added to the bits of the window (deflateInit2). */
#define GZIP_HEADER  16
#define MEMORY_LEVEL 8

int page_read(char **page, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (proc_beside_self(path, sizeof(path), PAGE_FROM_BINARY) < 0)
		return err_set(err, ENAMETOOLONG, "this program's own path cannot be read");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ENOENT,
			       "there is no page at '%s': jxperf was built without Node.js; use "
			       "another --format, or install a package of jxperf",
			       path);
	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return err_set(err, EINVAL, "'%s' is empty: install jxperf again", path);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	n = fd_read_text(fd, text, (size_t)st.st_size + 1);
	if (n < 0)
		return err_set_errno(err, (int)-n, "cannot read '%s'", path);
	*page = TAKE_PTR(text);
	return 0;
}

/* 0, -EFBIG or -ENOMEM. */
static int compress_data(const void *data, size_t size, uint8_t **compressed, size_t *used)
{
	z_stream stream = {0};
	uLong bound;
	int r;

	if (size > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_HEADER,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, (uLong)size);
	*compressed = malloc(bound);
	stream.next_in = (Bytef *)data;
	stream.avail_in = (uInt)size;
	stream.next_out = *compressed;
	stream.avail_out = (uInt)bound;
	r = *compressed ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
	*used = stream.total_out;
	(void)deflateEnd(&stream); /* Says that not all was taken, which is known. */
	return r == Z_STREAM_END ? 0 : -ENOMEM;
}

int page_fill(const char *page, const void *data, size_t data_size, char **filled, size_t *size,
	      struct err *err)
{
	const char *mark = strstr(page, MARK);
	_cleanup_free_ uint8_t *compressed = NULL;
	size_t used = 0, before, text;
	char *out;
	int r;

	if (!mark)
		return err_set(err, EINVAL,
			       "the page of this installation has no place for a report: install "
			       "jxperf again");
	r = compress_data(data, data_size, &compressed, &used);
	if (r < 0)
		return err_set(err, -r,
			       "the report cannot be compressed: ask for less of it, with "
			       "--pairs N");
	before = (size_t)(mark - page);
	text = BASE64_ENCODE_RAW_LENGTH(used);
	out = malloc(strlen(page) + text + 1);
	if (!out)
		return err_set(err, ENOMEM, "out of memory");
	memcpy(out, page, before);
	base64_encode_raw(out + before, used, compressed);
	strcpy(out + before + text, mark + strlen(MARK));
	*filled = out;
	*size = before + text + strlen(mark + strlen(MARK));
	return 0;
}
