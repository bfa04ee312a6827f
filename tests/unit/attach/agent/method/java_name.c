/* Names of classes as people write them. */
#include "tests/unit/support/test.h"
#include <stdlib.h>

#include "attach/agent/method/java_name.h"

static void assert_name(const char *signature, const char *expected)
{
	char *name = java_name_of(signature);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

TEST(classes_have_dots)
{
	assert_name("Ljava/util/Map;", "java.util.Map");
	assert_name("LMain$Inner;", "Main$Inner");
}

TEST(arrays_have_brackets_behind_their_elements)
{
	assert_name("[Ljava/util/Map;", "java.util.Map[]");
	assert_name("[[I", "int[][]");
	assert_name("[J", "long[]");
	assert_name("[Z", "boolean[]");
}

TEST(what_is_no_signature_is_named_all_the_same)
{
	assert_name("", "?");
	assert_name("[", "?[]");
	assert_name("[Q", "?[]");
	assert_name("L", "");
}

static void assert_symbol(const char *symbol, const char *expected)
{
	char *name = java_name_of_symbol(symbol);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

TEST(names_that_the_jvm_keeps_are_the_same)
{
	assert_symbol("java/util/Map", "java.util.Map");
	assert_symbol("[Ljava/util/Map;", "java.util.Map[]");
	assert_symbol("p/A$$Lambda+0x00007f0000001000", "p.A$$Lambda.0x00007f0000001000");
	assert_symbol("p/a+b", "p.a+b");
}
