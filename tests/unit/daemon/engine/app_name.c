#include "tests/unit/support/test.h"

#include <string.h>

#include "daemon/engine/app_name.h"

static void assert_app(const char *program, const char *expected)
{
	char label[128];

	app_name_of(label, sizeof(label), program);
	assert_string_equal(label, expected);
}

TEST(a_main_class_is_its_simple_name)
{
	assert_app("org.example.Main", "Main");
	assert_app("Main", "Main");
	assert_app("jdk.compiler/com.sun.tools.javac.Main", "Main");
	assert_app("org.example.Outer$Inner", "Outer_Inner");
}

TEST(a_jar_is_its_base_name_without_version)
{
	assert_app("/opt/app/shop-server-1.4.2-SNAPSHOT.jar", "shop-server");
	assert_app("tool_2.13.jar", "tool");
	assert_app("service.jar", "service");
	assert_app("my app-2.jar", "my_app");
	assert_app("org.jarred.Tool", "Tool");
	assert_app("/srv/my apps/batch-7.jar", "batch");
	assert_app("log4j2-bench.jar", "log4j2-bench");
}

TEST(without_a_usable_name_it_is_unknown)
{
	assert_app("", "unknown");
	assert_app(".jar", "unknown");
}

TEST(characters_that_labels_do_not_need_become_underscores)
{
	assert_app("org.example.Gr\xc3\xb6sse", "Gr__sse");
	assert_app("a\"b\\c\nd", "a_b_c_d");
}

TEST(a_long_name_is_cut)
{
	char command[300], label[128];

	memset(command, 'a', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	app_name_of(label, sizeof(label), command);
	assert_int_equal(strlen(label), APP_NAME_BYTES - 1);
}
