/*
 * How the broker starts its children: nothing of its own state goes with them.
 */
#ifndef JXPERF_DAEMON_CHILD_SPAWN_H
#define JXPERF_DAEMON_CHILD_SPAWN_H

#include <sys/types.h>

/* The descriptor that a child has beside the standard three. */
#define BROKER_SPAWN_FD 3

/* Runs the program at path with an empty environment, no signal blocked or ignored, a process group
 * of its own (^C on our terminal is not meant for it) and fd as BROKER_SPAWN_FD. 0 with its pid, to
 * be reaped by the caller, or -errno. fd stays the caller's. */
int broker_spawn(pid_t *pid, const char *path, char *const argv[], int fd);

/* The same, and in *pidfd a pidfd of it, which is the caller's. */
int broker_spawn_watched(pid_t *pid, int *pidfd, const char *path, char *const argv[], int fd);

#endif
