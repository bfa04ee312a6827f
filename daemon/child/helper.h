/*
 * One run of jxperf-attach: started, waited for through its result socket, reaped.
 */
#ifndef JXPERF_DAEMON_CHILD_HELPER_H
#define JXPERF_DAEMON_CHILD_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "proto/helper.h"

/* First its result is waited for, then its end. */
struct attach_helper {
	pid_t target;
	pid_t pid; /* of the helper; 0 once reaped */
	int pidfd;
	int result_fd;   /* -1 once its result was taken */
	bool cancelled;  /* no result is wanted any more */
	bool asked;      /* to end: it was cancelled, or late */
	bool patient;    /* it may take longer, once, on a machine that is overloaded */
	uint64_t due_ns; /* it has outlived its own deadline, or the signal that ends it, by then */
	struct attach_result result;
	ssize_t result_bytes; /* or -errno */
	int fd;               /* that came with it, or -1 */
};

/* Starts jxperf-attach of the bundle on target, if it is owner's (attach_to); timeout_ms: as long
 * as it may take, 0: as is usual (proto/helper.h); force: whether or not there is room for the
 * agent. 0 or -errno; h is unchanged on failure, and belongs to attach_helper_finish otherwise. */
int attach_helper_start(struct attach_helper *h, pid_t target, uid_t owner,
			const struct agent_files *agent, unsigned timeout_ms, bool force,
			struct err *err);

/* Asks it to clean up and end: it is readable soon after. */
void attach_helper_cancel(struct attach_helper *h);

/* What to wait for: that this is readable, until h->due_ns at most. */
int attach_helper_fd(const struct attach_helper *h);

/* To be called then; does not wait. One that is late is asked to end, and killed if it has not done
 * so in time either: what it put into the target would stay there. True when it is done: ended, or
 * found to be one that SIGKILL does not end, since a kill waits for a file system's answer, and the
 * target may have mounted one (FUSE) that never gives it. */
bool attach_helper_advance(struct attach_helper *h);

/* When it is done: the agent's connected socket, owned by the caller, with what the target is
 * called in name, or -errno. One that does not end is left to attach_helper_reaped; then h->pid is
 * not 0. */
int attach_helper_finish(struct attach_helper *h, char name[ATTACH_NAME_BYTES], struct err *err);

/* Is the process gone? Reaps it when it has ended by now. */
bool attach_helper_reaped(struct attach_helper *h, int *status);

/* Runs the helper with --probe and waits for it: 0 with a sentence in text on where socket and
 * agent would go, or -errno, with whether the JVM cannot be asked at all. Used by `check`, outside
 * of the broker. */
int attach_helper_probe(pid_t target, uid_t owner, const struct agent_files *agent,
			char text[ERR_MESSAGE_MAX], bool *unasked, struct err *err);

#endif
