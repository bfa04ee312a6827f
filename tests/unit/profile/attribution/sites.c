/* Which bytecodes may access memory, of methods that nobody compiled. */
#include "tests/unit/support/test.h"

#include "profile/attribution/sites.h"
#include "tests/unit/support/code_file.h"

static void make(struct sites *s, struct code_image *image, const char *methods)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "image 10000 1 0\nbytes c3\n%s", methods);
	assert_true(code_file_read_text(image, text));
	assert_int_equal(sites_make(s, image), 0);
}

static void assert_sites(const struct sites *s, uint32_t method, const char *bcis)
{
	char found[256] = "";

	for (uint32_t i = s->first[method]; i < s->first[method + 1]; i++) {
		size_t length = strlen(found);

		(void)snprintf(found + length, sizeof(found) - length, " %u", s->bcis[i]);
	}
	assert_string_equal(found, bcis);
}

TEST(they_are_of_elements_fields_classes_calls_and_what_makes_objects)
{
	struct code_image image;
	struct sites s;

	/* 0: aload_0, getfield, iconst_0, iaload, pop; aload_0, invokevirtual, new, pop, return.
	 * 1: iload_0, iload_1, iadd, ifeq, ireturn. 2: iaload, saload, iastore, sastore;
	 * pop and isub, which stand beside them. */
	make(&s, &image,
	     "method 0 a 2ab40001032e572ab60002bb000357b1\n"
	     "method 1 b 1a1b60990003ac\n"
	     "method 2 c 2e354f562d5764\n");
	assert_sites(&s, 0, " 1 5 8 11");
	assert_sites(&s, 1, "");
	assert_sites(&s, 2, " 0 1 2 3");
	sites_release(&s);
	code_image_release(&image);
	/* getstatic, checkcast, instanceof, arraylength, monitorenter, multianewarray; wide and
	 * ifnull, behind them, are none. */
	make(&s, &image, "method 0 a b20001c00001c10001bec2c5000101c41500015157c60003b1\n");
	assert_sites(&s, 0, " 0 3 6 9 10 11 19");
	sites_release(&s);
	code_image_release(&image);
}

/* What looks like an instruction there is an operand. */
TEST(operands_are_none)
{
	struct code_image image;
	struct sites s;

	/* bipush 0x2e; sipush 0xb4b4; tableswitch 0 to 0; aaload */
	make(&s, &image, "method 0 a 102e11b4b4aa0000000000b40000000000000000000000b432\n");
	assert_sites(&s, 0, " 24");
	sites_release(&s);
	code_image_release(&image);
}

TEST(a_method_ends_where_an_instruction_does_not_fit)
{
	struct code_image image;
	struct sites s;

	/* iaload, then getfield without its operands. The next method is whole, and so is one
	 * without bytecodes. */
	make(&s, &image, "method 0 a 2eb400\nmethod 1 b -\nmethod 2 c 2e\n");
	assert_sites(&s, 0, " 0");
	assert_sites(&s, 1, "");
	assert_sites(&s, 2, " 0");
	assert_int_equal(sites_memory_bytes(&s, 3), 4 * sizeof(uint32_t) + 2 * sizeof(uint16_t));
	sites_release(&s);
	assert_int_equal(sites_memory_bytes(&s, 3), 0);
	code_image_release(&image);
}
