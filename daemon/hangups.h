/*
 * SIGHUP: has the configuration read anew, however many come at most once in HANGUPS_PACE_MS. The
 * first of a storm at once, all that follow together when that time is over, so what the file says
 * at the end is what holds.
 *
 * Loop thread only. Lives in its owner, who keeps it until the loop has closed its handles.
 */
#ifndef JXPERF_DAEMON_HANGUPS_H
#define JXPERF_DAEMON_HANGUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define HANGUPS_PACE_MS 1000

struct hangups {
	uv_signal_t signal;
	uv_timer_t pace; /* runs for so long after a reading */
	uint64_t pace_ms;
	bool waiting; /* one came meanwhile */
	void (*read)(void *arg);
	void *arg;
};

/* read runs from the loop. pace_ms: HANGUPS_PACE_MS, but for tests. */
void hangups_start(struct hangups *h, uv_loop_t *loop, uint64_t pace_ms, void (*read)(void *arg),
		   void *arg);

/* Nothing is read any more. */
void hangups_close(struct hangups *h);

#endif
