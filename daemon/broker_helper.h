/*
 * One run of jxperf-attach: started, waited for through its result socket, reaped.
 */
#ifndef JXPERF_DAEMON_BROKER_HELPER_H
#define JXPERF_DAEMON_BROKER_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct broker_helper {
	pid_t target;
	pid_t pid;           /* of the helper; 0 once reaped */
	int result_fd;       /* readable when it is done, however it ended */
	bool cancelled;      /* asked to stop: no result is wanted any more */
	uint64_t kill_at_ns; /* it has outlived its own deadline by then */
};

/* Starts BUNDLE/jxperf-attach on target; force: whether or not there is room for the agent. 0 or
 * -errno; h is unchanged on failure, and belongs to broker_helper_finish otherwise. */
int broker_helper_start(struct broker_helper *h, pid_t target, const char *bundle_dir, bool force,
			struct err *err);

/* Asks it to clean up and end: its result_fd becomes readable soon after. */
void broker_helper_cancel(struct broker_helper *h);

/* To be called when result_fd is readable or kill_at_ns has passed: takes the result, ends the
 * process and reaps it. The agent's connected socket, owned by the caller, or -errno. A helper that
 * SIGKILL does not end is left to broker_helper_reaped; then h->pid is not 0. Waits for 2 s at
 * most.
 */
int broker_helper_finish(struct broker_helper *h, struct err *err);

/* Is the process gone? Reaps it, with *status as of waitpid, when it has ended by now. */
bool broker_helper_reaped(struct broker_helper *h, int *status);

/* Runs the helper with --probe and waits for it: 0 with a sentence in text on where socket and
 * agent would go, or -errno. Used by `check`, outside of the broker. */
int broker_helper_probe(pid_t target, const char *bundle_dir, char text[ERR_MESSAGE_MAX],
			struct err *err);

#endif
