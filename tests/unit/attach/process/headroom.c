/* Room for the agent: limits of cgroups and of the process, from the files of a made-up machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/process/cgroup_memory.h"
#include "attach/process/headroom.h"
#include "tests/unit/support/tree_fixture.h"

#define MIB         UINT64_C(1048576)
#define PID         42
#define MOUNT_V2    "31 1 0:2 / /cg2 rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1    "32 1 0:3 / /cg1 rw - cgroup cgroup rw,memory\n"
#define MOUNT_CPU   "33 1 0:4 / /cpu rw - cgroup cgroup rw,cpu\n"
#define MEMINFO     "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n"
#define STATUS      "Name: java\nVmSize:\t 2097152 kB\nVmData:\t  102400 kB\nThreads:\t32\n"
#define LIMITS_HEAD "Limit                     Soft Limit           Hard Limit           Units\n"

static char text[ERR_MESSAGE_MAX];
static struct err err;
static const char *root;

static int setup(void **state)
{
	(void)state;
	root = tree_make();
	tree_add_directory("proc");
	tree_add_directory("proc/42");
	tree_add_directory("proc/self");
	tree_add_directory("proc/sys");
	tree_add_directory("proc/sys/vm");
	memset(text, 0, sizeof(text));
	memset(&err, 0, sizeof(err));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

/* A machine where nothing is short but what the test adds. */
static void add_machine(const char *mounts, const char *groups)
{
	tree_add_file("proc/self/mountinfo", mounts);
	tree_add_file("proc/42/cgroup", groups);
	tree_add_file("proc/42/status", STATUS);
	tree_add_file("proc/42/limits", LIMITS_HEAD);
	tree_add_file("proc/meminfo", MEMINFO);
	tree_add_file("proc/sys/vm/overcommit_memory", "0\n");
}

static void add_number(const char *directory, const char *file, uint64_t number)
{
	char name[400], value[32];

	(void)snprintf(name, sizeof(name), "%s/%s", directory, file);
	(void)snprintf(value, sizeof(value), "%llu\n", (unsigned long long)number);
	tree_add_file(name, value);
}

static void add_group(const char *directory, uint64_t limit_mib, uint64_t use_mib, const char *stat)
{
	char name[400];

	tree_add_directory(directory);
	add_number(directory, "memory.max", limit_mib * MIB);
	add_number(directory, "memory.current", use_mib * MIB);
	(void)snprintf(name, sizeof(name), "%s/memory.stat", directory);
	tree_add_file(name, stat);
}

/* ---------------------------------------------------------------- cgroups */

static void the_level_that_leaves_least_counts(void **state)
{
	struct cgroup_memory found;

	(void)state;
	add_machine(MOUNT_CPU MOUNT_V2, "1:cpu:/other\n0::/a/b/c\n");
	tree_add_directory("cg2");
	add_group("cg2/a", 512, 505, "");
	tree_add_directory("cg2/a/b");
	tree_add_file("cg2/a/b/memory.max", "max\n");
	tree_add_file("cg2/a/b/memory.current", "1\n");
	add_group("cg2/a/b/c", 100, 50, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 7 * MIB);
	assert_int_equal(found.limit_bytes, 512 * MIB);
	assert_string_equal(found.group, "/a");
	assert_string_equal(found.file, "memory.max");
}

static void page_cache_that_can_be_dropped_counts_as_left(void **state)
{
	struct cgroup_memory found;

	(void)state;
	add_machine(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	/* 20 MiB not used for long, of which 4 are to be written first; 12 MiB in use. */
	add_group("cg2/a", 100, 100,
		  "anon 70000000\ninactive_anon 7\nfile_dirty 3145728\nfile_writeback 1048576\n"
		  "inactive_file 20971520\nactive_file 12582912\n");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 22 * MIB);
}

static void version_1_is_read_with_its_names(void **state)
{
	struct cgroup_memory found;

	(void)state;
	add_machine(MOUNT_V2 MOUNT_V1, "4:cpuset,memory:/x\n0::/y\n");
	tree_add_directory("cg2");
	tree_add_directory("cg2/y");
	tree_add_directory("cg1");
	tree_add_directory("cg1/x");
	add_number("cg1", "memory.limit_in_bytes", UINT64_C(9223372036854771712));
	add_number("cg1", "memory.usage_in_bytes", 5);
	add_number("cg1/x", "memory.limit_in_bytes", 64 * MIB);
	add_number("cg1/x", "memory.usage_in_bytes", 60 * MIB);
	tree_add_file("cg1/x/memory.stat", "inactive_file 1\ntotal_inactive_file 2097152\n");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 6 * MIB);
	assert_string_equal(found.file, "memory.limit_in_bytes");
	add_number("cg1/x", "memory.memsw.limit_in_bytes", 64 * MIB);
	add_number("cg1/x", "memory.memsw.usage_in_bytes", 63 * MIB);
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 3 * MIB);
	assert_string_equal(found.file, "memory.memsw.limit_in_bytes");
}

