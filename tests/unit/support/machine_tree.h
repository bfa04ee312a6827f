/* A made-up machine's files about memory: /proc of one process, and cgroups. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_MACHINE_TREE_H
#define JXPERF_TESTS_UNIT_SUPPORT_MACHINE_TREE_H

#include <stdint.h>
#include <stdio.h>

#include "tests/unit/support/tree_fixture.h"

#define MIB         UINT64_C(1048576)
#define PID         42 /* of the process that is asked about */
#define MOUNT_V2    "31 1 0:2 / /cg2 rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1    "32 1 0:3 / /cg1 rw - cgroup cgroup rw,memory\n"
#define MOUNT_CPU   "33 1 0:4 / /cpu rw - cgroup cgroup rw,cpu\n"
#define MEMINFO     "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n"
#define STATUS      "Name: java\nVmSize:\t 2097152 kB\nVmData:\t  102400 kB\nThreads:\t32\n"
#define LIMITS_HEAD "Limit                     Soft Limit           Hard Limit           Units\n"

static const char *root; /* in place of "/" */

static int machine_set_up(void **state)
{
	(void)state;
	root = tree_make();
	tree_add_directory("proc");
	tree_add_directory("proc/42");
	tree_add_directory("proc/self");
	tree_add_directory("proc/sys");
	tree_add_directory("proc/sys/vm");
	return 0;
}

static int machine_tear_down(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

/* A machine where nothing is short but what the test adds. */
static void machine_make(const char *mounts, const char *groups)
{
	tree_add_file("proc/self/mountinfo", mounts);
	tree_add_file("proc/42/cgroup", groups);
	tree_add_file("proc/42/status", STATUS);
	tree_add_file("proc/42/limits", LIMITS_HEAD);
	tree_add_file("proc/meminfo", MEMINFO);
	tree_add_file("proc/sys/vm/overcommit_memory", "0\n");
}

static void machine_add_number(const char *directory, const char *file, uint64_t number)
{
	char name[400], value[32];

	(void)snprintf(name, sizeof(name), "%s/%s", directory, file);
	(void)snprintf(value, sizeof(value), "%llu\n", (unsigned long long)number);
	tree_add_file(name, value);
}

static void machine_add_group(const char *directory, uint64_t limit_mib, uint64_t use_mib,
			      const char *stat)
{
	char name[400];

	tree_add_directory(directory);
	machine_add_number(directory, "memory.max", limit_mib * MIB);
	machine_add_number(directory, "memory.current", use_mib * MIB);
	(void)snprintf(name, sizeof(name), "%s/memory.stat", directory);
	tree_add_file(name, stat);
}

#endif
