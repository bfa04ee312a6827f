#include "tests/unit/support/test.h"

#include "export/protobuf/wire.h"

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
		struct wire w = wire_of((const uint8_t *)bad[i].bytes, bad[i].size);
		struct wire_field field;

		while (wire_next(&w, &field))
			;
		assert_non_null(w.wrong);
		assert_false(wire_next(&w, &field));
	}
}
