#include "tests/unit/support/test.h"

#include <string.h>

#include "common/label.h"

TEST(of_all_bytes_so_many_may_be_in_a_label)
{
	static const char all[] =
	    "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
	char found[256];
	size_t count = 0;

	for (int c = 0; c < 256; c++)
		if (label_may_have((char)c))
			found[count++] = (char)c;
	found[count] = '\0';
	assert_string_equal(found, all);
}

TEST(a_label_is_valid_to_its_length)
{
	assert_true(label_is_valid("web-shop_2.1", 12));
	assert_true(label_is_valid("", 0));
	assert_true(label_is_valid("shop{x}", 4));
	assert_false(label_is_valid("shop{x}", 5));
	assert_false(label_is_valid("a b", 3));
	assert_false(label_is_valid("gr\xc3\xb6", 4));
	assert_false(label_is_valid("a\0b", 3));
}
