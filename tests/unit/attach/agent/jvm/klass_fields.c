/* Names of fields, from lists as HotSpot has them before and since JDK 21. */
#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "attach/agent/jvm/klass_fields.h"
#include "tests/unit/support/agent/fake_fields.h"

static bool field_at(uint64_t klass, uint32_t offset, bool is_static, unsigned reference_bytes,
		     struct klass_field *f)
{
	klass_fields_look_anew();
	return klass_field_at(klass, offset, is_static, reference_bytes, f);
}

static void assert_field(uint32_t offset, bool is_static, const char *name, const char *signature)
{
	struct klass_field f;

	assert_true(field_at(fake_klass, offset, is_static, 4, &f));
	assert_string_equal(f.name, name);
	assert_string_equal(f.signature, signature);
	klass_field_release(&f);
}

static void assert_these_fields(void)
{
	struct klass_field f;

	assert_field(16, false, "x", "D");
	assert_field(23, false, "x", "D");
	assert_field(12, false, "next", "LNode;");
	assert_field(15, false, "next", "LNode;");
	assert_field(112, true, "count", "J");
	assert_false(field_at(fake_klass, 112, false, 4, &f));
	assert_false(field_at(fake_klass, 16, true, 4, &f));
	assert_false(field_at(fake_klass, 24, false, 4, &f)); /* The JVM's own. */
	assert_false(field_at(fake_klass, 8, false, 4, &f));
}

TEST(fields_of_an_array_of_numbers_are_found_by_offset, fake_fields_setup)
{
	fake_list_as_before_21();
	assert_these_fields();
}

TEST(fields_of_a_compressed_stream_are_found_by_offset, fake_fields_setup)
{
	fake_list_as_since_21();
	assert_these_fields();
}

TEST(numbers_above_a_byte_are_put_together, fake_fields_setup)
{
	/* 300 = 191 + 45 + 1 * 64: a byte above 191, then one of the next six bits. */
	static const uint8_t fields[] = {2, 1, 2, 3, 1 + 191 + 45, 1 + 1, 1, 1};

	fake_list_as_since_21();
	memcpy(fake_bytes.data, fields, sizeof(fields));
	fake_bytes.length = sizeof(fields);
	assert_field(300, false, "x", "D");
}

TEST(lists_that_make_no_sense_name_nothing, fake_fields_setup)
{
	struct klass_field f;

	fake_list_as_since_21();
	fake_bytes.data[6] = 33; /* Flags of a later release. */
	assert_false(field_at(fake_klass, 12, false, 4, &f));
	fake_bytes.length = 4;
	assert_false(field_at(fake_klass, 16, false, 4, &f));
	fake_bytes.length = -1;
	assert_false(field_at(fake_klass, 16, false, 4, &f));
	fake_bytes.length = INT32_MAX;
	assert_false(field_at(fake_klass, 16, false, 4, &f));
	fake_klass_of(fake_klass)->fields = 16;
	assert_false(field_at(fake_klass, 16, false, 4, &f));
}

TEST(names_are_bounded_by_their_pool, fake_fields_setup)
{
	struct klass_field f;

	fake_list_as_before_21();
	fake_shorts.data[1] = 7; /* One behind the end. */
	assert_false(field_at(fake_klass, 16, false, 4, &f));
	fake_symbols[3].length = 0;
	assert_false(field_at(fake_klass, 12, false, 4, &f));
	fake_pool.entries[6] = 8;
	assert_false(field_at(fake_klass, 112, true, 4, &f));
}

TEST(a_class_says_its_name_and_its_superclass, fake_fields_setup)
{
	char *name;

	fake_list_as_before_21();
	klass_fields_look_anew();
	name = klass_symbol(fake_klass);
	assert_string_equal(name, "org/Point");
	free(name);
	assert_int_equal(klass_super(fake_klass), 0);
	fake_klass_of(fake_klass)->super = 0x1234;
	klass_fields_look_anew();
	assert_int_equal(klass_super(fake_klass), 0x1234);
	assert_null(klass_symbol(16));
}

TEST(a_jvm_that_does_not_say_is_not_read, fake_fields_setup)
{
	struct klass_field f;

	fake_vmstructs_reset();
	assert_false(klass_fields_init());
	assert_null(klass_symbol(fake_klass));
	assert_int_equal(klass_super(fake_klass), 0);
	assert_false(field_at(fake_klass, 16, false, 4, &f));
}
