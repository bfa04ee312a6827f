#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/imported.h"
#include "tests/unit/support/jfr_file.h"

static const struct import_options automatic = {.format = IMPORT_AUTO};
static const struct import_options jfr = {.format = IMPORT_JFR};
static const uint32_t three[] = {2, 1, 0}, recursive[] = {1, 1, 1, 0};

static struct imported read_back(const struct jfr_file *f)
{
	return imported_from(f->bytes, f->size, &jfr);
}

/* A chunk with two stacks, in two checkpoints. */
static void add_chunk(struct jfr_file *f)
{
	struct jfr_file_stack first = {.id = 7, .methods = three, .depth = 3};
	struct jfr_file_stack second = {.id = UINT64_MAX, .methods = recursive, .depth = 4};
	size_t other;

	jfr_file_begin(f);
	jfr_file_metadata(f);
	jfr_file_sample(f, 7);
	jfr_file_checkpoint(f, 2, &first, 1);
	other = jfr_file_open(f, JFR_FILE_OTHER);
	jfr_file_varint(f, 1);
	jfr_file_close(f, other);
	jfr_file_sample(f, UINT64_MAX);
	jfr_file_sample(f, 7);
	jfr_file_checkpoint(f, 3, &second, 1);
	jfr_file_end(f);
}

TEST(chunks_and_their_checkpoints_are_added_up)
{
	static const char expected[] =
	    "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 4\n"
	    "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class1.m1(I);pkg.Class1.m1(I) 2\n";
	struct jfr_file f = {0};
	struct imported i;

	add_chunk(&f);
	add_chunk(&f);
	i = read_back(&f);
	free(f.bytes);
	assert_string_equal(i.text, expected);
	assert_int_equal(i.samples, 6);
	assert_int_equal(i.truncated, 0);
	assert_string_equal(i.unit, "samples");
}

TEST(stacks_without_their_roots_are_counted)
{
	struct jfr_file_stack stacks[] = {
	    {.id = 1, .methods = three, .depth = 3},
	    {.id = 2, .truncated = true, .methods = three, .depth = 3},
	    {.id = 3},
	};
	struct jfr_file f = {0};
	struct imported i;

	jfr_file_begin(&f);
	jfr_file_metadata(&f);
	for (uint64_t id = 0; id <= 4; id++)
		jfr_file_sample(&f, id); /* 0 is none, and 4 is not there */
	jfr_file_checkpoint(&f, 3, stacks, 3);
	jfr_file_end(&f);
	i = read_back(&f);
	free(f.bytes);
	assert_int_equal(i.r, 0);
	assert_int_equal(i.samples, 1);
	assert_int_equal(i.truncated, 1);
	assert_int_equal(i.truncated_samples, 1);
	assert_string_equal(
	    i.notes, "2 samples have no stack (the first: sample 1; 2 of 5 samples); 1 sample "
		     "has a stack that cannot be read (sample 5: at byte 0: the stack 4 is not "
		     "in the chunk; 1 of 5 samples)");
}

/* The chunk with bytes at a place of it changed. */
static struct imported with(size_t place, uint64_t value, size_t bytes)
{
	struct jfr_file f = {0};
	struct imported i;

	add_chunk(&f);
	jfr_file_set(&f, place, value, bytes);
	i = read_back(&f);
	free(f.bytes);
	return i;
}

