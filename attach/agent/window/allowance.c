#include "attach/agent/window/allowance.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/proc.h"

unsigned fd_allowance_of(unsigned long limit, unsigned long open)
{
	unsigned long half = limit > open ? (limit - open) / 2 : 0;

	return half < UINT_MAX ? (unsigned)half : UINT_MAX;
}

unsigned fd_allowance(void)
{
	struct rlimit limit;
	unsigned long open = 0;
	DIR *dir;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return 0;
	while (readdir(dir))
		open++;      /* Counts ".", ".." and dir itself too: a few on the safe side. */
	(void)closedir(dir); /* Read-only. */
	return fd_allowance_of(limit.rlim_cur, open);
}

unsigned timer_allowance_of(const char *status)
{
	const char *line = strstr(status, "\nSigQ:");
	unsigned long queued, limit;

	if (!line || sscanf(line, "\nSigQ: %lu/%lu", &queued, &limit) != 2)
		return 0;
	return fd_allowance_of(limit, queued);
}

unsigned timer_allowance(void)
{
	char status[4096];

	return proc_read("/proc/self/status", status, sizeof(status)) > 0
		   ? timer_allowance_of(status)
		   : 0;
}
