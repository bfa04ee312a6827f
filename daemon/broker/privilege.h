/*
 * Gives up what the broker does not need of root's privileges. What it starts inherits the result.
 * The table of docs/security.md, "Privileges" is what a test compares with the running processes.
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

/* No program run from here on gains privileges, and the permitted, effective and, of root, bounding
 * sets shrink to the ones above. One who is not root passes them on to what it starts (ambient
 * set). Does nothing more for a process without privileges. 0; or -errno, with permitted and
 * effective sets reduced all the same wherever the kernel allows it: to go on with more than is
 * documented would be worse than not to start. */
int broker_privilege_reduce(struct err *err);

/* For a process that the broker has started to make calls into a target (daemon/broker/worker.h):
 * only SYS_PTRACE, PERFMON and KILL stay, and SYS_ADMIN where it does. 0 or -errno. */
int broker_privilege_reduce_worker(struct err *err);

#endif
