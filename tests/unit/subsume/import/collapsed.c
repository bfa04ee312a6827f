#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/imported.h"

static const struct import_options automatic = {.format = IMPORT_AUTO};
static const struct import_options collapsed = {.format = IMPORT_COLLAPSED};

static struct imported text(const char *lines)
{
	return imported_from(lines, strlen(lines), &collapsed);
}

TEST(stacks_are_added_up)
{
	struct imported i = text("a;b;c 5\na;b 1\na;b;c 2\nd 3\na;b;cd 4\n");

	assert_string_equal(i.text, "a;b 1\na;b;c 7\na;b;cd 4\nd 3\n");
	assert_int_equal(i.samples, 15);
	assert_string_equal(i.unit, "samples");
}

TEST(a_frame_that_begins_like_the_one_before_is_another)
{
	assert_string_equal(text("a;bb;c 1\na;b;c 2\na;bb 3\na;bbb;c 4").text,
			    "a;bb 3\na;bb;c 1\na;b;c 2\na;bbb;c 4\n");
}

TEST(annotations_are_taken_off)
{
	assert_string_equal(text("main_[0];Main.run_[j];Main.go_[i];write_[k] 1").text,
			    "main;Main.run;Main.go;write 1\n");
	assert_string_equal(text("dead-store;Main.fill_[movq_%rax,_8(%rdi)];--;[byte[]] 9").text,
			    "dead-store;Main.fill;--;[byte[]] 9\n");
}

TEST(classes_are_written_with_points)
{
	assert_string_equal(text("java/util/HashMap.get 1").text, "java.util.HashMap.get 1\n");
	assert_string_equal(text("Ljava/util/HashMap:::get 1").text, "java.util.HashMap.get 1\n");
	assert_string_equal(text("a/B$$Lambda$1/0x0000000800c03000.run 1").text,
			    "a.B$$Lambda.run 1\n");
	assert_string_equal(text("/usr/lib/libc.so.6 1\nopen a/b.c 2").text,
			    "/usr/lib/libc.so.6 1\nopen a/b.c 2\n");
}

TEST(blank_lines_and_carriage_returns_are_nothing)
{
	assert_string_equal(text("\r\na;b 1\r\n\n;;a;;b 2 \n").text, "a;b 3\n");
}

TEST(numbers_that_are_not_samples_have_no_intervals)
{
	struct import_options options = {.sample_type = "bytes"};
	struct imported i = imported_from("a 5\n", 4, &options);

	assert_int_equal(i.samples, 0);
	assert_string_equal(i.unit, "bytes");
}

TEST(what_is_no_stack_is_counted_by_line)
{
	static const struct {
		const char *lines, *stacks, *notes;
	} files[] = {
	    {"a 1\nb", "a 1\n", "1 line is no stack (line 2)"},
	    {"a 1\nb c\n\n# d 2\n", "a 1\n", "2 lines are no stacks (the first: line 2)"},
	    {"a 1\nb 18446744073709551616", "a 1\n", "1 line has a count of 2^63 or more (line 2)"},
	    {"a 1\nb -2\n", "a 1\n", "1 line has a negative count (line 2)"},
	    {"\xef\xbb\xbf"
	     "a 1\nb 0x2\n;; 3\n[1] 4711\na 5\na 6\n",
	     "a 12\n", "3 lines are no stacks (the first: line 2)"},
	    {"[tid 4711];worker 12 5\n[tid 47", "[tid 4711];worker 12 5\n",
	     "1 line is no stack (line 2)"},
	    {"a b 1\nc 2\n", "a b 1\nc 2\n", ""},
	    {"a 7 1\nc 2\n", "a 7 1\nc 2\n",
	     "1 of 2 stacks ends in two numbers (the first: line 1): a frame ends in a number, and "
	     "the last one is the count"},
	};

	for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
		struct imported i = text(files[k].lines);

		assert_string_equal(i.text, files[k].stacks);
		assert_string_equal(i.notes, files[k].notes);
	}
}

