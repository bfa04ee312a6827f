#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/random.h"
#include "daemon/export/compression.h"

static void add_request(struct export_batch *b, const void *body, size_t size)
{
	struct export_request *r = &b->requests[b->count++];

	r->body = malloc(size + 1);
	assert_non_null(r->body);
	memcpy(r->body, body, size);
	r->body_bytes = size;
}

static void assert_unpacks_to(const struct export_request *r, const void *body, size_t size)
{
	uint8_t *unpacked = malloc(size + 1);
	z_stream z = {.next_in = r->body,
		      .avail_in = (uInt)r->body_bytes,
		      .next_out = unpacked,
		      .avail_out = (uInt)size + 1};

	assert_non_null(unpacked);
	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, size);
	assert_memory_equal(unpacked, body, size);
	(void)inflateEnd(&z);
	free(unpacked);
}

TEST(bodies_are_smaller_and_the_same_or_as_they_were)
{
	static uint8_t rows[200000], noise[5000];
	struct export_batch b = {.requests = calloc(4, sizeof(struct export_request))};
	struct random random;

	random_seed(&random, 1);
	for (size_t i = 0; i < sizeof(rows); i++)
		rows[i] = (uint8_t)(i % 100 < 90 ? i % 100 : random_next(&random));
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)random_next(&random);
	add_request(&b, rows, sizeof(rows));
	add_request(&b, noise, sizeof(noise));
	add_request(&b, "", 0);
	add_request(&b, "x", 1);
	assert_int_equal(compression_apply(&b), 0);
	assert_true(b.requests[0].gzip);
	assert_true(b.requests[0].body_bytes < sizeof(rows) / 4);
	assert_unpacks_to(&b.requests[0], rows, sizeof(rows));
	for (size_t i = 1; i < b.count; i++)
		assert_false(b.requests[i].gzip);
	assert_int_equal(b.requests[1].body_bytes, sizeof(noise));
	assert_memory_equal(b.requests[1].body, noise, sizeof(noise));
	assert_int_equal(b.requests[2].body_bytes, 0);
	assert_int_equal(b.requests[3].body_bytes, 1);
	export_batch_release(&b);
}
