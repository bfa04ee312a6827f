/*
 * Who was left behind by earlier looks (daemon/child/look.h), and on which processes they still
 * hang. Found in /proc, so that it holds across inspectors and daemons: processes of our own
 * program and user that are named for it, and whose group's leader, the inspector, has ended or
 * says that it has given them up. The name alone would not do: anybody can call a program so.
 */
#ifndef JXPERF_DAEMON_CHILD_LOOK_LEFT_H
#define JXPERF_DAEMON_CHILD_LOOK_LEFT_H

#include <stddef.h>
#include <sys/types.h>

#define LOOK_LEFT_NAME "jxlook"

/* Names the calling process for what it looks at. */
void look_left_mark(pid_t target);

/* The calling process, leader of its group, waits for nobody any more: says so before the answer is
 * given, after which the next question may come. */
void look_left_done(void);

/* Writes the processes that are still hung on, each as often as somebody hangs, at most max; how
 * many there are. pids: of all processes. */
size_t look_left_find(const pid_t *pids, size_t count, pid_t *targets, size_t max);

#endif
