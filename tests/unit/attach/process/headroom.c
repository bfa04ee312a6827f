#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "attach/process/headroom.h"
#include "tests/unit/support/machine_tree.h"

static char text[ERR_MESSAGE_MAX];
static struct err err;

static int set_up(void **state)
{
	memset(text, 0, sizeof(text));
	memset(&err, 0, sizeof(err));
	return machine_set_up(state);
}

TEST(a_full_cgroup_is_refused_in_one_line, set_up, machine_tear_down)
{
	machine_make(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	machine_add_group("cg2/a", 256, 250, "");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	/* 24 MiB, 64 KiB for each of 32 threads, and 2 MiB for the JVM. */
	assert_string_equal(
	    err.message, "profiling process 42 may take 28 MiB of its memory (32 threads), "
			 "and 6 MiB of 256 are left by memory.max of its cgroup '/a': raise that "
			 "limit, or attach with --force");
	assert_string_equal(text, "");
}

TEST(what_is_just_enough_is_enough, set_up, machine_tear_down)
{
	machine_make(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	machine_add_group("cg2/a", 256, 228, "");
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
	assert_string_equal(text,
			    "attaching takes 4.0 MiB, a window at most 28 MiB in all (32 "
			    "threads); 28 MiB of 256 are left by memory.max of its cgroup '/a'");
}

TEST(a_limited_address_space_is_refused, set_up, machine_tear_down)
{
	tree_add_file("proc/42/status", STATUS);
	/* 2 GiB are in use. */
	tree_add_file(
	    "proc/42/limits", LIMITS_HEAD
	    "Max address space         2168455168           unlimited            bytes\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "60 MiB of its address space"));
	assert_non_null(strstr(err.message, "20 MiB of 2068 are left by its RLIMIT_AS"));
	assert_non_null(strstr(err.message, "--force"));
}

TEST(without_a_visible_cgroup_it_says_so, set_up, machine_tear_down)
{
	machine_make(MOUNT_V2, "0::/../elsewhere\n");
	tree_add_directory("cg2");
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
	assert_non_null(strstr(text, "no limit of a cgroup is visible"));
}

TEST(an_unlimited_address_space_is_enough, set_up, machine_tear_down)
{
	tree_add_file("proc/42/status", STATUS);
	tree_add_file(
	    "proc/42/limits", LIMITS_HEAD
	    "Max address space         unlimited            unlimited            bytes\n");
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
}

TEST(a_machine_without_free_memory_is_refused, set_up, machine_tear_down)
{
	tree_add_file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 10240 kB\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "10 MiB of 8192 are left by the machine's memory"));
}

TEST(strict_overcommit_is_a_limit, set_up, machine_tear_down)
{
	tree_add_file("proc/meminfo",
		      MEMINFO "CommitLimit: 1048576 kB\nCommitted_AS: 1044480 kB\n");
	tree_add_file("proc/sys/vm/overcommit_memory", "2\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "4 MiB of 1024 are left by the machine's CommitLimit"));
}
