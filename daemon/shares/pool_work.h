/*
 * Work beside the event loop, which is everybody's: a function on a thread of libuv's pool, whose
 * outcome comes back to the loop.
 *
 * The work lies in a struct of its user's, which release frees. Loop thread only, but for run. What
 * is cancelled on the pool is left to end by itself, and is not begun where it has not been; the
 * loop has to run until then. How long is waited for it is a matter of who waits.
 */
#ifndef JXPERF_DAEMON_SHARES_POOL_WORK_H
#define JXPERF_DAEMON_SHARES_POOL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "common/err.h"

struct pool_task {
	/* On the pool. *cancelled: nobody wants it any more. 0, or -errno with a line. */
	int (*run)(void *arg, const atomic_bool *cancelled, struct err *err);
	/* On the loop: what run returned, with its line. Not after pool_work_cancel. */
	void (*done)(void *arg, int result, const char *message);
	/* On the loop, last of all and always: frees arg, and with it the work. */
	void (*release)(void *arg);
};

/* While it is on the pool, only cancelled is touched by both threads. */
struct pool_work {
	uv_work_t request;
	const struct pool_task *task;
	void *arg;
	atomic_bool cancelled;
	int result;
	struct err err;
};

/* Has the task, which outlives the work, done with arg. w is zeros. */
void pool_work_start(struct pool_work *w, uv_loop_t *loop, const struct pool_task *task, void *arg);

/* Nobody wants it any more: done will not run. NULL is safe. */
void pool_work_cancel(struct pool_work *w);

#endif
