#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "attach/process/cgroup_memory.h"
#include "tests/unit/support/machine_tree.h"

TEST(the_level_that_leaves_least_counts, machine_set_up, machine_tear_down)
{
	struct cgroup_memory found;

	machine_make(MOUNT_CPU MOUNT_V2, "1:cpu:/other\n0::/a/b/c\n");
	tree_add_directory("cg2");
	machine_add_group("cg2/a", 512, 505, "");
	tree_add_directory("cg2/a/b");
	tree_add_file("cg2/a/b/memory.max", "max\n");
	tree_add_file("cg2/a/b/memory.current", "1\n");
	machine_add_group("cg2/a/b/c", 100, 50, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 7 * MIB);
	assert_int_equal(found.limit_bytes, 512 * MIB);
	assert_string_equal(found.group, "/a");
	assert_string_equal(found.file, "memory.max");
}

TEST(page_cache_that_can_be_dropped_counts_as_left, machine_set_up, machine_tear_down)
{
	struct cgroup_memory found;

	machine_make(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	/* 20 MiB not used for long, of which 4 are to be written first; 12 MiB in use. */
	machine_add_group(
	    "cg2/a", 100, 100,
	    "anon 70000000\ninactive_anon 7\nfile_dirty 3145728\nfile_writeback 1048576\n"
	    "inactive_file 20971520\nactive_file 12582912\n");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 22 * MIB);
}

TEST(version_1_is_read_with_its_names, machine_set_up, machine_tear_down)
{
	struct cgroup_memory found;

	machine_make(MOUNT_V2 MOUNT_V1, "4:cpuset,memory:/x\n0::/y\n");
	tree_add_directory("cg2");
	tree_add_directory("cg2/y");
	tree_add_directory("cg1");
	tree_add_directory("cg1/x");
	machine_add_number("cg1", "memory.limit_in_bytes", UINT64_C(9223372036854771712));
	machine_add_number("cg1", "memory.usage_in_bytes", 5);
	machine_add_number("cg1/x", "memory.limit_in_bytes", 64 * MIB);
	machine_add_number("cg1/x", "memory.usage_in_bytes", 60 * MIB);
	tree_add_file("cg1/x/memory.stat", "inactive_file 1\ntotal_inactive_file 2097152\n");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 6 * MIB);
	assert_string_equal(found.file, "memory.limit_in_bytes");
	machine_add_number("cg1/x", "memory.memsw.limit_in_bytes", 64 * MIB);
	machine_add_number("cg1/x", "memory.memsw.usage_in_bytes", 63 * MIB);
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 3 * MIB);
	assert_string_equal(found.file, "memory.memsw.limit_in_bytes");
}

TEST(only_what_is_mounted_is_looked_at, machine_set_up, machine_tear_down)
{
	struct cgroup_memory found;

	machine_make("31 1 0:2 /pods/p1 /cg2 rw - cgroup2 cgroup2 rw\n", "0::/pods/p1/c\n");
	tree_add_directory("cg2");
	machine_add_group("cg2/c", 100, 90, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 10 * MIB);
	assert_string_equal(found.group, "/pods/p1/c");
}

TEST(a_group_that_is_not_visible_here_has_no_known_limit, machine_set_up, machine_tear_down)
{
	struct cgroup_memory found = {.left_bytes = 7};

	machine_make(MOUNT_V2, "0::/../elsewhere\n");
	tree_add_directory("cg2");
	assert_int_equal(cgroup_memory_left(root, PID, &found), -ENOENT);
	assert_int_equal(found.left_bytes, 7);
}

TEST(a_long_path_shows_its_end, machine_set_up, machine_tear_down)
{
	static const char group[] =
	    "/kubepods.slice/kubepods-burstable.slice/"
	    "kubepods-burstable-pod0123456789012345678901234567890123456789.slice/"
	    "cri-containerd-0123456789012345678901234567890123456789.scope";
	char line[300], path[300];
	struct cgroup_memory found;

	(void)snprintf(line, sizeof(line), "0::%s\n", group);
	machine_make(MOUNT_V2, line);
	tree_add_directory("cg2");
	(void)snprintf(path, sizeof(path), "cg2%s", group);
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (strcmp(path, "cg2") != 0)
			tree_add_directory(path);
		*slash = '/';
	}
	machine_add_group(path, 1, 1, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(strlen(found.group), CGROUP_GROUP_BYTES - 1);
	assert_memory_equal(found.group, "...", 3);
	assert_non_null(strstr(found.group, "0123456789.scope"));
}
