#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "tests/unit/support/imported.h"

static const struct import_options automatic = {.format = IMPORT_AUTO};
static const struct import_options pprof = {.format = IMPORT_PPROF};

/* A message as it is made. */
struct message {
	uint8_t bytes[1024];
	size_t size;
};

static void varint(struct message *m, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		m->bytes[m->size++] = (uint8_t)(value | 0x80);
	m->bytes[m->size++] = (uint8_t)value;
}

static void number(struct message *m, uint32_t field, uint64_t value)
{
	varint(m, (uint64_t)field << 3);
	varint(m, value);
}

static void bytes(struct message *m, uint32_t field, const void *from, size_t size)
{
	varint(m, (uint64_t)field << 3 | 2);
	varint(m, size);
	memcpy(m->bytes + m->size, from, size);
	m->size += size;
}

/* A message of numbers, {field, value} each, up to field 0, as a field. */
static void numbers(struct message *m, uint32_t field, const uint64_t (*pairs)[2])
{
	struct message inner = {.size = 0};

	for (; (*pairs)[0]; pairs++)
		number(&inner, (uint32_t)(*pairs)[0], (*pairs)[1]);
	bytes(m, field, inner.bytes, inner.size);
}
#define NUMBERS(m, field, ...) numbers(m, field, (const uint64_t[][2]){__VA_ARGS__, {0, 0}})

static void add_location(struct message *m, uint64_t id, uint64_t function, uint64_t inlined_into)
{
	struct message location = {.size = 0};

	number(&location, 1, id);
	number(&location, 3, 0x1000 + id);
	if (function)
		NUMBERS(&location, 4, {1, function}, {2, 42});
	if (inlined_into)
		NUMBERS(&location, 4, {1, inlined_into});
	bytes(m, 4, location.bytes, location.size);
}

/* Samples first, and what they mean behind them. */
static struct message profile(void)
{
	static const char *const strings[] = {"",     "samples", "count",  "cpu", "nanoseconds",
					      "main", "a.B.c",   "inlined"};
	struct message m = {.size = 0};
	static const uint8_t locations[] = {2, 1}, values[] = {3, 30};
	struct message packed = {.size = 0};

	NUMBERS(&m, 1, {1, 1}, {2, 2});
	NUMBERS(&m, 1, {1, 3}, {2, 4});
	bytes(&packed, 1, locations, sizeof(locations));
	bytes(&packed, 2, values, sizeof(values));
	bytes(&m, 2, packed.bytes, packed.size);
	NUMBERS(&m, 2, {1, 3}, {1, 1}, {2, 1}, {2, 10});
	add_location(&m, 1, 1, 0);
	add_location(&m, 2, 9, 2); /* inlined into a.B.c */
	add_location(&m, 3, 0, 0);
	NUMBERS(&m, 5, {1, 1}, {2, 5});
	NUMBERS(&m, 5, {1, 2}, {2, 6});
	NUMBERS(&m, 5, {1, 9}, {2, 7});
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		bytes(&m, 6, strings[i], strlen(strings[i]));
	return m;
}

static struct imported read_back(const struct message *m)
{
	return imported_from(m->bytes, m->size, &automatic);
}

static size_t compress_profile(const struct message *m, uint8_t *to, size_t size)
{
	z_stream z = {.next_in = (uint8_t *)m->bytes, .avail_in = (unsigned)m->size};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = to;
	z.avail_out = (unsigned)size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(deflateEnd(&z), Z_OK);
	return size - z.avail_out;
}

static const char expected[] = "main;a.B.c;inlined 30\nmain;0x1003 10\n";

TEST(inlined_frames_are_innermost)
{
	struct message m = profile();
	struct imported i = read_back(&m);

	assert_string_equal(i.text, expected);
	assert_string_equal(i.unit, "nanoseconds");
	assert_int_equal(i.samples, 4);
}

TEST(gzipped_ones_are_the_same)
{
	struct message m = profile();
	uint8_t gzipped[2048];
	size_t size = compress_profile(&m, gzipped, sizeof(gzipped));

	assert_string_equal(imported_from(gzipped, size, &automatic).text, expected);
	for (size_t cut = 2; cut < size; cut++) {
		struct imported i = imported_from(gzipped, cut, &automatic);

		assert_int_equal(i.r, -EBADMSG);
		assert_non_null(strstr(i.text, "the compressed data end too early"));
	}
	gzipped[size / 2] ^= 0x10;
	assert_int_equal(imported_from(gzipped, size, &automatic).r, -EBADMSG);
}

