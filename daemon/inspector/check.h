/*
 * The answer to the control command `check`: what works on this machine, or for one JVM, what does
 * not, and what to do about it. Everything is tried, not guessed: events are opened on a thread of
 * our own, a watchpoint fires in a child of ours, the bundle is mapped, the attach socket is
 * connected to. Nothing changes in the target; no signal is sent to it.
 *
 * Takes milliseconds. Loop thread or any other; starts and ends threads and a child of its own.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_H

#include <sys/types.h>

#include "common/err.h"
#include "proto/jxperf.pb-c.h"

struct agent_files;

/* What the broker knows and others could not find out, for want of privileges that it has given up:
 * why it does not have something in the kernel, "" where it has. */
struct check_reasons {
	const char *gate;  /* the sampling gate */
	const char *touch; /* the tracing of first touches */
};

/* On success *out is owned by the caller: jxp__check_result__free_unpacked(*out, NULL). 0 or
 * -ENOMEM; what does not work is an item, not an error. */
int check_machine(Jxp__CheckResult **out, const char *bundle_dir,
		  const struct check_reasons *reasons, struct err *err);

/* The same for one JVM, if it is owner's (as jvm_inspect). step is told what is being looked at
 * (jvm_inspect_steps), and may be NULL. -ESRCH when there is no such process. */
int check_jvm(Jxp__CheckResult **out, pid_t pid, uid_t owner, const struct agent_files *agent,
	      char *step, struct err *err);

#endif
