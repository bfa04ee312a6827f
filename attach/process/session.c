#include "attach/process/session.h"

#include "common/proc.h"
#include "proto/helper.h"

#include <string.h>

static bool is_agents(pid_t pid, pid_t tid, const void *arg)
{
	char name[PROC_NAME_BYTES];

	(void)pid, (void)arg;
	/* /proc has an entry for each thread, which it does not list. */
	return proc_name(tid, name) == 0 && strcmp(name, AGENT_THREAD_NAME) == 0;
}

bool session_runs(pid_t pid)
{
	return proc_search_threads(pid, is_agents, NULL) > 0;
}
