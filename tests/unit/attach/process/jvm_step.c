#include "tests/unit/support/test.h"

#include <string.h>

#include "attach/process/jvm_step.h"

TEST(a_step_is_cut_to_its_room)
{
	char step[JVM_STEP_BYTES + 1], name[2 * JVM_STEP_BYTES];

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

TEST(nobody_need_want_to_know)
{
	jvm_step(NULL, "its file '%s'", "/tmp/1");
}
