/*
 * Gives up what the broker does not need of root's privileges. Helpers inherit the result.
 *
 * Kept: becoming the target's user (SETUID, SETGID), looking at other users' processes and files
 * (SYS_PTRACE, DAC_READ_SEARCH), opening events on other users' threads (PERFMON, and KILL, which
 * the kernel wants for events that send signals; kernel/events/core.c, perf_check_permission). KILL
 * also ends helpers that have become another user.
 *
 * Where perf_event_paranoid is above 2 (Debian and Ubuntu have such levels, as their default),
 * CAP_PERFMON opens no event and only SYS_ADMIN does; it is kept there.
 */
#ifndef JXPERF_DAEMON_BROKER_PRIVILEGE_H
#define JXPERF_DAEMON_BROKER_PRIVILEGE_H

#include "common/err.h"

/* No program run from here on gains privileges, and the bounding, permitted and effective sets
 * shrink to the ones above; does nothing more for a process without privileges. 0 or -errno. */
int broker_privilege_reduce(struct err *err);

#endif
