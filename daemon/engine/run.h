/*
 * One window from its request to its end: has the broker attach and open the gate, talks to the
 * agent, feeds the window and ends it. Its states are those of daemon/engine/run_state.h.
 *
 * Whatever ends it otherwise than as planned (end of stream, a malformed frame, a limit, a full
 * queue) ends the window early, with the reason and with everything that had arrived; what ends
 * before it began has failed. The agent closes its socket as the last thing it does; whoever heard
 * of the end before that could not attach again at once.
 *
 * Loop thread only. The callbacks come from the loop, never from inside a call made here.
 */
#ifndef JXPERF_DAEMON_ENGINE_RUN_H
#define JXPERF_DAEMON_ENGINE_RUN_H

#include <stdint.h>

#include "common/err.h"
#include "daemon/engine/run_owner.h"
#include "daemon/engine/run_state.h"
#include "profile/window/result.h"

/* Makes a run that waits; it owns result on success. 0 or -ENOMEM. */
int run_new(struct run **out, const struct run_context *context, struct window_result *result,
	    const struct run_callbacks *callbacks, struct err *err);

/* Asks the broker to attach to the process. 0; or -errno with nothing asked: it still waits. */
int run_begin(struct run *r, struct err *err);

/* The same, from the loop, for one that had to wait. What cannot begin, or was stopped meanwhile,
 * ends in here, by the callback. */
void run_resume(struct run *r);

/* Drops everything at once: the agent disarms and leaves. The memory goes when the loop has closed
 * a handle. No callback runs afterwards. free(NULL) is safe. */
void run_free(struct run *r);

/* Ends the window early, or cancels what has not begun; ended follows within the limits of the
 * states on the way. A run that is coming to its end anyway is left to it. */
void run_stop(struct run *r, const char *reason);

/* Ends the window as soon as the loop comes round, whatever its agent does, because it takes too
 * much memory. */
void run_cut(struct run *r, const char *reason);

/* What the run and its window take; 0 of one that is about to end. */
size_t run_memory_bytes(const struct run *r);

const struct window_result *run_result(const struct run *r);
enum run_state run_state(const struct run *r);

/* Samples that gates have dropped of processes without one, as the gate of this run said last. */
uint64_t run_strangers(const struct run *r);

#endif
