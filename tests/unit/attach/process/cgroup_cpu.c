#include "tests/unit/support/test.h"

#include <string.h>

#include "attach/process/cgroup_cpu.h"
#include "tests/unit/support/machine_tree.h"

TEST(the_tightest_level_of_version_2_counts, machine_set_up, machine_tear_down)
{
	machine_make(MOUNT_V2, "0::/a/b/c\n");
	tree_add_directory("cg2");
	machine_add_group("cg2/a", 512, 1, "");
	tree_add_directory("cg2/a/b");
	tree_add_directory("cg2/a/b/c");
	tree_add_file("cg2/a/cpu.max", "50000 100000\n");
	tree_add_file("cg2/a/b/cpu.max", "max 100000\n");
	tree_add_file("cg2/a/b/c/cpu.max", "200000 100000\n");
	assert_true(cgroup_cpu_limit(root, PID) == 0.5);
}

TEST(version_1_is_read_with_its_names, machine_set_up, machine_tear_down)
{
	machine_make(MOUNT_V2 "31 24 0:27 / /cg1 rw - cgroup cgroup rw,cpuacct,cpu\n",
		     "4:cpuacct,cpu:/x/y\n0::/\n");
	tree_add_directory("cg2");
	tree_add_directory("cg1");
	tree_add_directory("cg1/x");
	tree_add_directory("cg1/x/y");
	tree_add_file("cg1/x/cpu.cfs_quota_us", "150000\n");
	tree_add_file("cg1/x/cpu.cfs_period_us", "100000\n");
	tree_add_file("cg1/x/y/cpu.cfs_quota_us", "-1\n");
	tree_add_file("cg1/x/y/cpu.cfs_period_us", "100000\n");
	assert_true(cgroup_cpu_limit(root, PID) == 1.5);
}

TEST(what_cannot_be_read_is_no_limit, machine_set_up, machine_tear_down)
{
	static const char *const texts[] = {
	    "", "max 100000\n", "5\n", "0 100000\n", "-1 100000\n", "5 0\n", "x y\n"};
	char path[64] = "cg2";

	machine_make(MOUNT_V2, "0::/a0/a1/a2/a3/a4/a5/a6\n");
	tree_add_directory("cg2");
	assert_true(cgroup_cpu_limit(root, PID) == 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char file[sizeof(path) + sizeof("/cpu.max")];

		(void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "/a%zu", i);
		(void)snprintf(file, sizeof(file), "%s/cpu.max", path);
		tree_add_directory(path);
		tree_add_file(file, texts[i]);
		assert_true(cgroup_cpu_limit(root, PID) == 0);
	}
	assert_true(cgroup_cpu_limit(root, PID + 1) == 0);
}
