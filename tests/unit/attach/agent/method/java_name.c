/* Names of classes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "attach/agent/method/java_name.h"

static void assert_name(const char *signature, const char *expected)
{
	char *name = java_name_of(signature);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void classes_have_dots(void **state)
{
	(void)state;
	assert_name("Ljava/util/Map;", "java.util.Map");
	assert_name("LMain$Inner;", "Main$Inner");
}

static void arrays_have_brackets_behind_their_elements(void **state)
{
	(void)state;
	assert_name("[Ljava/util/Map;", "java.util.Map[]");
	assert_name("[[I", "int[][]");
	assert_name("[J", "long[]");
	assert_name("[Z", "boolean[]");
}

static void what_is_no_signature_is_named_all_the_same(void **state)
{
	(void)state;
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

static void names_that_the_jvm_keeps_are_the_same(void **state)
{
	(void)state;
	assert_symbol("java/util/Map", "java.util.Map");
	assert_symbol("[Ljava/util/Map;", "java.util.Map[]");
	assert_symbol("p/A$$Lambda+0x00007f0000001000", "p.A$$Lambda.0x00007f0000001000");
	assert_symbol("p/a+b", "p.a+b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(classes_have_dots),
	    cmocka_unit_test(arrays_have_brackets_behind_their_elements),
	    cmocka_unit_test(what_is_no_signature_is_named_all_the_same),
	    cmocka_unit_test(names_that_the_jvm_keeps_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
