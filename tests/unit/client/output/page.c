#include "tests/unit/support/test.h"

#include <errno.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "client/output/page.h"

/* What a browser makes of the text between two marks. */
static void assert_data(const char *filled, const char *before, const char *behind,
			const char *expected, size_t size)
{
	size_t head = strlen(before), tail = strlen(behind), length = strlen(filled);
	uint8_t *compressed = malloc(length);
	uint8_t *data = malloc(size + 1);
	struct base64_decode_ctx base64;
	size_t compressed_size = length;
	z_stream stream = {0};

	assert_memory_equal(filled, before, head);
	assert_string_equal(filled + length - tail, behind);
	base64_decode_init(&base64);
	assert_true(base64_decode_update(&base64, &compressed_size, compressed,
					 length - head - tail, filled + head));
	assert_true(base64_decode_final(&base64));
	assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	stream.next_in = compressed;
	stream.avail_in = (uInt)compressed_size;
	stream.next_out = data;
	stream.avail_out = (uInt)size + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, size);
	assert_memory_equal(data, expected, size);
	(void)inflateEnd(&stream);
	free(compressed);
	free(data);
}

TEST(data_stands_where_the_mark_was)
{
	static const char data[] = "{\"class\":\"</script><b>@REPORT@\"}";
	char *filled;
	size_t size;

	assert_int_equal(page_fill("<p>@REPORT@</p>", data, strlen(data), &filled, &size, NULL), 0);
	assert_int_equal(size, strlen(filled));
	assert_data(filled, "<p>", "</p>", data, strlen(data));
	free(filled);
}

TEST(no_data_is_data)
{
	char *filled;
	size_t size;

	assert_int_equal(page_fill("@REPORT@", "", 0, &filled, &size, NULL), 0);
	assert_data(filled, "", "", "", 0);
	free(filled);
}

TEST(much_data_is_all_there)
{
	size_t size, length = 3 << 20;
	char *data = malloc(length), *filled;

	for (size_t i = 0; i < length; i++)
		data[i] = (char)(i * 2654435761u >> 13); /* That does not compress well. */
	assert_int_equal(page_fill("a@REPORT@b", data, length, &filled, &size, NULL), 0);
	assert_data(filled, "a", "b", data, length);
	free(data);
	free(filled);
}

TEST(a_page_without_a_mark_is_none)
{
	char *filled;
	size_t size;
	struct err err;

	assert_int_equal(page_fill("<p></p>", "{}", 2, &filled, &size, &err), -EINVAL);
	assert_non_null(strstr(err.message, "install"));
}
