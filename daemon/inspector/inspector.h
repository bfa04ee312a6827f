/*
 * Looking at processes that are not ours: `list` and `check`.
 *
 * It takes privileges, and it reads what JVMs wrote (performance data, command lines), so neither
 * the engine nor the broker does it: the broker runs jxperf-child for each question, and the answer
 * goes straight to the engine, which does not wait for it. What may hang (a file system that does
 * not answer) is done in children that can be given up (daemon/child/look.h): so an answer comes in
 * any case, and names what hangs.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_INSPECTOR_H
#define JXPERF_DAEMON_INSPECTOR_INSPECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/inspector/check.h"
#include "daemon/inspector/startup.h"

/* Questions that are not about one JVM, in place of its pid. */
#define INSPECTOR_MACHINE 0    /* check without a pid */
#define INSPECTOR_LIST    (-1) /* every JVM */

/* After this long there will be no answer. */
#define INSPECTOR_TIMEOUT_MS 15000

/* The options that make jxperf-child an inspector: jxperf-child --inspect-fd N --inspect-pid PID
 * --inspect-owner UID --inspect-only PIDS --inspect-gate REASON --inspect-touch REASON
 * [--inspect-jars], and what it is started with. */
#define INSPECTOR_OPTION_FD    "--inspect-fd"
#define INSPECTOR_OPTION_PID   "--inspect-pid"
#define INSPECTOR_OPTION_OWNER "--inspect-owner" /* as an int, so that PROC_ANY_UID is -1 */
#define INSPECTOR_OPTION_ONLY  "--inspect-only"  /* pids, "1,2", or "": all */
#define INSPECTOR_OPTION_GATE  "--inspect-gate"  /* struct check_reasons */
#define INSPECTOR_OPTION_TOUCH "--inspect-touch"
#define INSPECTOR_OPTION_JARS  "--inspect-jars"

struct inspector_question {
	int pid;          /* or one of INSPECTOR_* */
	uid_t owner;      /* there are only processes of this user; PROC_ANY_UID: of all */
	const char *only; /* INSPECTOR_LIST: there are only these, "1,2"; "": all */
	bool jars;        /* INSPECTOR_LIST: also of which version their jars say that they are */
};

/* Answers one question with one frame on the connected stream socket fd: a ControlReply that holds
 * check, jvms or failure. The kernel says whose processes are, before and after each is looked at.
 * Called by main with nothing else running. The process's exit status. */
int inspector_main(int fd, const struct inspector_question *question, const struct startup *startup,
		   const struct check_reasons *reasons);

#endif
