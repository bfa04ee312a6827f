/*
 * Who asked for a window: the process at the other end of the control socket when it connected
 * (daemon/serve/access.h), or the daemon itself. Plain numbers, for the log and for what may be
 * shown to whom.
 */
#ifndef JXPERF_PROFILE_WINDOW_ASKER_H
#define JXPERF_PROFILE_WINDOW_ASKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/proc.h"

struct window_asker {
	uid_t uid; /* effective */
	pid_t pid;
	bool logged_in; /* login is who has logged in there, whatever it became since */
	uid_t login;
	/* The one user whose JVMs and windows there are for it; PROC_ANY_UID: everybody's. */
	uid_t sees;
};

/* Is there, for it, what belongs to owner? What belongs to nobody known (PROC_ANY_UID) is only for
 * those who see everything. */
static inline bool window_asker_sees(const struct window_asker *a, uid_t owner)
{
	return a->sees == PROC_ANY_UID || a->sees == owner;
}

#endif
