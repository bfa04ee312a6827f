/* Classes are numbered by their names. */
#include "tests/unit/support/test.h"
#include <stdio.h>

#include "attach/agent/jvm/class_table.h"

TEST(classes_are_numbered_once)
{
	class_table_clear();
	assert_int_equal(class_table_intern("[J"), 1);
	assert_int_equal(class_table_intern("Ljava/lang/String;"), 2);
	assert_int_equal(class_table_intern("[J"), 1);
	assert_string_equal(class_table_signature(2), "Ljava/lang/String;");
	assert_null(class_table_signature(3));
}

TEST(classes_beyond_the_table_have_no_number)
{
	char name[32];

	class_table_clear();
	for (unsigned i = 1; i <= CLASSES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "Lc%u;", i);
		assert_int_equal(class_table_intern(name), i);
	}
	assert_int_equal(class_table_intern("Lone/more;"), 0);
	assert_int_equal(class_table_intern("Lc1;"), 1);
	class_table_clear();
}
