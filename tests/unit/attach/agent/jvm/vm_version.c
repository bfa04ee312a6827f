/* Which JVM this is, from its tables. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vm_version.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

static char text[VM_TEXT_BYTES];

static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	return safe_read_init();
}

TEST(a_jvm_that_does_not_say_is_not_known, set_up)
{
	assert_int_equal(vm_release(), 0);
	assert_false(vm_version(text));
	assert_string_equal(text, "");
	assert_false(vm_name(text));
}

TEST(release_version_and_name_are_read, set_up)
{
	static const int32_t major[2] = {25, -1};
	static const char *version = "25.0.1+8-LTS";
	static const char *all = "OpenJDK 64-Bit Server VM (25.0.1+8-LTS) for linux-amd64 JRE";

	fake_static("Abstract_VM_Version", "_vm_major_version", (void *)major);
	fake_static("Abstract_VM_Version", "_s_vm_release", &version);
	fake_static("Abstract_VM_Version", "_s_internal_vm_info_string", &all);
	assert_int_equal(vm_release(), 25);
	assert_true(vm_version(text));
	assert_string_equal(text, "25.0.1+8-LTS");
	assert_true(vm_name(text));
	assert_string_equal(text, "OpenJDK 64-Bit Server VM");
}
