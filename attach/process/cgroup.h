/*
 * The control groups of a process, version 2 and 1: every level of a hierarchy, from the process's
 * own group up to the topmost that is visible here. Limits of all of them hold for it.
 *
 * Reads /proc and finds the mounted hierarchies with the caller's rights. No state; any thread may
 * call.
 */
#ifndef JXPERF_ATTACH_PROCESS_CGROUP_H
#define JXPERF_ATTACH_PROCESS_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* One level: its directory, and the path of the group. v2: of which version its files are. */
typedef void (*cgroup_visit_fn)(void *arg, bool v2, const char *directory, const char *group);

/* Visits the levels of version 2's hierarchy, whatever controllers they have, and of version 1's
 * that has the controller. root is "" but in tests: a directory that stands for "/". 0 or -errno;
 * nothing is visited where none is mounted. */
int cgroup_climb(const char *root, pid_t pid, const char *controller, cgroup_visit_fn visit,
		 void *arg);

#endif