TEST(what_it_decompresses_to_has_a_limit)
{
	struct message m = profile();
	struct import_options options;
	uint8_t gzipped[2048], comment[500] = {0};
	size_t size;

	bytes(&m, 6, comment, sizeof(comment));
	options = (struct import_options){.bytes_max = m.size - 1};
	size = compress_profile(&m, gzipped, sizeof(gzipped));
	assert_true(size < m.size - 1);
	assert_int_equal(imported_from(gzipped, size, &options).r, -EFBIG);
}

TEST(the_type_of_samples_can_be_chosen)
{
	struct import_options options = {.sample_type = "samples"};
	struct message m = profile();
	struct imported i = imported_from(m.bytes, m.size, &options);

	assert_string_equal(i.text, "main;a.B.c;inlined 3\nmain;0x1003 1\n");
	assert_string_equal(i.unit, "samples");
	options.sample_type = "bytes";
	i = imported_from(m.bytes, m.size, &options);
	assert_int_equal(i.r, -EINVAL);
	assert_string_equal(i.text, "the profile has no sample type 'bytes': it has samples, cpu");
	number(&m, 14, 1); /* its own default */
	assert_string_equal(read_back(&m).unit, "samples");
}

/* A profile and a field more. */
static struct imported with(void (*add)(struct message *m))
{
	struct message m = profile();

	add(&m);
	return read_back(&m);
}

static void negative(struct message *m)
{
	NUMBERS(m, 2, {1, 1}, {2, 1}, {2, UINT64_MAX});
}

static void many_values(struct message *m)
{
	NUMBERS(m, 2, {1, 1}, {2, 1}, {2, 1}, {2, 1});
}

static void few_values(struct message *m)
{
	NUMBERS(m, 2, {1, 1}, {2, 1});
}

static void no_such_location(struct message *m)
{
	NUMBERS(m, 2, {1, 77}, {2, 1}, {2, 1});
}

static void no_such_function(struct message *m)
{
	add_location(m, 4, 55, 0);
	NUMBERS(m, 2, {1, 4}, {2, 1}, {2, 1});
}

static void no_such_name(struct message *m)
{
	NUMBERS(m, 5, {1, 3}, {2, 1000});
	add_location(m, 4, 3, 0);
	NUMBERS(m, 2, {1, 4}, {2, 1}, {2, 1});
}

static void same_location(struct message *m)
{
	add_location(m, 3, 1, 0);
}

static void same_function(struct message *m)
{
	NUMBERS(m, 5, {1, 9}, {2, 1});
}

static void too_much(struct message *m)
{
	NUMBERS(m, 2, {1, 1}, {2, 1}, {2, INT64_MAX});
}

static void claims_a_gibibyte(struct message *m)
{
	varint(m, 6 << 3 | 2);
	varint(m, UINT64_C(1) << 30);
}

static void claims_a_large_sample(struct message *m)
{
	varint(m, 2 << 3 | 2);
	varint(m, UINT64_MAX);
}

static void is_a_group(struct message *m)
{
	varint(m, 7 << 3 | 3);
}

static void longer_than_its_message(struct message *m)
{
	static const uint8_t sample[] = {0x0a, 100, 1};

	bytes(m, 2, sample, sizeof(sample));
}

static void endless_number(struct message *m)
{
	varint(m, 9 << 3);
	for (unsigned i = 0; i < 12; i++)
		m->bytes[m->size++] = 0xff;
}

/* A field of each type that a later version may have, and a group. */
static void unknown_fields(struct message *m)
{
	varint(m, 99 << 3 | 1);
	m->size += 8;
	varint(m, 99 << 3 | 5);
	m->size += 4;
	varint(m, 7 << 3 | 3);
	NUMBERS(m, 2, {1, 1}, {2, 5}, {2, 5});
	varint(m, 7 << 3 | 4);
}

static void without_a_stack(struct message *m)
{
	NUMBERS(m, 2, {2, 2}, {2, 5});
}