TEST(a_header_that_lies_is_refused)
{
	static const struct {
		size_t place, bytes;
		uint64_t value;
		const char *error;
	} bad[] = {
	    {3, 1, 1, "at byte 0: not the begin of a chunk"},
	    {4, 2, 1, "at byte 0: a recording of version 1: version 2 is read, of JDK 9 and later"},
	    {8, 8, 0, "at byte 0: the chunk is not finished: of a recording that is still running"},
	    {8, 8, 67, "at byte 0: the chunk's metadata or constants are not in it"},
	    {8, 8, UINT64_MAX, "at byte 0: a chunk of 18446744073709551615 bytes, and there are "},
	    {16, 8, 0, "at byte 0: the chunk's metadata or constants are not in it"},
	    {16, 8, 4, "at byte 0: the chunk's metadata or constants are not in it"},
	    {24, 8, UINT64_MAX, "at byte 0: the chunk's metadata or constants are not in it"},
	    {64, 4, 0, "at byte 0: the chunk's numbers are not compressed"},
	};

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		struct imported i = with(bad[k].place, bad[k].value, bad[k].bytes);

		assert_int_equal(i.r, -EBADMSG);
		assert_memory_equal(i.text, bad[k].error, strlen(bad[k].error));
	}
}

/* Wherever it is cut, and whichever byte is another, it is read or refused in a line that says
 * where. */
TEST(damage_is_met_anywhere)
{
	struct jfr_file f = {0};

	add_chunk(&f);
	for (size_t size = 4; size < f.size; size++) {
		struct imported i = imported_from(f.bytes, size, &automatic);

		assert_int_equal(i.r, -EBADMSG);
		assert_memory_equal(i.text, "at byte ", 8);
	}
	for (size_t place = 68; place < f.size; place++)
		for (unsigned bit = 0; bit < 8; bit++) {
			struct imported i;

			f.bytes[place] ^= (uint8_t)(1u << bit);
			i = read_back(&f);
			if (i.r == -EBADMSG)
				assert_true(strstr(i.text, "at byte ") ||
					    strstr(i.text, "no stack in it has a cost: "));
			else
				assert_true(i.r == 0 || i.r == -ENODATA || i.r == -EFBIG);
			f.bytes[place] ^= (uint8_t)(1u << bit);
		}
	free(f.bytes);
}

/* A checkpoint that is before itself would be read for ever. */
TEST(checkpoints_do_not_go_round_in_circles)
{
	struct jfr_file f = {0};
	struct imported i;
	size_t event;

	jfr_file_begin(&f);
	jfr_file_metadata(&f);
	jfr_file_sample(&f, 1);
	f.checkpoint = event = jfr_file_open(&f, 1);
	jfr_file_varint(&f, 5);
	jfr_file_varint(&f, 0);
	jfr_file_varint(&f, 1); /* the one before is a byte further on */
	jfr_file_byte(&f, 0);
	jfr_file_varint(&f, 0);
	jfr_file_close(&f, event);
	jfr_file_end(&f);
	i = read_back(&f);
	free(f.bytes);
	assert_int_equal(i.r, -EBADMSG);
	assert_memory_equal(i.text, "no stack in it has a cost: 1 chunk is damaged (chunk 1: ", 56);
	assert_non_null(strstr(i.text, "the checkpoint before this one is not before it"));
}

/* A pool of so many constants of a type, the first of which says what follows. */
static struct imported with_pool(uint64_t type, uint64_t count, const uint8_t *bytes, size_t size)
{
	struct jfr_file f = {0};
	struct imported i;
	size_t event;

	jfr_file_begin(&f);
	jfr_file_metadata(&f);
	jfr_file_sample(&f, 1);
	f.checkpoint = event = jfr_file_open(&f, 1);
	for (unsigned k = 0; k < 3; k++)
		jfr_file_varint(&f, 0);
	jfr_file_byte(&f, 0);
	jfr_file_varint(&f, 1);
	jfr_file_varint(&f, type);
	jfr_file_varint(&f, count);
	for (size_t k = 0; k < size; k++)
		jfr_file_byte(&f, bytes[k]);
	jfr_file_close(&f, event);
	jfr_file_end(&f);
	i = read_back(&f);
	free(f.bytes);
	return i;
}

