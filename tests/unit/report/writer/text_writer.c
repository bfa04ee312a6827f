#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"

/* What has been written so far; the stream is closed, and the text is to be freed. */
struct page {
	FILE *out;
	char *text;
	size_t size;
};

static void page_open(struct page *p)
{
	p->out = open_memstream(&p->text, &p->size);
	assert_non_null(p->out);
}

static void assert_page(struct page *p, const char *expected)
{
	assert_int_equal(fclose(p->out), 0);
	assert_string_equal(p->text, expected);
	free(p->text);
}

/* A method with a file or without one; gives its number. */
static uint32_t add_method(struct profile *p, const char *name, const char *file)
{
	struct cct_method m = {0};
	uint32_t id;

	assert_int_equal(strings_intern(&p->strings, "a.B", &m.class_name), 0);
	assert_int_equal(strings_intern(&p->strings, name, &m.name), 0);
	assert_int_equal(strings_intern(&p->strings, file, &m.file), 0);
	assert_int_equal(cct_add_method(&p->cct, &m, &id), 0);
	return id;
}

static uint32_t add_node(struct profile *p, uint32_t parent, uint32_t method, int32_t line)
{
	struct cct_node n = {.parent = parent, .method = method, .line = line};
	uint32_t id;

	n.tier = JXP__TIER__TIER_JIT;
	assert_int_equal(cct_add_node(&p->cct, &n, &id), 0);
	return id;
}

TEST(a_rule_has_its_title_in_the_middle)
{
	struct page p;
	const char *at;

	page_open(&p);
	report_text_rule(p.out, "REDUNDANT WITH");
	report_text_rule(p.out, NULL);
	assert_int_equal(fclose(p.out), 0);
	assert_int_equal(p.size, 2 * 81);
	at = strstr(p.text, "REDUNDANT WITH");
	assert_int_equal(at - p.text, 33);
	assert_int_equal(p.text[0], '*');
	assert_int_equal(p.text[79], '*');
	assert_int_equal(p.text[81], '-');
	free(p.text);
}

TEST(long_text_is_broken_at_blanks)
{
	char word[61], text[200];
	struct page p;

	memset(word, 'x', sizeof(word) - 1);
	word[60] = '\0';
	(void)snprintf(text, sizeof(text), "%s short %s", word, word);
	page_open(&p);
	report_text_wrapped(p.out, text, 0);
	(void)snprintf(text, sizeof(text), "%s short\n%s\n", word, word);
	assert_page(&p, text);
	page_open(&p);
	report_text_wrapped(p.out, "one two three four", 9);
	assert_page(&p, "one two\nthree\nfour\n");
}

TEST(a_frame_says_where_it_is_as_far_as_it_is_known)
{
	struct profile profile = {0};
	uint32_t named = add_method(&profile, "run", "B.java"),
		 bare = add_method(&profile, "go", "");
	struct page p;

	page_open(&p);
	report_text_frame(p.out, &profile, add_node(&profile, 0, named, 7));
	fputc('\n', p.out);
	report_text_frame(p.out, &profile, add_node(&profile, 0, named, 0));
	fputc('\n', p.out);
	report_text_frame(p.out, &profile, add_node(&profile, 0, bare, 7));
	fputc('\n', p.out);
	report_text_frame(p.out, &profile, add_node(&profile, 0, 0, 0));
	assert_page(&p, "a.B.run(B.java:7)\na.B.run(B.java)\na.B.go(Unknown Source:7)\n"
			"[unknown]");
	profile_release(&profile);
}

TEST(a_path_is_root_first_with_its_label_before_the_leaf)
{
	struct profile profile = {0};
	uint32_t method = add_method(&profile, "run", "B.java");
	uint32_t root = add_node(&profile, 0, method, 1);
	uint32_t leaf = add_node(&profile, root, method, 2);
	struct page p;

	page_open(&p);
	report_text_path(p.out, &profile, leaf, "mov", 0);
	report_text_path(p.out, &profile, 0, NULL, 0);
	assert_page(&p, "a.B.run(B.java:1)\nmov: a.B.run(B.java:2)\n[calling context unknown]\n");
	profile_release(&profile);
}

TEST(frames_that_two_contexts_have_in_common_end_before_either_leaf)
{
	struct profile profile = {0};
	uint32_t method = add_method(&profile, "run", "B.java"), last;
	uint32_t root = add_node(&profile, 0, method, 1),
		 caller = add_node(&profile, root, method, 2);
	uint32_t one = add_node(&profile, caller, method, 3),
		 other = add_node(&profile, caller, method, 4);
	struct page p;

	assert_int_equal(report_text_common(&profile, one, other, &last), 2);
	assert_int_equal(last, caller);
	assert_int_equal(report_text_common(&profile, one, one, &last), 2);
	assert_int_equal(report_text_common(&profile, one, caller, &last), 1);
	assert_int_equal(last, root);
	assert_int_equal(report_text_common(&profile, root, one, &last), 0);
	assert_int_equal(last, 0);
	assert_int_equal(report_text_common(&profile, 0, one, &last), 0);
	page_open(&p);
	report_text_path(p.out, &profile, one, "mov", 2);
	report_text_path(p.out, &profile, one, "mov", 1);
	assert_page(&p, "mov: a.B.run(B.java:3)\na.B.run(B.java:2)\nmov: a.B.run(B.java:3)\n");
	profile_release(&profile);
}

