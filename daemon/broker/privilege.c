#include "daemon/broker/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/capabilities.h"
#include "common/proc.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* What opening events and looking at pages takes; and what the broker needs besides. */
#define WORKER_MASK (CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_KILL))
#define BROKER_MASK                                                      \
	(WORKER_MASK | CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | \
	 CAPABILITY(CAP_DAC_READ_SEARCH))

/* The strictest level at which CAP_PERFMON is enough. */
#define PARANOID_MAX_PERFMON 2

/* When the setting cannot be read there is nothing to be had for the bigger capability either. */
static uint64_t for_events(void)
{
	char text[32];

	if (proc_read("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0 &&
	    strtol(text, NULL, 10) > PARANOID_MAX_PERFMON)
		return CAPABILITY(CAP_SYS_ADMIN);
	return 0;
}

int broker_privilege_reduce(struct err *err)
{
	uint64_t mask = BROKER_MASK | for_events();
	bool root = geteuid() == 0;
	int bounding, own;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set_errno(err, errno, "cannot set no_new_privs");
	/* The bounding set is root's to change: what others were given (AmbientCapabilities=) they
	 * have without it. First, since it takes a capability that goes next. */
	bounding = root ? capabilities_limit_bounding(mask, err) : 0;
	own = capabilities_limit(mask, !root, bounding < 0 ? NULL : err);
	return bounding < 0 ? bounding : own;
}

int broker_privilege_reduce_worker(struct err *err)
{
	return capabilities_limit(WORKER_MASK | for_events(), false, err);
}
