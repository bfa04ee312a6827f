#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "attach/process/jvm_step.h"

static void a_step_is_cut_to_its_room(void **state)
{
	char step[JVM_STEP_BYTES + 1], name[2 * JVM_STEP_BYTES];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	step[JVM_STEP_BYTES] = '!';
	jvm_step(step, "its file '%s'", "/tmp/1");
	assert_string_equal(step, "its file '/tmp/1'");
	jvm_step(step, "its file '%s'", name);
	assert_int_equal(strlen(step), JVM_STEP_BYTES - 1);
	assert_memory_equal(step, "its file 'xxx", 13);
	assert_int_equal(step[JVM_STEP_BYTES], '!');
}

static void nobody_need_want_to_know(void **state)
{
	(void)state;
	jvm_step(NULL, "its file '%s'", "/tmp/1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_step_is_cut_to_its_room),
	    cmocka_unit_test(nobody_need_want_to_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