/* A frame of a class below parent. */
static uint32_t add_frame(struct profile *p, uint32_t parent, const char *class_name,
			  const char *method)
{
	struct cct_method m = {0};
	uint32_t id;

	assert_int_equal(strings_intern(&p->strings, class_name, &m.class_name), 0);
	assert_int_equal(strings_intern(&p->strings, method, &m.name), 0);
	assert_int_equal(cct_add_method(&p->cct, &m, &id), 0);
	return add_node(p, parent, id, 7);
}

TEST(scaffolding_is_one_line_and_the_leaf_is_never_folded)
{
	struct profile p = {0};
	struct page page;
	uint32_t node;

	node = add_frame(&p, 0, "java.lang.Thread", "run");
	node = add_frame(&p, node, "java.util.concurrent.ThreadPoolExecutor$Worker", "run");
	node = add_frame(&p, node, "java.util.concurrent.ThreadPoolExecutor", "runWorker");
	node = add_frame(&p, node, "a.B", "work");
	node = add_frame(&p, node, "a.B$$Lambda$1", "apply");
	node = add_frame(&p, node, "a.B", "step");
	node = add_frame(&p, node, "java.lang.reflect.Method", "invoke");
	page_open(&page);
	report_text_path(page.out, &p, node, "x", 0);
	assert_page(&page, "... (3 frames of thread entry, java.util.concurrent)\n"
			   "a.B.work(Unknown Source:7)\n"
			   "... (1 frame of lambdas)\n"
			   "a.B.step(Unknown Source:7)\n"
			   "x: java.lang.reflect.Method.invoke(Unknown Source:7)\n");
	profile_release(&p);
}

/* One method that calls itself from two lines by turns, one from one line, and a leaf of it. */
TEST(recursion_is_written_once_with_how_often)
{
	struct profile p = {0};
	uint32_t main_method = add_method(&p, "main", "B.java"),
		 even = add_method(&p, "even", "B.java"), odd = add_method(&p, "odd", "B.java"),
		 visit = add_method(&p, "visit", "B.java");
	uint32_t node = add_node(&p, 0, main_method, 1);
	struct page page;

	for (unsigned i = 0; i < 41; i++)
		node = add_node(&p, add_node(&p, node, even, 2), odd, 3);
	node = add_node(&p, node, even, 2);
	for (unsigned i = 0; i < 900; i++)
		node = add_node(&p, node, visit, 4);
	/* Twice is not worth a line. */
	node = add_node(&p, add_node(&p, node, odd, 5), odd, 5);
	node = add_node(&p, node, odd, 5);
	page_open(&page);
	report_text_path(page.out, &p, node, NULL, 0);
	assert_page(&page, "a.B.main(B.java:1)\n"
			   "a.B.even(B.java:2)\n"
			   "a.B.odd(B.java:3)\n"
			   "... (the 2 frames above, 41 times)\n"
			   "a.B.even(B.java:2)\n"
			   "a.B.visit(B.java:4)\n"
			   "... (the frame above, 900 times)\n"
			   "a.B.odd(B.java:5)\n"
			   "a.B.odd(B.java:5)\n"
			   "a.B.odd(B.java:5)\n");
	profile_release(&p);
}

TEST(a_location_is_told_in_the_words_of_a_java_developer)
{
	struct profile p = {0};
	struct location l = {.kind = JXP__LOCATION__KIND__FIELD};
	struct page page;
	uint32_t own, inherited, element, nothing;

	assert_int_equal(strings_intern(&p.strings, "a.B", &l.class_name), 0);
	assert_int_equal(strings_intern(&p.strings, "next", &l.field), 0);
	l.declared_in = l.class_name;
	assert_int_equal(locations_add(&p.locations, &l, &own), 0);
	assert_int_equal(strings_intern(&p.strings, "a.A", &l.declared_in), 0);
	assert_int_equal(locations_add(&p.locations, &l, &inherited), 0);
	l = (struct location){.kind = JXP__LOCATION__KIND__ELEMENT};
	assert_int_equal(strings_intern(&p.strings, "long[]", &l.class_name), 0);
	assert_int_equal(locations_add(&p.locations, &l, &element), 0);
	nothing = 0;
	page_open(&page);
	report_text_location(page.out, &p, own);
	fputc('\n', page.out);
	report_text_location(page.out, &p, inherited);
	fputc('\n', page.out);
	report_text_location(page.out, &p, element);
	fputc('\n', page.out);
	report_text_location(page.out, &p, nothing);
	assert_page(&page, "a.B.next\n"
			   "a.B.next (of a.A)\n"
			   "element of long[]\n"
			   "memory whose object is not known");
	profile_release(&p);
}
