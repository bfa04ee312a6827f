#include "attach/agent/window/timer_allowance.h"

#include <stdio.h>
#include <string.h>

#include "attach/agent/window/fd_allowance.h"
#include "common/proc.h"

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
