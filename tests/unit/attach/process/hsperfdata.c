#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "attach/process/hsperfdata.h"
#include "tests/unit/support/perfdata_file.h"

static void make_sample(struct perfdata_file *f)
{
	uint64_t number = 42;

	perfdata_file_init(f);
	perfdata_file_add_string(f, "java.rt.vmArgs", "-Xmx64m");
	(void)perfdata_file_add(f, "sun.rt.uptime", 'J', &number, 0);
	perfdata_file_add_string(f, "sun.rt.javaCommand", "Main one two");
	perfdata_file_add_string(f, "java.rt.vmFlags", "");
}

/* In a heap block of exactly that size, so that AddressSanitizer sees a read beyond it. */
static bool lookup(const struct perfdata_file *f, size_t size, const char *name, char *value,
		   size_t room)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool found;

	memcpy(copy, f->bytes, size);
	found = hsperfdata_string(copy, size, name, value, room);
	free(copy);
	return found;
}

TEST(strings_are_found_by_name)
{
	char value[64];
	struct perfdata_file f;

	make_sample(&f);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_string_equal(value, "Main one two");
	assert_true(lookup(&f, f.size, "java.rt.vmArgs", value, sizeof(value)));
	assert_string_equal(value, "-Xmx64m");
	assert_true(lookup(&f, f.size, "java.rt.vmFlags", value, sizeof(value)));
	assert_string_equal(value, "");
}

TEST(what_is_absent_or_no_string_is_not_found)
{
	char value[64] = "before";
	struct perfdata_file f;

	make_sample(&f);
	assert_false(lookup(&f, f.size, "sun.rt.uptime", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "java.rt", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "", value, sizeof(value)));
	assert_string_equal(value, "before");
}

/* Its offset, in a heap block of exactly that size; 0 for none. */
static size_t look_for_number(const struct perfdata_file *f, size_t size, const char *name)
{
	uint8_t *copy = malloc(size ? size : 1);
	size_t offset = 0;

	memcpy(copy, f->bytes, size);
	if (hsperfdata_number(copy, size, name, &offset))
		assert_true(offset + sizeof(uint64_t) <= size);
	free(copy);
	return offset;
}

TEST(numbers_are_found_by_name)
{
	uint64_t number;
	struct perfdata_file f;
	size_t offset;

	make_sample(&f);
	offset = look_for_number(&f, f.size, "sun.rt.uptime");
	assert_int_not_equal(offset, 0);
	memcpy(&number, f.bytes + offset, sizeof(number));
	assert_int_equal(number, 42);
	assert_int_equal(look_for_number(&f, f.size, "java.rt.vmArgs"), 0);
	assert_int_equal(look_for_number(&f, f.size, "sun.rt"), 0);
}

TEST(numbers_outside_of_their_entry_or_the_file_are_refused)
{
	static const uint32_t absurd[] = {0x7fffffff, 0xffffffff, 4096, 64, 33};
	uint64_t number = 42;
	struct perfdata_file f;
	uint8_t *e;

	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		perfdata_file_init(&f);
		e = perfdata_file_add(&f, "a", 'J', &number, 0);
		put32(e + 16, absurd[i]);
		assert_int_equal(look_for_number(&f, f.size, "a"), 0);
	}
	make_sample(&f);
	(void)perfdata_file_add(&f, "last", 'J', &number, 0);
	assert_int_not_equal(look_for_number(&f, f.size, "last"), 0);
	for (size_t n = 0; n < f.size; n++)
		assert_int_equal(look_for_number(&f, n, "last"), 0);
}

TEST(a_long_value_is_cut_to_the_room)
{
	char value[5];
	struct perfdata_file f;

	make_sample(&f);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_string_equal(value, "Main");
}

TEST(other_formats_are_refused)
{
	static const size_t fields[] = {0, 4, 5};
	char value[64];
	struct perfdata_file f;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		make_sample(&f);
		f.bytes[fields[i]] ^= 3;
		assert_false(lookup(&f, f.size, "java.rt.vmArgs", value, sizeof(value)));
	}
}

TEST(offsets_outside_of_the_entry_are_refused)
{
	static const uint32_t absurd[] = {0x7fffffff, 0xffffffff, 4096, 64};
	char value[64];
	struct perfdata_file f;

	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		uint8_t *e;

		perfdata_file_init(&f);
		e = perfdata_file_add(&f, "a", 'B', "value", 6);
		put32(e + 4, absurd[i]); /* name */
		assert_false(lookup(&f, f.size, "a", value, sizeof(value)));
		perfdata_file_init(&f);
		e = perfdata_file_add(&f, "a", 'B', "value", 6);
		put32(e + 16, absurd[i]); /* data */
		assert_false(lookup(&f, f.size, "a", value, sizeof(value)));
		perfdata_file_init(&f);
		e = perfdata_file_add(&f, "a", 'B', "value", 6);
		put32(e + 8, absurd[i]); /* length: the string ends with its NUL */
		assert_true(lookup(&f, f.size, "a", value, sizeof(value)));
		assert_string_equal(value, "value");
	}
}

TEST(absurd_entry_lengths_end_the_search)
{
	static const uint32_t absurd[] = {0, 1, 19, 4097, 0xffffffff};
	char value[64];
	struct perfdata_file f;

	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		make_sample(&f);
		put32(f.bytes + 32, absurd[i]);
		assert_false(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	}
}

TEST(an_absurd_number_of_entries_does_not_matter)
{
	char value[64];
	struct perfdata_file f;

	make_sample(&f);
	put32(f.bytes + 28, 0xffffffff);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "none", value, sizeof(value)));
}

TEST(cut_files_are_read_only_inside_their_bounds)
{
	char value[64];
	struct perfdata_file f;

	make_sample(&f);
	for (size_t n = 0; n < f.size; n++)
		assert_false(lookup(&f, n, "java.rt.vmFlags", value, sizeof(value)));
}
