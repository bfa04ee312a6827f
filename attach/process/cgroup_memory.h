/*
 * How much more memory the cgroups of a process let it have, before the kernel kills somebody in
 * them: cgroup v2 and v1, at every level from the process's own group up to the topmost that is
 * visible here.
 *
 * A group's use counts the page cache of the files that its processes have read, which the kernel
 * drops before it kills. So what a limit leaves is the limit, less the use, plus
 * - the inactive file pages, which are read once or have not been used for long, but for those that
 *   have to be written first;
 * - half of the active ones: the kernel takes them, too, but they are the program's own code and
 * the files that it works with, and without them it would do nothing but read them again. (The
 * kernel estimates MemAvailable like that: half of the page cache stays.) Swap is not counted on.
 * Files in a tmpfs are no page cache in this sense, and are not counted.
 *
 * Reads /proc and the mounted hierarchies with the caller's rights. No state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_CGROUP_MEMORY_H
#define JXPERF_ATTACH_PROCESS_CGROUP_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

#define CGROUP_GROUP_BYTES 128

struct cgroup_memory {
	uint64_t left_bytes;
	uint64_t limit_bytes;
	const char *file;               /* that holds the limit: "memory.max". Static text */
	char group[CGROUP_GROUP_BYTES]; /* path of the group that has it; its end, after "...", when
					   it is long */
};

/* The level that leaves least. root is "" but in tests: a directory that stands for "/". 0; -ENOENT
 * when no group that is visible here has a limit; other -errno. out is unchanged on failure. */
int cgroup_memory_left(const char *root, pid_t pid, struct cgroup_memory *out);

#endif