TEST(a_file_of_other_things_is_refused)
{
	static const struct {
		const char *lines;
		int r;
		const char *error;
	} bad[] = {
	    {"a 1\nb\nc\n", -EBADMSG,
	     "most lines, 2 of 3, are no stacks with a count (the first: line 2): give collapsed "
	     "stacks, 'a;b;c 12', pprof or a flight recording"},
	    {"a;b -1\n", -EBADMSG,
	     "most counts, 1 of 1, are negative: a difference of two profiles, which has no "
	     "shares; "
	     "give one of the two"},
	    {"a;b 1 2\na;c 3 4\n", -EBADMSG,
	     "two counts a line: a differential file; use --column 1 or --column 2 for one of them "
	     "(or --column last if the first number is part of a name)"},
	    {"a 9223372036854775807\nb 1", -EBADMSG, "at byte 22: counts add up to 2^63 or more"},
	    {"a 0\n", -ENODATA, "no stack in it has a cost"},
	    {"", -ENODATA, "it is empty"},
	};

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		struct imported i = text(bad[k].lines);

		assert_string_equal(i.text, bad[k].error);
		assert_int_equal(i.r, bad[k].r);
	}
}

/* Of differential files with threads, too, some stacks are of one frame. */
TEST(first_numbers_are_of_names_where_that_is_shown)
{
	static const struct {
		const char *lines;
		bool differential;
	} files[] = {
	    {"main;[tid 1];worker 12 5\nmain;[tid 2];worker 13 7\n", false},
	    {"worker 1 5\nworker 2 7\n", false},
	    {"main;reader 1 5\nmain;reader 2 7\nmain;writer 1 3\n", false},
	    {"[tid 1];main;a 10 90\n[tid 1];[unknown] 3 4\n[tid 2];main;b 80 5\n", true},
	    {"[tid 1];main 10 90\n[tid 1];main;a 3 4\n[tid 2];main 7 8\n", true},
	    {"w 1;main;a 10 90\nw 2;main;a 3 4\nw 2;main;a;b 3 4\n", true},
	    {"main;a 0 90\n", true},
	};

	for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
		assert_int_equal(text(files[k].lines).r, files[k].differential ? -EBADMSG : 0);
}

TEST(a_name_of_a_mebibyte_is_left_out)
{
	static const char behind[] = {' ', '1', '\n', 'b', ' ', '2', '\n'};
	size_t size = (size_t)1 << 20;
	char *line = malloc(size);
	struct imported i;

	assert_non_null(line);
	memset(line, 'a', size);
	memcpy(line + size - sizeof(behind), behind, sizeof(behind));
	i = imported_from(line, size, &collapsed);
	free(line);
	assert_int_equal(i.r, 0);
	assert_string_equal(i.text, "b 2\n");
	assert_string_equal(i.notes, "1 line has a name of more than 65536 bytes (line 1)");
}

TEST(a_stack_that_is_too_deep_is_counted)
{
	size_t depth = SUBSUME_DEPTH_MAX + 1, size = 2 * depth + 2;
	char *line = malloc(size);
	struct imported i;

	assert_non_null(line);
	memset(line, ';', size);
	for (size_t d = 0; d < depth; d++)
		line[2 * d] = 'a';
	line[size - 3] = ' ';
	line[size - 2] = '7';
	line[size - 1] = '\n';
	i = imported_from(line, size, &collapsed);
	assert_int_equal(i.r, 0);
	assert_int_equal(i.nodes, 1);
	assert_int_equal(i.truncated, 7);
	assert_int_equal(i.truncated_samples, 7);
	i = imported_from(line + 2, size - 2, &collapsed);
	assert_int_equal(i.nodes, SUBSUME_DEPTH_MAX + 1);
	assert_int_equal(i.truncated, 0);
	free(line);
}

TEST(formats_are_told_by_their_first_bytes)
{
	static const uint8_t pprof[] = {0x0a, 4, 8, 1, 16, 2}, other[] = {0, 1, 2, 3};

	assert_int_equal(import_detect((const uint8_t *)"FLR\0\0\2", 6), IMPORT_JFR);
	assert_int_equal(import_detect(pprof, sizeof(pprof)), IMPORT_PPROF);
	assert_int_equal(import_detect((const uint8_t *)"\na;b 1", 6), IMPORT_COLLAPSED);
	assert_int_equal(imported_from(other, sizeof(other), &automatic).r, -EBADMSG);
}

TEST(a_file_beyond_the_limit_is_not_read)
{
	struct import_options options = {.bytes_max = 3};

	assert_int_equal(imported_from("a 1\n", 4, &options).r, -EFBIG);
	assert_int_equal(imported_from("a 1", 3, &options).r, 0);
}
