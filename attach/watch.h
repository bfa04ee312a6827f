/*
 * Every wait of the attach helper: for a descriptor, but no longer than the deadline, the life of
 * the target, or a request to stop (SIGTERM, SIGINT, SIGHUP). One for each helper process.
 */
#ifndef JXPERF_ATTACH_WATCH_H
#define JXPERF_ATTACH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct watch {
	pid_t pid;
	int pidfd;
	int signal_fd;
	unsigned timeout_ms;
	unsigned overloaded_ms; /* as long in all, once; 0: it was, or may not be */
	uint64_t begin_ns;
	uint64_t cpu_ns; /* that the target had used then */
	uint64_t deadline_ns;
};

/* Where the deadline of timeout_ms passes while the machine has more threads to run than processors
 * and the target uses CPU time, it has overloaded_ms instead (0: it has not).
 *
 * Opens pid's pidfd, so that from here on the pid cannot be taken by another process unnoticed, and
 * turns the stop signals into a descriptor. Starts the time. 0 or -errno (-ESRCH: no such process);
 * released with watch_close in either case. */
int watch_open(struct watch *w, pid_t pid, unsigned timeout_ms, unsigned overloaded_ms,
	       struct err *err);
void watch_close(struct watch *w);

/* Waits until fd (-1: nothing) has one of events, at most at_most_ms (-1: no other limit than the
 * deadline). 1: it has; 0: at_most_ms have passed. -ETIMEDOUT: the deadline passed while
 * waiting_for
 * ("the JVM's answer"), -ESRCH: the target ended, -EINTR: asked to stop. */
int watch_wait(struct watch *w, int fd, short events, int at_most_ms, const char *waiting_for,
	       struct err *err);

/* Is it stopped, by a signal or by who traces it? Only what the kernel says of its first thread. */
bool watch_target_is_stopped(const struct watch *w);

/* Has the target ended, or does it within at_most_ms? */
bool watch_target_ended(const struct watch *w, int at_most_ms);

#endif
