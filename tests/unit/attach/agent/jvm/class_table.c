/* Classes are numbered by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "attach/agent/jvm/class_table.h"

static void classes_are_numbered_once(void **state)
{
	(void)state;
	class_table_clear();
	assert_int_equal(class_table_intern("[J"), 1);
	assert_int_equal(class_table_intern("Ljava/lang/String;"), 2);
	assert_int_equal(class_table_intern("[J"), 1);
	assert_string_equal(class_table_signature(2), "Ljava/lang/String;");
	assert_null(class_table_signature(3));
}

static void classes_beyond_the_table_have_no_number(void **state)
{
	char name[32];

	(void)state;
	class_table_clear();
	for (unsigned i = 1; i <= CLASSES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "Lc%u;", i);
		assert_int_equal(class_table_intern(name), i);
	}
	assert_int_equal(class_table_intern("Lone/more;"), 0);
	assert_int_equal(class_table_intern("Lc1;"), 1);
	class_table_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(classes_are_numbered_once),
	    cmocka_unit_test(classes_beyond_the_table_have_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
