#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "attach/process/hsperfdata.h"

/* A file as HotSpot writes it: prologue, then one entry after the other. */
struct file {
	uint8_t bytes[4096];
	size_t size;
};

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void file_init(struct file *f)
{
	static const uint8_t prologue[8] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};

	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, prologue, sizeof(prologue));
	put32(f->bytes + 24, 32);
	f->size = 32;
}

/* Appends an entry and returns its address. */
static uint8_t *file_add(struct file *f, const char *name, char type, const void *data,
			 uint32_t length)
{
	uint32_t name_bytes = (uint32_t)strlen(name) + 1;
	uint32_t data_bytes = length ? length : 8;
	uint8_t *e = f->bytes + f->size;
	uint32_t size = (20 + name_bytes + data_bytes + 7) & ~7u;

	put32(e, size);
	put32(e + 4, 20);
	put32(e + 8, length);
	e[12] = (uint8_t)type;
	put32(e + 16, 20 + name_bytes);
	memcpy(e + 20, name, name_bytes);
	memcpy(e + 20 + name_bytes, data, data_bytes);
	f->size += size;
	put32(f->bytes + 28, get32(f->bytes + 28) + 1);
	return e;
}

static void file_add_string(struct file *f, const char *name, const char *value)
{
	(void)file_add(f, name, 'B', value, (uint32_t)strlen(value) + 1);
}

static void make_sample(struct file *f)
{
	uint64_t number = 42;

	file_init(f);
	file_add_string(f, "java.rt.vmArgs", "-Xmx64m");
	(void)file_add(f, "sun.rt.uptime", 'J', &number, 0);
	file_add_string(f, "sun.rt.javaCommand", "Main one two");
	file_add_string(f, "java.rt.vmFlags", "");
}

/* In a heap block of exactly that size, so that AddressSanitizer sees a read beyond it. */
static bool lookup(const struct file *f, size_t size, const char *name, char *value, size_t room)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool found;

	memcpy(copy, f->bytes, size);
	found = hsperfdata_string(copy, size, name, value, room);
	free(copy);
	return found;
}

static void strings_are_found_by_name(void **state)
{
	char value[64];
	struct file f;

	(void)state;
	make_sample(&f);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_string_equal(value, "Main one two");
	assert_true(lookup(&f, f.size, "java.rt.vmArgs", value, sizeof(value)));
	assert_string_equal(value, "-Xmx64m");
	assert_true(lookup(&f, f.size, "java.rt.vmFlags", value, sizeof(value)));
	assert_string_equal(value, "");
}

static void what_is_absent_or_no_string_is_not_found(void **state)
{
	char value[64] = "before";
	struct file f;

	(void)state;
	make_sample(&f);
	assert_false(lookup(&f, f.size, "sun.rt.uptime", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "java.rt", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "", value, sizeof(value)));
	assert_string_equal(value, "before");
}

/* Its offset, in a heap block of exactly that size; 0 for none. */
static size_t look_for_number(const struct file *f, size_t size, const char *name)
{
	uint8_t *copy = malloc(size ? size : 1);
	size_t offset = 0;

	memcpy(copy, f->bytes, size);
	if (hsperfdata_number(copy, size, name, &offset))
		assert_true(offset + sizeof(uint64_t) <= size);
	free(copy);
	return offset;
}

static void numbers_are_found_by_name(void **state)
{
	uint64_t number;
	struct file f;
	size_t offset;

	(void)state;
	make_sample(&f);
	offset = look_for_number(&f, f.size, "sun.rt.uptime");
	assert_int_not_equal(offset, 0);
	memcpy(&number, f.bytes + offset, sizeof(number));
	assert_int_equal(number, 42);
	assert_int_equal(look_for_number(&f, f.size, "java.rt.vmArgs"), 0);
	assert_int_equal(look_for_number(&f, f.size, "sun.rt"), 0);
}

