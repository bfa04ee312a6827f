/*
 * Is there room in a process for what profiling may take of its memory? A JVM at the limit of its
 * cgroup is killed by the kernel for the agent's tables; one at the limit of its address space ends
 * itself when its own next allocation fails.
 *
 * What is asked for is the worst case (proto/footprint.h): every table full, every thread
 * of now profiled, and what the JVM itself needs to load an agent. It is held against the cgroups'
 * limits (attach/process/cgroup_memory.h), the machine's free memory, RLIMIT_AS and RLIMIT_DATA.
 *
 * Asked by `check`, and by the attach helper before it touches the target: the one place that every
 * attach goes through. Both have the daemon's mount namespace and see the cgroups there.
 */
#ifndef JXPERF_ATTACH_PROCESS_HEADROOM_H
#define JXPERF_ATTACH_PROCESS_HEADROOM_H

#include <sys/types.h>

#include "common/err.h"

/* 0, with a sentence on how much an attach takes and how much is left in text; -ENOMEM when it is
 * not enough. What cannot be read counts as no limit: the sentence says so of cgroups. root is ""
 * but in tests: a directory that stands for "/". */
int headroom_check(const char *root, pid_t pid, char text[ERR_MESSAGE_MAX], struct err *err);

#endif