TEST(what_is_wrong_with_a_sample_is_its_own)
{
	static const struct {
		void (*add)(struct message *m);
		const char *notes;
	} files[] = {
	    {unknown_fields, ""},
	    {without_a_stack, "1 sample has no stack (sample 3; 5 of 45 nanoseconds)"},
	    {negative, "1 sample has a negative value (sample 3)"},
	    {many_values, "a sample with more values than there are sample types, 2)"},
	    {few_values, "a sample with 1 values, and there are 2 sample types)"},
	    {no_such_location, "a sample is of location 77, which the profile does not have)"},
	    {no_such_function, "location 4 is of a function that the profile does not have)"},
	    {no_such_name, "a function's name is string 1000, and there are 8)"},
	    {longer_than_its_message, "a field is longer than what it is in)"},
	};

	for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
		struct imported i = with(files[k].add);

		assert_string_equal(i.text, expected);
		if (!strstr(i.notes, files[k].notes) || !files[k].notes[0] != !i.notes[0])
			fail_msg("'%s' is not '%s'", i.notes, files[k].notes);
	}
}

TEST(what_is_wrong_with_all_is_refused)
{
	static const struct {
		void (*add)(struct message *m);
		const char *error;
	} bad[] = {
	    {same_location, "a second location with the id 3: if these are profiles one behind"},
	    {same_function, "a second function with the id 9: if these are profiles one behind"},
	    {too_much, "counts add up to 2^63 or more"},
	    {claims_a_gibibyte, "a field is longer than what it is in: the file is cut or damaged"},
	    {claims_a_large_sample, "a field is longer than what it is in: the file is cut"},
	    {is_a_group, "a group does not end: the file is cut or damaged"},
	    {endless_number, "a number of more than 10 bytes: the file is cut or damaged"},
	};

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		struct imported i = with(bad[k].add);

		assert_int_equal(i.r, -EBADMSG);
		assert_memory_equal(i.text, "at byte ", 8);
		if (!strstr(i.text, bad[k].error))
			fail_msg("'%s' has no '%s'", i.text, bad[k].error);
	}
}

TEST(most_samples_have_to_be_samples)
{
	struct message m = profile();
	struct imported i;

	for (unsigned k = 0; k < 3; k++)
		negative(&m);
	i = read_back(&m);
	assert_int_equal(i.r, -EBADMSG);
	assert_string_equal(i.text,
			    "most samples, 3 of 5, have negative values: a difference of two "
			    "profiles, which has no shares; give one of the two");
	m = profile();
	for (unsigned k = 0; k < 3; k++)
		few_values(&m);
	assert_memory_equal(read_back(&m).text, "most samples, 3 of 5, cannot be read: at byte",
			    45);
}

/* Intervals are those of samples, and not of what has another share of the cost than of them. */
TEST(costs_out_of_proportion_have_no_samples)
{
	struct message m = profile();

	NUMBERS(&m, 2, {1, 1}, {2, 1}, {2, 10});
	assert_int_equal(read_back(&m).samples, 5);
	NUMBERS(&m, 2, {1, 1}, {2, 1}, {2, 500});
	assert_int_equal(read_back(&m).samples, 0);
}

TEST(functions_of_one_name_are_several)
{
	struct message m = profile();
	struct imported i;

	NUMBERS(&m, 5, {1, 11}, {2, 5}, {4, 6}); /* a main of another file */
	add_location(&m, 11, 11, 0);
	NUMBERS(&m, 2, {1, 11}, {2, 1}, {2, 10});
	i = read_back(&m);
	assert_string_equal(i.text, "main;a.B.c;inlined 30\nmain;0x1003 10\nmain#2 10\n");
}

TEST(a_name_of_a_mebibyte_is_left_out_where_it_is_used)
{
	size_t long_name = (size_t)1 << 20;
	struct message m = profile(), tail = {.size = 0};
	uint8_t *file = malloc(m.size + long_name + 64);
	struct imported i;
	size_t size;

	assert_non_null(file);
	varint(&m, 6 << 3 | 2);
	varint(&m, long_name);
	memcpy(file, m.bytes, m.size);
	memset(file + m.size, 'a', long_name);
	size = m.size + long_name;
	i = imported_from(file, size, &pprof);
	assert_string_equal(i.text, expected);
	NUMBERS(&tail, 5, {1, 3}, {2, 8});
	add_location(&tail, 4, 3, 0);
	NUMBERS(&tail, 2, {1, 4}, {2, 1}, {2, 1});
	memcpy(file + size, tail.bytes, tail.size);
	i = imported_from(file, size + tail.size, &pprof);
	free(file);
	assert_string_equal(i.text, expected);
	assert_non_null(strstr(i.notes, "a function's name is longer than 65536 bytes"));
}
