#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/writer/text_places.h"

#define HEAP JXP__REGION__REGION_HEAP

static uint32_t text(struct profile *p, const char *s)
{
	uint32_t id = 0;

	assert_int_equal(strings_intern(&p->strings, s, &id), 0);
	return id;
}

static void assert_place(uint32_t kind, const char *class_name, const char *field,
			 const char *declared_in, Jxp__Region region, const char *expected)
{
	struct profile p = {0};
	struct location l = {.kind = kind,
			     .class_name = text(&p, class_name),
			     .field = text(&p, field),
			     .declared_in = text(&p, declared_in)};
	char *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);
	uint32_t id = 0;

	assert_non_null(out);
	assert_int_equal(locations_add(&p.locations, &l, &id), 0);
	report_text_place(out, &p, id, region);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(written, expected);
	free(written);
	profile_release(&p);
}

TEST(places_are_named_without_packages)
{
	assert_place(JXP__LOCATION__KIND__FIELD, "java.util.HashMap$KeyIterator", "current",
		     "java.util.HashMap$HashIterator", HEAP, "HashMap$HashIterator.current");
	assert_place(JXP__LOCATION__KIND__FIELD, "a.B", "c", "", HEAP, "B.c");
	assert_place(JXP__LOCATION__KIND__STATIC, "a.B", "COUNT", "", HEAP, "B.COUNT (static)");
	assert_place(JXP__LOCATION__KIND__ELEMENT, "long[]", "", "", HEAP, "elements of long[]");
	assert_place(JXP__LOCATION__KIND__ELEMENT, "java.lang.String[][]", "", "", HEAP,
		     "elements of String[][]");
	assert_place(JXP__LOCATION__KIND__HEADER, "a.B", "mark", "", HEAP, "the mark word of B");
	assert_place(JXP__LOCATION__KIND__HEADER, "long[]", "length", "", HEAP,
		     "the length of long[]");
	assert_place(JXP__LOCATION__KIND__SPILL, "", "", "", JXP__REGION__REGION_STACK,
		     "compiler's spills");
	assert_place(JXP__LOCATION__KIND__FIELD, "a.B$$Lambda/0x00007f.1", "arg$1", "", HEAP,
		     "B$$Lambda/0x00007f.1.arg$1");
}

TEST(places_without_a_name_are_their_regions)
{
	assert_place(0, "", "", "", HEAP, "heap memory");
	assert_place(0, "a.B", "", "", HEAP, "a place in B");
	assert_place(0, "", "", "", JXP__REGION__REGION_STACK, "the stack");
	assert_place(0, "", "", "", JXP__REGION__REGION_OTHER, "memory outside the heap");
}
