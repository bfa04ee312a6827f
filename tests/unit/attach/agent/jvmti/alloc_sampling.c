/* The JVM's sampling of allocations, on, off, and refused. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <string.h>

#include "attach/agent/jvmti/alloc_sampling.h"
#include "attach/agent/code/safe_read.h"
#include "tests/unit/support/agent/fake_jvmti.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

static struct vm vm;
static struct err err;
static const char *version;

static int set_up(void **state)
{
	(void)state;
	vm = (struct vm){.jvmti = &fake_jvmti};
	err = (struct err){0};
	fake_jvmti_taken = fake_jvmti_capable = fake_jvmti_sampling = false;
	fake_jvmti_interval = (jint)ALLOC_SAMPLING_DEFAULT;
	fake_vmstructs_reset();
	return safe_read_init();
}

TEST(allocations_are_sampled_at_the_interval, set_up)
{
	assert_int_equal(alloc_sampling_start(&vm, 4096, &err), 0);
	assert_true(fake_jvmti_sampling);
	assert_int_equal(fake_jvmti_interval, 4096);
	alloc_sampling_set_interval(&vm, 8192);
	assert_int_equal(fake_jvmti_interval, 8192);
	alloc_sampling_stop(&vm);
}

TEST(afterwards_the_jvm_is_as_before, set_up)
{
	assert_int_equal(alloc_sampling_start(&vm, 4096, &err), 0);
	alloc_sampling_stop(&vm);
	assert_false(fake_jvmti_sampling || fake_jvmti_capable);
	assert_int_equal(fake_jvmti_interval, ALLOC_SAMPLING_DEFAULT);
}

TEST(where_another_agent_samples_we_do_not, set_up)
{
	fake_jvmti_taken = true;
	assert_int_equal(alloc_sampling_start(&vm, 4096, &err), -EBUSY);
	assert_non_null(strstr(err.message, "another agent"));
	assert_false(fake_jvmti_sampling);
}

TEST(a_release_that_must_not_be_asked_is_not, set_up)
{
	fake_static("Abstract_VM_Version", "_s_vm_release", &version);
	version = "24.0.1+9";
	assert_int_equal(alloc_sampling_start(&vm, 4096, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "JDK 24"));
	assert_false(fake_jvmti_capable || fake_jvmti_sampling);
	version = "25+36";
	assert_int_equal(alloc_sampling_start(&vm, 4096, &err), 0);
}
