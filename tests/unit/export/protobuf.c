#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/protobuf/protobuf.h"

TEST(what_is_written_is_read_back)
{
	static const uint64_t numbers[] = {1, 127, 128, 16383, 16384, UINT64_MAX};
	struct protobuf p = {0};
	struct protobuf_reader r;
	struct protobuf_field field;

	for (unsigned i = 0; i < 6; i++)
		protobuf_number(&p, i + 1, numbers[i]);
	protobuf_number(&p, 7, 0);
	protobuf_text(&p, 8, "");
	protobuf_bytes(&p, 9, "", 0);
	protobuf_chosen_number(&p, 536870911, 0);
	r = (struct protobuf_reader){.bytes = p.bytes, .size = p.used};
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(protobuf_next(&r, &field), 1);
		assert_int_equal(field.number, i + 1);
		assert_false(field.is_bytes);
		assert_int_equal(field.value, numbers[i]);
	}
	assert_int_equal(protobuf_next(&r, &field), 1); /* 7 and 8 are not there. */
	assert_true(field.number == 9 && field.is_bytes && field.size == 0);
	assert_int_equal(protobuf_next(&r, &field), 1);
	assert_true(field.number == 536870911 && !field.is_bytes && field.value == 0);
	assert_int_equal(protobuf_next(&r, &field), 0);
	protobuf_release(&p);
}

/* The length goes before what is there already, and may take several bytes itself. */
TEST(messages_in_messages_have_their_lengths)
{
	static const size_t sizes[] = {0, 1, 127, 128, 16384, 3000000};
	char *text = calloc(1, 3000000);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct protobuf p = {0};
		struct protobuf_reader r;
		struct protobuf_field outer, inner;
		size_t begun = protobuf_begin(&p, 3), in = protobuf_begin(&p, 4);

		protobuf_bytes(&p, 5, text, sizes[i]);
		protobuf_end(&p, in);
		protobuf_end(&p, begun);
		protobuf_number(&p, 6, 7);
		r = (struct protobuf_reader){.bytes = p.bytes, .size = p.used};
		assert_int_equal(protobuf_next(&r, &outer), 1);
		assert_int_equal(outer.number, 3);
		assert_int_equal(protobuf_next(&r, &inner), 1);
		assert_true(inner.number == 6 && inner.value == 7);
		r = (struct protobuf_reader){.bytes = outer.bytes, .size = outer.size};
		assert_int_equal(protobuf_next(&r, &inner), 1);
		assert_int_equal(inner.number, 4);
		assert_int_equal(protobuf_next(&r, &outer), 0);
		r = (struct protobuf_reader){.bytes = inner.bytes, .size = inner.size};
		assert_int_equal(protobuf_next(&r, &inner), 1);
		assert_true(inner.number == 5 && inner.size == sizes[i]);
		protobuf_release(&p);
	}
	free(text);
}

TEST(what_is_no_message_is_said_to_be_none)
{
	static const struct {
		const char *bytes;
		size_t size;
	} bad[] = {
	    {"\x80", 1},                                          /* a key without an end */
	    {"\x00\x01", 2},                                      /* field 0 */
	    {"\x08", 1},                                          /* no value */
	    {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11}, /* and one that is too long */
	    {"\x0a\x05"
	     "abc",
	     5}, /* shorter than it says */
	    {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
	    {"\x09"
	     "1234",
	     5},         /* half of eight bytes */
	    {"\x0b", 1}, /* a group */
	    {"<html>", 6},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct protobuf_reader r = {.bytes = (const uint8_t *)bad[i].bytes,
					    .size = bad[i].size};
		struct protobuf_field field;
		int result;

		while ((result = protobuf_next(&r, &field)) > 0)
			;
		assert_int_equal(result, -EBADMSG);
	}
}
