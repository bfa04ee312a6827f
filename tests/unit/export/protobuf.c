#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "export/protobuf/wire.h"
#include "export/protobuf/protobuf.h"

TEST(what_is_written_is_read_back)
{
	static const uint64_t numbers[] = {1, 127, 128, 16383, 16384, UINT64_MAX};
	struct protobuf p = {0};
	struct wire r;
	struct wire_field field;

	for (unsigned i = 0; i < 6; i++)
		protobuf_number(&p, i + 1, numbers[i]);
	protobuf_number(&p, 7, 0);
	protobuf_text(&p, 8, "");
	protobuf_bytes(&p, 9, "", 0);
	protobuf_chosen_number(&p, 536870911, 0);
	r = wire_of(p.bytes, p.used);
	for (unsigned i = 0; i < 6; i++) {
		assert_true(wire_next(&r, &field));
		assert_int_equal(field.number, i + 1);
		assert_int_equal(field.type, WIRE_VARINT);
		assert_int_equal(field.value, numbers[i]);
	}
	assert_true(wire_next(&r, &field)); /* 7 and 8 are not there. */
	assert_true(field.number == 9 && field.type == WIRE_BYTES && field.value == 0);
	assert_true(wire_next(&r, &field));
	assert_true(field.number == 536870911 && field.type == WIRE_VARINT && field.value == 0);
	assert_false(wire_next(&r, &field));
	protobuf_release(&p);
}

/* The length goes before what is there already, and may take several bytes itself. */
TEST(messages_in_messages_have_their_lengths)
{
	static const size_t sizes[] = {0, 1, 127, 128, 16384, 3000000};
	char *text = calloc(1, 3000000);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct protobuf p = {0};
		struct wire r;
		struct wire_field outer, inner;
		size_t begun = protobuf_begin(&p, 3), in = protobuf_begin(&p, 4);

		protobuf_bytes(&p, 5, text, sizes[i]);
		protobuf_end(&p, in);
		protobuf_end(&p, begun);
		protobuf_number(&p, 6, 7);
		r = wire_of(p.bytes, p.used);
		assert_true(wire_next(&r, &outer));
		assert_int_equal(outer.number, 3);
		assert_true(wire_next(&r, &inner));
		assert_true(inner.number == 6 && inner.value == 7);
		r = wire_of(outer.bytes, outer.value);
		assert_true(wire_next(&r, &inner));
		assert_int_equal(inner.number, 4);
		assert_false(wire_next(&r, &outer));
		r = wire_of(inner.bytes, inner.value);
		assert_true(wire_next(&r, &inner));
		assert_true(inner.number == 5 && inner.value == sizes[i]);
		protobuf_release(&p);
	}
	free(text);
}