TEST(counts_and_lengths_that_lie_are_refused)
{
	static const struct {
		uint64_t type, count;
		uint8_t bytes[10];
		const char *error;
	} bad[] = {
	    {JFR_FILE_SYMBOL, 1000000000, {0}, "a pool of constants: more elements than there is"},
	    {JFR_FILE_SYMBOL, UINT64_MAX, {0}, "a pool of constants: more elements than there is"},
	    {99, 1, {0}, "constants of the type 99, which the metadata do not have"},
	    {JFR_FILE_SYMBOL, 1, {1, 3, 0x80, 0x80, 0x40}, "a constant: it is longer than what"},
	    {JFR_FILE_SYMBOL, 1, {1, 9}, "a constant: a text of an unknown encoding"},
	    {JFR_FILE_TRACE,
	     1,
	     {1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	     "a constant: more elements than there is room for"},
	};

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		struct imported i = with_pool(bad[k].type, bad[k].count, bad[k].bytes, 10);

		assert_int_equal(i.r, -EBADMSG);
		assert_non_null(strstr(i.text, "1 chunk is damaged (chunk 1: at byte "));
		if (!strstr(i.text, bad[k].error))
			fail_msg("'%s' has no '%s'", i.text, bad[k].error);
	}
}

TEST(events_that_are_wanted_have_a_stack)
{
	struct import_options options = {.sample_type = "jdk.Other"};
	struct jfr_file f = {0};
	struct imported i;

	add_chunk(&f);
	i = imported_from(f.bytes, f.size, &options);
	free(f.bytes);
	assert_int_equal(i.r, -EINVAL);
	assert_string_equal(i.text,
			    "the recording has no events of the type 'jdk.Other' that have a "
			    "stack: it has jdk.ExecutionSample (3)");
}

/* The first chunk and what else there is, with so many bytes left out at its end. */
static struct imported with_more(const struct jfr_file *more, size_t cut)
{
	struct jfr_file f = {0};
	struct imported i;

	add_chunk(&f);
	for (size_t k = 0; k + cut < more->size; k++)
		jfr_file_byte(&f, more->bytes[k]);
	i = read_back(&f);
	free(f.bytes);
	return i;
}

TEST(one_bad_chunk_loses_no_other)
{
	static const char once[] =
	    "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 2\n"
	    "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class1.m1(I);pkg.Class1.m1(I) 1\n";
	struct jfr_file second = {0}, third = {0};
	struct imported i;

	add_chunk(&second);
	for (size_t cut = 1; cut < second.size; cut++) {
		i = with_more(&second, cut);
		assert_string_equal(i.text, once);
		assert_memory_equal(i.notes, "1 chunk cannot be read (chunk 2: at byte ", 41);
	}
	/* What was cut is followed by a whole one. */
	add_chunk(&third);
	for (size_t k = 0; k < second.size; k++)
		jfr_file_byte(&third, second.bytes[k]);
	memmove(third.bytes + second.size - 30, third.bytes + second.size, second.size);
	third.size -= 30;
	i = imported_from(third.bytes, third.size, &jfr);
	assert_string_equal(i.text, once);
	assert_non_null(strstr(i.notes, "chunk 1: at byte 0: a chunk of "));
	free(second.bytes);
	free(third.bytes);
}

/* A copy of the header, as JDKs write one where they have flushed: an array of bytes in an event.
 */
static void add_copy(struct jfr_file *f)
{
	size_t event = jfr_file_open(f, JFR_FILE_OTHER), begin;

	jfr_file_varint(f, 68);
	begin = f->size;
	for (size_t i = 0; i < 68; i++)
		jfr_file_byte(f, f->bytes[f->chunk + i]);
	jfr_file_close(f, event);
	jfr_file_end(f);
	memcpy(f->bytes + begin, f->bytes + f->chunk, 68);
}

