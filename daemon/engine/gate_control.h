/*
 * The engine's part of one window's sampling gate in the kernel (daemon/broker/gate.h): asks the
 * broker to open it, has its limits follow the period that the budget leads to, adds what it
 * dropped to the window's counters, and closes it. Where there is no such gate, the window's
 * gate_reason says why, the agent applies the limits, and everything here does nothing.
 *
 * Loop thread only. The broker client and the window are borrowed. Embedded by its owner.
 */
#ifndef JXPERF_DAEMON_ENGINE_GATE_CONTROL_H
#define JXPERF_DAEMON_ENGINE_GATE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/broker/client.h"
#include "profile/window/result.h"

/* What each may still be asked for: the request that takes the final counts is the last one. */
enum gate_stage {
	GATE_IS_ABSENT, /* not asked for, or not to be had */
	GATE_IS_OPENING,
	GATE_IS_OPEN,
	GATE_IS_SHUT, /* ended before its time: no limits open it again */
	GATE_IS_CLOSING,
	GATE_IS_CLOSED,
};

struct gate_control {
	struct broker_client *broker;
	struct window_result *result;
	enum gate_stage stage;
	int request; /* the one that is open, or 0 */
	uint64_t next_ns;
	struct gate_limits limits;      /* in force */
	uint64_t counted[GATE_UNKNOWN]; /* of each outcome, in the window's counters already */
	uint64_t strangers; /* samples dropped of processes without a gate, of all windows */
	/* *program is the BPF program's descriptor, which the callback may take, or -1. */
	void (*opened)(void *arg, int *program);
	void (*closed)(void *arg);
	void *arg;
};

/* Opens the gate until end_ns. 0: opened will be called, once, from the loop; or -errno. */
int gate_control_open(struct gate_control *g, struct broker_client *broker,
		      struct window_result *result, uint64_t end_ns,
		      void (*opened)(void *arg, int *program), void *arg);

/* To be called when the window has started and as its batches come in: twice a second at most,
 * limits are set anew, until the window's end, and counts are read. */
void gate_control_follow(struct gate_control *g, uint64_t window_end_ns);

/* The window ends before its time: nothing passes from here on. Changes nothing where that is so
 * already, or the window is over. */
void gate_control_shut(struct gate_control *g);

/* The window is over and the target's events are closed: takes the final counts. 0: closed will be
 * called, once, from the loop; or -errno when there is nothing to wait for. */
int gate_control_close(struct gate_control *g, void (*closed)(void *arg), void *arg);

/* No callback runs any more. */
void gate_control_release(struct gate_control *g);

#endif
