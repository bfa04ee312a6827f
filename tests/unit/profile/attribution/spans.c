/* By which access instructions are told, of code that nobody compiled: what each does itself is put
 * in by hand. */
#include "tests/unit/support/test.h"

#include "profile/attribution/spans.h"
#include "tests/unit/support/code_file.h"

#define INSNS_MAX 256u

/* Spans of some code; anchors: of each instruction in turn '-' (none), a digit (a place), or a
 * letter, which is a place, too, and one of an object: 'a' is 10. */
static void make(struct spans *s, const char *text, const char *anchors)
{
	struct span_anchor list[INSNS_MAX];
	struct code_image image;
	struct native_code n;

	assert_true(code_file_read_text(&image, text));
	assert_int_equal(native_code_make(&n, &image), 0);
	assert_int_equal(n.insn_count, strlen(anchors));
	for (size_t i = 0; i < n.insn_count; i++) {
		bool letter = anchors[i] >= 'a';

		list[i] = (struct span_anchor){
		    anchors[i] == '-'
			? SPAN_NO_PLACE
			: (uint32_t)(letter ? anchors[i] - 'a' + 10 : anchors[i] - '0'),
		    letter};
	}
	assert_int_equal(spans_make(s, &n, list), 0);
	native_code_release(&n);
	code_image_release(&image);
}

/* The places of ticks at each offset from 0 on, as anchors are said. */
static void assert_places(const struct spans *s, const char *places)
{
	for (uint32_t i = 0; places[i]; i++) {
		uint32_t place = spans_at(s, i);
		char said = place == SPAN_NO_PLACE ? '-'
			    : place >= 10          ? (char)('a' + place - 10)
						   : (char)('0' + place);

		if (said != places[i])
			fail_msg("at %u: %c, not %c", i, said, places[i]);
	}
}

static void assert_spans(const char *text, const char *anchors, const char *places)
{
	struct spans s;

	make(&s, text, anchors);
	assert_places(&s, places);
	spans_release(&s);
	assert_int_equal(spans_at(&s, 0), SPAN_NO_PLACE);
}

/* So many nops, and ret. */
#define FIVE "image 10000 6 0\nbytes 9090909090c3\nmethod 0 m b1\n"

TEST(an_instruction_is_told_by_the_one_before_it)
{
	assert_spans(FIVE, "01234-", "001234");
}

TEST(where_that_makes_no_access_the_nearest_tells)
{
	/* Of two that are as near, the one that comes before. */
	assert_spans(FIVE, "0----5", "000055");
	assert_spans(FIVE, "--2---", "222222");
	assert_spans(FIVE, "------", "------");
}

TEST(accesses_to_objects_tell_before_others)
{
	assert_spans(FIVE, "012a45", "aaaaaa");
	assert_spans(FIVE, "a1---b", "aaaabb");
}

/* nop; call; nop; nop; ret: behind a call begins what it does not tell. */
TEST(nothing_is_told_across_a_call)
{
	const char *text =
	    "image 10000 9 0\nbytes 90e8000100009090c3\ncall 1 JAVA\nmethod 0 m b1\n";

	assert_spans(text, "0---4", "000000444");
	assert_spans(text, "0----", "000000---");
	assert_spans(text, "---3-", "------333");
	/* The call itself is of what is before it. */
	assert_spans(text, "-1-3-", "111111333");
	/* 0 nop; 1 test eax, eax; 3 je 12; 5 call; 10 nop; 11 ret; 12 ret */
	assert_spans("image 10000 13 0\nbytes 9085c07407e80001000090c3c3\ncall 5 JAVA\n"
		     "method 0 m b1\n",
		     "0------", "0000000000--0");
}

/*
 *  0  nop
 *  1  test eax, eax
 *  3  je 8
 *  5  nop; nop; ret
 *  8  nop; ret
 */
#define BRANCH "image 10000 10 0\nbytes 9085c074039090c390c3\nmethod 0 m b1\n"

TEST(a_block_without_any_is_told_by_the_end_of_the_only_one_before_it)
{
	assert_spans(BRANCH, "0-------", "0000000000");
	assert_spans(BRANCH, "-1--4---", "1111144411");
	assert_spans(BRANCH, "------6-", "--------66");
}

/* 0 nop; 1 test eax, eax; 3 je 6; 5 nop; 6 nop; 7 ret: two ways lead to 6. */
TEST(where_ways_meet_none_of_them_tells)
{
	assert_spans("image 10000 8 0\nbytes 9085c074019090c3\nmethod 0 m b1\n", "0-----",
		     "000000--");
}

/* Far away it is something else: code is followed for so many instructions. */
TEST(what_is_far_away_tells_nothing)
{
	char text[2 * INSNS_MAX + 128], anchors[INSNS_MAX];
	struct spans s;
	int at = snprintf(text, sizeof(text), "image 10000 200 0\nbytes ");

	memset(anchors, '-', 200);
	anchors[0] = '7';
	anchors[200] = '\0';
	for (unsigned i = 0; i < 199; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "90");
	(void)snprintf(text + at, sizeof(text) - (size_t)at, "c3\nmethod 0 m b1\n");
	make(&s, text, anchors);
	assert_int_equal(spans_at(&s, 65), 7);
	assert_int_equal(spans_at(&s, 66), SPAN_NO_PLACE);
	assert_int_equal(spans_at(&s, 199), SPAN_NO_PLACE);
	assert_int_equal(s.count, 2); /* What is told alike is one. */
	spans_release(&s);
}
