#include "tests/unit/support/test.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/capabilities.h"

/* Each test is done in a child: what is given up does not come back. The number of the first check
 * that fails is its exit status. */
static void in_a_child(int (*body)(void))
{
	pid_t child;
	int status;

	if (!capabilities_have(CAP_SETPCAP) || !capabilities_have(CAP_KILL) ||
	    !capabilities_have(CAP_SYS_PTRACE)) {
		print_message("# SKIP needs the capabilities of root\n");
		skip();
	}
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int limit(void)
{
	struct err err;

	if (capabilities_limit(CAPABILITY(CAP_KILL), false, &err) < 0)
		return 1;
	if (!capabilities_have(CAP_KILL) || capabilities_have(CAP_SYS_PTRACE))
		return 2;
	/* For good: nothing more comes with a larger mask. */
	if (capabilities_limit(UINT64_MAX, false, &err) < 0 || capabilities_have(CAP_SYS_PTRACE))
		return 3;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_KILL, 0, 0) == 0 ? 0 : 4;
}

TEST(what_is_not_in_the_mask_is_gone_for_good)
{
	in_a_child(limit);
}

static int inherit(void)
{
	struct err err;

	if (capabilities_limit(CAPABILITY(CAP_KILL), true, &err) < 0)
		return 1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_KILL, 0, 0) != 1)
		return 2;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SYS_PTRACE, 0, 0) == 0 ? 0 : 3;
}

TEST(programs_inherit_what_is_left_when_they_are_to)
{
	in_a_child(inherit);
}

TEST(capabilities_have_names)
{
	char text[CAPABILITIES_TEXT_BYTES];

	assert_string_equal(capabilities_text(0, text), "");
	assert_string_equal(capabilities_text(CAPABILITY(CAP_SYS_PTRACE), text), "CAP_SYS_PTRACE");
	assert_string_equal(
	    capabilities_text(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID), text),
	    "CAP_SETGID and CAP_SETUID");
	assert_string_equal(
	    capabilities_text(CAPABILITY(0) | CAPABILITY(40) | CAPABILITY(63), text),
	    "CAP_CHOWN, CAP_CHECKPOINT_RESTORE and capability 63");
	assert_true(strlen(capabilities_text(UINT64_MAX, text)) < sizeof(text) - 1);
	assert_non_null(strstr(text, " and capability 63"));
}

static int limit_bounding(void)
{
	struct err err;

	if (capabilities_limit_bounding(CAPABILITY(CAP_KILL), &err) < 0)
		return 1;
	if (prctl(PR_CAPBSET_READ, CAP_KILL) != 1 || prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 0)
		return 2;
	if (!capabilities_have(CAP_SYS_PTRACE))
		return 3;
	/* Nothing is left to take out, so it takes no capability. */
	if (capabilities_limit(0, false, &err) < 0)
		return 4;
	return capabilities_limit_bounding(CAPABILITY(CAP_KILL), &err) == 0 ? 0 : 5;
}

TEST(the_bounding_set_shrinks_and_the_others_stay)
{
	in_a_child(limit_bounding);
}

static int limit_bounding_without(void)
{
	struct err err = {""};

	if (capabilities_limit(CAPABILITY(CAP_KILL), false, &err) < 0)
		return 1;
	if (capabilities_limit_bounding(CAPABILITY(CAP_KILL), &err) != -EPERM)
		return 2;
	return err.message[0] ? 0 : 3;
}

TEST(without_the_capability_the_bounding_set_cannot_shrink)
{
	in_a_child(limit_bounding_without);
}
