#include "attach/process/session.h"

#include "common/cleanup.h"
#include "common/proc.h"
#include "proto/helper.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 64

bool session_runs(pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	char path[PATH_BYTES], name[PROC_NAME_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		/* /proc has an entry for each thread, which it does not list. */
		if (proc_name(atoi(entry->d_name), name) == 0 &&
		    strcmp(name, AGENT_THREAD_NAME) == 0)
			return true;
	}
	return false;
}
