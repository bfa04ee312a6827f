/*
 * The watcher of one window: looks at a JVM from outside, four times a second, and tells the engine
 * (WatchRecord) what the window's account cannot show: collections, heap, page faults, CPU time of
 * the collector's threads. From /proc and from the JVM's performance data; nothing in the JVM
 * helps.
 *
 * It is jxperf-child, run by the broker for each window
 * (daemon/broker/children.h), because what it opens takes privileges; it gives all of them up when
 * that is open. It ends when the engine closes its socket and when the JVM ends. One that hangs, on
 * a file of the target, holds up nobody: there are no records, and the report says so.
 */
#ifndef JXPERF_DAEMON_WATCHER_WATCHER_H
#define JXPERF_DAEMON_WATCHER_WATCHER_H

#include <sys/types.h>

/* The options that make jxperf-child a watcher: jxperf-child --watch-fd N --watch-pid PID
 * --watch-owner UID. */
#define WATCHER_OPTION_FD    "--watch-fd"
#define WATCHER_OPTION_PID   "--watch-pid"
#define WATCHER_OPTION_OWNER "--watch-owner" /* as an int, so that PROC_ANY_UID is -1 */

/* A WatchRecord's largest frame. */
#define WATCHER_FRAME_MAX 1024u

/* Sends records of process pid, the performance data only if it is owner's (as jvm_inspect), on the
 * connected stream socket fd until either is closed. Called by main with nothing else running. The
 * process's exit status. */
int watcher_main(int fd, pid_t pid, uid_t owner);

#endif
