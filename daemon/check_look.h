/*
 * check_jvm (daemon/check.h) for a process that may never answer: in a child that can be given up
 * (daemon/look.h).
 */
#ifndef JXPERF_DAEMON_CHECK_LOOK_H
#define JXPERF_DAEMON_CHECK_LOOK_H

#include "daemon/check.h"

/* As check_jvm. A process that does not answer fails one item, which says what hangs. For a process
 * that has one thread and is there for this. */
int check_look(Jxp__CheckResult **out, pid_t pid, const char *bundle_dir, struct err *err);

#endif
