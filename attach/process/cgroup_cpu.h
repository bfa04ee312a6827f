/*
 * How much CPU time the cgroups of a process let it have: the quota of the bandwidth controller,
 * which stops all of a group's threads for the rest of a period once it is used up.
 *
 * Reads with the caller's rights (attach/process/cgroup.h). No state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_CGROUP_CPU_H
#define JXPERF_ATTACH_PROCESS_CGROUP_CPU_H

#include <sys/types.h>

/* The least of all levels, in processors: 0.5 is half of one's time. 0 without any limit, or where
 * none can be read. root is "" but in tests: a directory that stands for "/". */
double cgroup_cpu_limit(const char *root, pid_t pid);

#endif
