#include "tests/unit/support/test.h"
#include <unistd.h>

#include <errno.h>
#include <string.h>

#include "common/buffer.h"

TEST(an_empty_buffer_holds_nothing)
{
	struct buffer b;

	buffer_init(&b, 16);
	assert_int_equal(buffer_length(&b), 0);
	assert_int_equal(buffer_append(&b, NULL, 0), 0);
	buffer_release(&b);
}

TEST(bytes_come_out_in_the_order_they_went_in)
{
	struct buffer b;

	buffer_init(&b, 64);
	assert_int_equal(buffer_append(&b, "hello ", 6), 0);
	assert_int_equal(buffer_append(&b, "world", 5), 0);
	assert_int_equal(buffer_length(&b), 11);
	assert_memory_equal(buffer_head(&b), "hello world", 11);
	buffer_consume(&b, 6);
	assert_int_equal(buffer_length(&b), 5);
	assert_memory_equal(buffer_head(&b), "world", 5);
	buffer_release(&b);
}

TEST(the_limit_can_be_reached_but_not_passed)
{
	struct buffer b;

	buffer_init(&b, 8);
	assert_int_equal(buffer_append(&b, "12345678", 8), 0);
	assert_int_equal(buffer_append(&b, "9", 1), -ENOBUFS);
	assert_int_equal(buffer_length(&b), 8);
	assert_memory_equal(buffer_head(&b), "12345678", 8);
	buffer_release(&b);
}

TEST(a_size_near_the_end_of_the_address_space_is_refused)
{
	struct buffer b;

	buffer_init(&b, 64);
	assert_int_equal(buffer_append(&b, "x", 1), 0);
	assert_null(buffer_reserve(&b, SIZE_MAX));
	assert_int_equal(errno, ENOBUFS);
	assert_null(buffer_reserve(&b, SIZE_MAX - 1));
	assert_int_equal(buffer_length(&b), 1);
	buffer_release(&b);
}

/* Appends and consumes so that the content would wander out of its memory if the front were not
 * used again. */
TEST(consumed_space_is_used_again)
{
	uint8_t next_in = 0, next_out = 0;
	struct buffer b;

	buffer_init(&b, 32);
	for (int round = 0; round < 1000; round++) {
		uint8_t bytes[7];

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = next_in++;
		assert_int_equal(buffer_append(&b, bytes, sizeof(bytes)), 0);
		while (buffer_length(&b) > 20) {
			assert_int_equal(*buffer_head(&b), next_out);
			next_out++;
			buffer_consume(&b, 1);
		}
	}
	assert_true(b.capacity <= 32);
	buffer_release(&b);
}

TEST(reserved_bytes_count_only_once_committed)
{
	struct buffer b;
	uint8_t *to;

	buffer_init(&b, 64);
	to = buffer_reserve(&b, 10);
	assert_non_null(to);
	memset(to, 'a', 3);
	assert_int_equal(buffer_length(&b), 0);
	buffer_commit(&b, 3);
	assert_int_equal(buffer_length(&b), 3);
	assert_memory_equal(buffer_head(&b), "aaa", 3);
	buffer_release(&b);
}

TEST(a_cleared_buffer_keeps_its_memory)
{
	struct buffer b;
	size_t capacity;

	buffer_init(&b, 64);
	assert_int_equal(buffer_append(&b, "abc", 3), 0);
	capacity = b.capacity;
	buffer_clear(&b);
	assert_int_equal(buffer_length(&b), 0);
	assert_int_equal(b.capacity, capacity);
	buffer_release(&b);
}

TEST(a_released_buffer_can_be_used_again)
{
	struct buffer b;

	buffer_init(&b, 4);
	assert_int_equal(buffer_append(&b, "abcd", 4), 0);
	buffer_release(&b);
	assert_int_equal(buffer_length(&b), 0);
	assert_int_equal(buffer_append(&b, "efgh", 4), 0);
	assert_int_equal(buffer_append(&b, "i", 1), -ENOBUFS);
	assert_memory_equal(buffer_head(&b), "efgh", 4);
	buffer_release(&b);
}

TEST(what_a_file_has_is_read_to_its_end)
{
	struct buffer b;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "and more", 8), 8);
	close(ends[1]);
	buffer_init(&b, 2 * BUFFER_READ_BYTES);
	assert_int_equal(buffer_append(&b, "this ", 5), 0);
	assert_int_equal(buffer_read_all(&b, ends[0]), 0);
	assert_int_equal(buffer_length(&b), 13);
	assert_memory_equal(buffer_head(&b), "this and more", 13);
	close(ends[0]);
	assert_int_equal(buffer_read_all(&b, ends[0]), -EBADF);
	assert_int_equal(buffer_length(&b), 13);
	buffer_release(&b);
	buffer_init(&b, BUFFER_READ_BYTES - 1);
	assert_int_equal(buffer_read_all(&b, ends[0]), -ENOBUFS);
	buffer_release(&b);
}