static void only_what_is_mounted_is_looked_at(void **state)
{
	struct cgroup_memory found;

	(void)state;
	add_machine("31 1 0:2 /pods/p1 /cg2 rw - cgroup2 cgroup2 rw\n", "0::/pods/p1/c\n");
	tree_add_directory("cg2");
	add_group("cg2/c", 100, 90, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(found.left_bytes, 10 * MIB);
	assert_string_equal(found.group, "/pods/p1/c");
}

static void a_group_that_is_not_visible_here_has_no_known_limit(void **state)
{
	struct cgroup_memory found = {.left_bytes = 7};

	(void)state;
	add_machine(MOUNT_V2, "0::/../elsewhere\n");
	tree_add_directory("cg2");
	assert_int_equal(cgroup_memory_left(root, PID, &found), -ENOENT);
	assert_int_equal(found.left_bytes, 7);
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
	assert_non_null(strstr(text, "no limit of a cgroup is visible"));
}

static void a_long_path_shows_its_end(void **state)
{
	static const char group[] =
	    "/kubepods.slice/kubepods-burstable.slice/"
	    "kubepods-burstable-pod0123456789012345678901234567890123456789.slice/"
	    "cri-containerd-0123456789012345678901234567890123456789.scope";
	char line[300], path[300];
	struct cgroup_memory found;

	(void)state;
	(void)snprintf(line, sizeof(line), "0::%s\n", group);
	add_machine(MOUNT_V2, line);
	tree_add_directory("cg2");
	(void)snprintf(path, sizeof(path), "cg2%s", group);
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (strcmp(path, "cg2") != 0)
			tree_add_directory(path);
		*slash = '/';
	}
	add_group(path, 1, 1, "");
	assert_int_equal(cgroup_memory_left(root, PID, &found), 0);
	assert_int_equal(strlen(found.group), CGROUP_GROUP_BYTES - 1);
	assert_memory_equal(found.group, "...", 3);
	assert_non_null(strstr(found.group, "0123456789.scope"));
}

/* ---------------------------------------------------------------- the verdict */

static void a_full_cgroup_is_refused_in_one_line(void **state)
{
	(void)state;
	add_machine(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	add_group("cg2/a", 256, 250, "");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	/* 16 MiB, 64 KiB for each of 32 threads, and 2 MiB for the JVM. */
	assert_string_equal(err.message,
			    "profiling process 42 may take 20 MiB of its memory (32 threads), and "
			    "6 MiB of 256 are left by memory.max of its cgroup '/a': raise that "
			    "limit, or attach with --force");
	assert_string_equal(text, "");
}

static void what_is_just_enough_is_enough(void **state)
{
	(void)state;
	add_machine(MOUNT_V2, "0::/a\n");
	tree_add_directory("cg2");
	add_group("cg2/a", 256, 236, "");
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
	assert_string_equal(text, "at most 20 MiB for 32 threads; 20 MiB of 256 are left by "
				  "memory.max of its cgroup '/a'");
}

static void a_limited_address_space_is_refused(void **state)
{
	(void)state;
	tree_add_file("proc/42/status", STATUS);
	/* 2 GiB are in use. */
	tree_add_file(
	    "proc/42/limits", LIMITS_HEAD
	    "Max address space         2168455168           unlimited            bytes\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "52 MiB of its address space"));
	assert_non_null(strstr(err.message, "20 MiB of 2068 are left by its RLIMIT_AS"));
	assert_non_null(strstr(err.message, "--force"));
}

static void an_unlimited_address_space_is_enough(void **state)
{
	(void)state;
	tree_add_file("proc/42/status", STATUS);
	tree_add_file(
	    "proc/42/limits", LIMITS_HEAD
	    "Max address space         unlimited            unlimited            bytes\n");
	assert_int_equal(headroom_check(root, PID, text, &err), 0);
}

static void a_machine_without_free_memory_is_refused(void **state)
{
	(void)state;
	tree_add_file("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 10240 kB\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "10 MiB of 8192 are left by the machine's memory"));
}

static void strict_overcommit_is_a_limit(void **state)
{
	(void)state;
	tree_add_file("proc/meminfo",
		      MEMINFO "CommitLimit: 1048576 kB\nCommitted_AS: 1044480 kB\n");
	tree_add_file("proc/sys/vm/overcommit_memory", "2\n");
	assert_int_equal(headroom_check(root, PID, text, &err), -ENOMEM);
	assert_non_null(strstr(err.message, "4 MiB of 1024 are left by the machine's CommitLimit"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_level_that_leaves_least_counts),
	    TEST(page_cache_that_can_be_dropped_counts_as_left),
	    TEST(version_1_is_read_with_its_names),
	    TEST(only_what_is_mounted_is_looked_at),
	    TEST(a_group_that_is_not_visible_here_has_no_known_limit),
	    TEST(a_long_path_shows_its_end),
	    TEST(a_full_cgroup_is_refused_in_one_line),
	    TEST(what_is_just_enough_is_enough),
	    TEST(a_limited_address_space_is_refused),
	    TEST(an_unlimited_address_space_is_enough),
	    TEST(a_machine_without_free_memory_is_refused),
	    TEST(strict_overcommit_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
