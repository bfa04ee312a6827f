#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"

#define LIMIT 64

static int setup(void **state)
{
	static struct buffer b;

	buffer_init(&b, 1024);
	*state = &b;
	return 0;
}

static int teardown(void **state)
{
	buffer_release(*state);
	return 0;
}

/* A message with something in it; what does not matter here. */
static void make_message(Jxp__DetachRequest *message, uint32_t pid)
{
	jxp__detach_request__init(message);
	message->pid = pid;
}

static void append_header(struct buffer *b, uint32_t length)
{
	uint8_t header[FRAME_HEADER_BYTES] = {(uint8_t)length, (uint8_t)(length >> 8),
					      (uint8_t)(length >> 16), (uint8_t)(length >> 24)};

	assert_int_equal(buffer_append(b, header, sizeof(header)), 0);
}

TEST(what_was_framed_is_unpacked_again, setup, teardown)
{
	struct buffer *b = *state;
	Jxp__DetachRequest message, *copy;
	const uint8_t *payload;
	int64_t size;

	make_message(&message, 4711);
	assert_int_equal(frame_append(b, &message.base, LIMIT), 0);
	size = frame_peek(b, LIMIT, &payload);
	assert_true(size > 0);
	copy = jxp__detach_request__unpack(NULL, (size_t)size, payload);
	assert_non_null(copy);
	assert_int_equal(copy->pid, 4711);
	jxp__detach_request__free_unpacked(copy, NULL);
	frame_consume(b, (size_t)size);
	assert_int_equal(buffer_length(b), 0);
}

TEST(the_length_is_little_endian, setup, teardown)
{
	struct buffer *b = *state;
	Jxp__DetachRequest message;

	make_message(&message, 1);
	assert_int_equal(frame_append(b, &message.base, LIMIT), 0);
	assert_memory_equal(buffer_head(b), "\x02\x00\x00\x00\x08\x01", 6);
}

TEST(a_frame_that_arrives_byte_by_byte_is_waited_for, setup, teardown)
{
	struct buffer *b = *state;
	static const char bytes[] = "\x03\x00\x00\x00xyz";
	const uint8_t *payload = NULL;

	for (size_t i = 0; i < sizeof(bytes) - 2; i++) {
		assert_int_equal(buffer_append(b, bytes + i, 1), 0);
		assert_int_equal(frame_peek(b, LIMIT, &payload), 0);
	}
	assert_int_equal(buffer_append(b, bytes + sizeof(bytes) - 2, 1), 0);
	assert_int_equal(frame_peek(b, LIMIT, &payload), 3);
	assert_memory_equal(payload, "xyz", 3);
}

TEST(frames_are_taken_one_after_the_other, setup, teardown)
{
	struct buffer *b = *state;
	const uint8_t *payload;

	append_header(b, 1);
	assert_int_equal(buffer_append(b, "a", 1), 0);
	append_header(b, 2);
	assert_int_equal(buffer_append(b, "bc", 2), 0);
	assert_int_equal(frame_peek(b, LIMIT, &payload), 1);
	assert_int_equal(*payload, 'a');
	frame_consume(b, 1);
	assert_int_equal(frame_peek(b, LIMIT, &payload), 2);
	assert_memory_equal(payload, "bc", 2);
	frame_consume(b, 2);
	assert_int_equal(frame_peek(b, LIMIT, &payload), 0);
}

TEST(an_empty_frame_is_an_error, setup, teardown)
{
	const uint8_t *payload;

	append_header(*state, 0);
	assert_int_equal(frame_peek(*state, LIMIT, &payload), -EMSGSIZE);
}

TEST(a_length_above_the_limit_is_an_error_before_its_bytes_come, setup, teardown)
{
	const uint8_t *payload;

	append_header(*state, LIMIT + 1);
	assert_int_equal(frame_peek(*state, LIMIT, &payload), -EMSGSIZE);
	buffer_clear(*state);
	append_header(*state, UINT32_MAX);
	assert_int_equal(frame_peek(*state, LIMIT, &payload), -EMSGSIZE);
	buffer_clear(*state);
	append_header(*state, LIMIT);
	assert_int_equal(frame_peek(*state, LIMIT, &payload), 0);
}

TEST(a_message_above_the_limit_is_not_appended, setup, teardown)
{
	Jxp__DetachRequest message;

	make_message(&message, 4711);
	assert_int_equal(frame_append(*state, &message.base, 2), -EMSGSIZE);
	assert_int_equal(buffer_length(*state), 0);
}

/* proto3 packs an all-default message into nothing, which a frame cannot carry. */
TEST(an_empty_message_is_not_appended, setup, teardown)
{
	Jxp__DetachRequest message;

	make_message(&message, 0);
	assert_int_equal(frame_append(*state, &message.base, LIMIT), -EMSGSIZE);
	assert_int_equal(buffer_length(*state), 0);
}

TEST(a_message_beyond_the_buffer_is_not_appended)
{
	Jxp__DetachRequest message;
	struct buffer small;

	buffer_init(&small, 5);
	make_message(&message, 1);
	assert_int_equal(frame_append(&small, &message.base, LIMIT), -ENOBUFS);
	assert_int_equal(buffer_length(&small), 0);
	buffer_release(&small);
}