static void numbers_outside_of_their_entry_or_the_file_are_refused(void **state)
{
	static const uint32_t absurd[] = {0x7fffffff, 0xffffffff, 4096, 64, 33};
	uint64_t number = 42;
	struct file f;
	uint8_t *e;

	(void)state;
	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		file_init(&f);
		e = file_add(&f, "a", 'J', &number, 0);
		put32(e + 16, absurd[i]);
		assert_int_equal(look_for_number(&f, f.size, "a"), 0);
	}
	make_sample(&f);
	(void)file_add(&f, "last", 'J', &number, 0);
	assert_int_not_equal(look_for_number(&f, f.size, "last"), 0);
	for (size_t n = 0; n < f.size; n++)
		assert_int_equal(look_for_number(&f, n, "last"), 0);
}

static void a_long_value_is_cut_to_the_room(void **state)
{
	char value[5];
	struct file f;

	(void)state;
	make_sample(&f);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_string_equal(value, "Main");
}

static void other_formats_are_refused(void **state)
{
	static const size_t fields[] = {0, 4, 5};
	char value[64];
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		make_sample(&f);
		f.bytes[fields[i]] ^= 3;
		assert_false(lookup(&f, f.size, "java.rt.vmArgs", value, sizeof(value)));
	}
}

static void offsets_outside_of_the_entry_are_refused(void **state)
{
	static const uint32_t absurd[] = {0x7fffffff, 0xffffffff, 4096, 64};
	char value[64];
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		uint8_t *e;

		file_init(&f);
		e = file_add(&f, "a", 'B', "value", 6);
		put32(e + 4, absurd[i]); /* name */
		assert_false(lookup(&f, f.size, "a", value, sizeof(value)));
		file_init(&f);
		e = file_add(&f, "a", 'B', "value", 6);
		put32(e + 16, absurd[i]); /* data */
		assert_false(lookup(&f, f.size, "a", value, sizeof(value)));
		file_init(&f);
		e = file_add(&f, "a", 'B', "value", 6);
		put32(e + 8, absurd[i]); /* length: the string ends with its NUL */
		assert_true(lookup(&f, f.size, "a", value, sizeof(value)));
		assert_string_equal(value, "value");
	}
}

static void absurd_entry_lengths_end_the_search(void **state)
{
	static const uint32_t absurd[] = {0, 1, 19, 4097, 0xffffffff};
	char value[64];
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		make_sample(&f);
		put32(f.bytes + 32, absurd[i]);
		assert_false(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	}
}

static void an_absurd_number_of_entries_does_not_matter(void **state)
{
	char value[64];
	struct file f;

	(void)state;
	make_sample(&f);
	put32(f.bytes + 28, 0xffffffff);
	assert_true(lookup(&f, f.size, "sun.rt.javaCommand", value, sizeof(value)));
	assert_false(lookup(&f, f.size, "none", value, sizeof(value)));
}

static void cut_files_are_read_only_inside_their_bounds(void **state)
{
	char value[64];
	struct file f;

	(void)state;
	make_sample(&f);
	for (size_t n = 0; n < f.size; n++)
		assert_false(lookup(&f, n, "java.rt.vmFlags", value, sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(strings_are_found_by_name),
	    cmocka_unit_test(what_is_absent_or_no_string_is_not_found),
	    cmocka_unit_test(numbers_are_found_by_name),
	    cmocka_unit_test(numbers_outside_of_their_entry_or_the_file_are_refused),
	    cmocka_unit_test(a_long_value_is_cut_to_the_room),
	    cmocka_unit_test(other_formats_are_refused),
	    cmocka_unit_test(offsets_outside_of_the_entry_are_refused),
	    cmocka_unit_test(absurd_entry_lengths_end_the_search),
	    cmocka_unit_test(an_absurd_number_of_entries_does_not_matter),
	    cmocka_unit_test(cut_files_are_read_only_inside_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
