/*
 * check_jvm (daemon/inspector/check.h) for a process that may never answer: in a child that can be
 * given up (daemon/child/look.h).
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_LOOK_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_LOOK_H

#include "daemon/inspector/check.h"

struct agent_files;

/* As check_jvm. A process that does not answer fails one item, which says what hangs. For a process
 * that has one thread and is there for this. */
int check_look(Jxp__CheckResult **out, pid_t pid, uid_t owner, const struct agent_files *agent,
	       struct err *err);

#endif
