/*
 * The broker's watchers (daemon/watcher/watcher.h): one for a window, started on request, ended
 * when its process is released, reaped. The broker itself learns nothing from them.
 */
#ifndef JXPERF_DAEMON_BROKER_WATCHERS_H
#define JXPERF_DAEMON_BROKER_WATCHERS_H

#include <poll.h>
#include <sys/types.h>

#include "common/err.h"

/* As many as windows at a time (ENGINE_RUNNING_MAX), and some that take long to end. */
#define BROKER_WATCHERS_MAX 80

struct broker_watcher {
	pid_t pid; /* 0: this place is free */
	int pidfd;
	pid_t target;
};

/* All zero: none runs. */
struct broker_watchers {
	struct broker_watcher all[BROKER_WATCHERS_MAX];
};

/* Starts one for process target, if it is owner's (watcher_main). The socket on which its records
 * will come, owned by the caller, or -errno; -EAGAIN when BROKER_WATCHERS_MAX run. */
int broker_watchers_start(struct broker_watchers *w, pid_t target, uid_t owner, struct err *err);

/* Kills those of the target. */
void broker_watchers_stop(struct broker_watchers *w, pid_t target);

/* Adds what they wait for to p, which has room for BROKER_WATCHERS_MAX; returns how many. */
nfds_t broker_watchers_poll(const struct broker_watchers *w, struct pollfd *p);

/* Reaps those that have ended. */
void broker_watchers_tend(struct broker_watchers *w);

/* Kills all of them; what does not end at once is left to init. */
void broker_watchers_end(struct broker_watchers *w);

#endif
