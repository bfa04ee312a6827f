/*
 * How we start children that we talk with over a socket: nothing of our own state goes with them.
 */
#ifndef JXPERF_DAEMON_CHILD_SPAWN_H
#define JXPERF_DAEMON_CHILD_SPAWN_H

#include <sys/types.h>

/* The descriptor that a child has beside the standard three, as a number and in its command line.
 */
#define CHILD_FD      3
#define CHILD_FD_TEXT "3"

/* The program of the broker's children: workers, inspectors, watchers (daemon/child_main.c). */
#define CHILD_PROGRAM "jxperf-child"

/* Runs the program at path with an empty environment, no signal blocked or ignored, a process group
 * of its own (^C on our terminal is not meant for it) and, as CHILD_FD, one end of a socket pair of
 * that type. 0 with its pid, to be reaped by the caller, and a pidfd and the other end, which are
 * the caller's; or -errno. */
int child_spawn(pid_t *pid, int *pidfd, int *socket, int type, const char *path,
		char *const argv[]);

/* The same of the program that is open as the descriptor program, above CHILD_FD, whatever has
 * become of its file's name. */
int child_spawn_open(pid_t *pid, int *pidfd, int *socket, int type, int program,
		     char *const argv[]);

#endif
