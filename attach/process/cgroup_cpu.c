#include "attach/process/cgroup_cpu.h"

#include <limits.h>
#include <stdio.h>

#include "attach/process/cgroup.h"
#include "common/proc.h"

#define TEXT_BYTES 64

static bool read_text(const char *directory, const char *file, char text[TEXT_BYTES])
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", directory, file) < (int)sizeof(path) &&
	       proc_read(path, text, TEXT_BYTES) > 0;
}

/* "QUOTA PERIOD", or "max PERIOD". */
static bool read_version_2(const char *directory, long long *quota, long long *period)
{
	char text[TEXT_BYTES];

	return read_text(directory, "cpu.max", text) &&
	       sscanf(text, "%lld %lld", quota, period) == 2;
}

/* A quota of -1 is none. */
static bool read_version_1(const char *directory, long long *quota, long long *period)
{
	char quota_text[TEXT_BYTES], period_text[TEXT_BYTES];

	return read_text(directory, "cpu.cfs_quota_us", quota_text) &&
	       read_text(directory, "cpu.cfs_period_us", period_text) &&
	       sscanf(quota_text, "%lld", quota) == 1 && sscanf(period_text, "%lld", period) == 1;
}

static void visit(void *arg, bool v2, const char *directory, const char *group)
{
	double *least = arg;
	long long quota, period;
	double limit;

	(void)group;
	if (!(v2 ? read_version_2 : read_version_1)(directory, &quota, &period) || quota <= 0 ||
	    period <= 0)
		return;
	limit = (double)quota / (double)period;
	if (*least == 0 || limit < *least)
		*least = limit;
}

double cgroup_cpu_limit(const char *root, pid_t pid)
{
	double least = 0;

	/* One that cannot be read counts as none. */
	return cgroup_climb(root, pid, "cpu", visit, &least) < 0 ? 0 : least;
}