TEST(what_was_flushed_of_a_cut_chunk_is_read)
{
	static const struct jfr_file_stack stack = {.id = 7, .methods = three, .depth = 3};
	struct jfr_file f = {0};
	size_t flushed;

	jfr_file_begin(&f);
	jfr_file_metadata(&f);
	jfr_file_sample(&f, 7);
	jfr_file_checkpoint(&f, 3, &stack, 1);
	add_copy(&f);
	flushed = f.size;
	jfr_file_sample(&f, 7);
	jfr_file_checkpoint(&f, 0, &stack, 1);
	add_copy(&f);
	assert_int_equal(read_back(&f).samples, 2);
	for (size_t size = flushed; size < f.size; size++) {
		struct imported i = imported_from(f.bytes, size, &jfr);

		assert_int_equal(i.samples, 1);
		assert_true(size == flushed || strstr(i.notes, "chunk 2: at byte "));
	}
	assert_int_equal(imported_from(f.bytes, flushed - 1, &jfr).r, -EBADMSG);
	free(f.bytes);
}

/* Events of another type, named so, with a field that they weigh by. */
static struct imported weighed(const char *type, const char *field, const char *wanted,
			       uint64_t ticks)
{
	static const struct jfr_file_stack stacks[] = {{.id = 1, .methods = three, .depth = 3},
						       {.id = 2, .methods = three, .depth = 2}};
	struct import_options options = {.sample_type = wanted};
	struct jfr_file f = {.weighed_name = type, .weight_name = field};
	struct imported i;

	jfr_file_begin(&f);
	jfr_file_set(&f, 56, ticks, 8);
	jfr_file_metadata(&f);
	jfr_file_sample(&f, 1);
	for (unsigned k = 0; k < 30; k++)
		jfr_file_weighed(&f, 1 + k % 2, 100);
	jfr_file_checkpoint(&f, 3, stacks, 2);
	jfr_file_end(&f);
	i = imported_from(f.bytes, f.size, &options);
	free(f.bytes);
	return i;
}

TEST(events_are_added_up_by_their_weight)
{
	static const struct {
		const char *type, *field;
		uint64_t ticks;
		const char *stacks, *unit;
		uint64_t samples;
	} events[] = {
	    {"jdk.ObjectAllocationSample", "weight", 0,
	     "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 1500\n"
	     "pkg.Class1.m1(I);pkg.Class2.m2(I) 1500\n",
	     "bytes", 0},
	    {"jdk.ThreadPark", "duration", 10000000,
	     "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 150000\n"
	     "pkg.Class1.m1(I);pkg.Class2.m2(I) 150000\n",
	     "nanoseconds", 0},
	    {"profiler.WallClockSample", "samples", 0,
	     "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 1500\n"
	     "pkg.Class1.m1(I);pkg.Class2.m2(I) 1500\n",
	     "samples", 3000},
	    {"jdk.NativeMethodSample", "state", 0,
	     "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 15\n"
	     "pkg.Class1.m1(I);pkg.Class2.m2(I) 15\n",
	     "samples", 30},
	    {"jdk.JavaExceptionThrow", "state", 0,
	     "pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I) 15\n"
	     "pkg.Class1.m1(I);pkg.Class2.m2(I) 15\n",
	     "events", 0},
	};

	for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++) {
		struct imported i =
		    weighed(events[k].type, events[k].field, events[k].type, events[k].ticks);

		assert_string_equal(i.text, events[k].stacks);
		assert_string_equal(i.unit, events[k].unit);
		assert_int_equal(i.samples, events[k].samples);
		assert_string_equal(i.notes, "");
	}
}

TEST(the_obvious_type_is_taken_and_said)
{
	struct imported i = weighed("jdk.NativeMethodSample", "state", NULL, 0);

	assert_int_equal(i.samples, 30);
	assert_string_equal(i.notes, "events with a stack are jdk.ExecutionSample (1), "
				     "jdk.NativeMethodSample (30): jdk.NativeMethodSample is taken "
				     "(--sample-type for another)");
	i = weighed("jdk.ThreadPark", "duration", NULL, 0);
	assert_int_equal(i.samples, 1);
	assert_string_equal(i.notes, "");
}
