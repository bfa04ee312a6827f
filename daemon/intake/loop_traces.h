/*
 * What traces say of the loops of a window (struct event_trace): of two instances, one behind the
 * other, how much of what they go by is the same in both, and of turns which are different.
 *
 * Turns are told from the order of what they go by: one begins where an input comes that is no
 * later than the one before. Where a turn has several inputs, the first and the last of a trace may
 * be part of one and are left out. Of a loop, TURN_TRACES_MAX traces of turns are kept; more are
 * not taken.
 *
 * What cannot be so is dropped, and counted as invalid.
 */
#ifndef JXPERF_DAEMON_INTAKE_LOOP_TRACES_H
#define JXPERF_DAEMON_INTAKE_LOOP_TRACES_H

#include "daemon/intake/loop_intake.h"

/* One trace. 0 or -ENOMEM. */
int loop_traces_add(struct loop_intake *in, const struct event_trace *t);

/* Brings the window's estimates of turns up to date with its traces and its CPU time: after a
 * batch, and when code was analysed. 0 or -ENOMEM. */
int loop_traces_settle(struct loop_intake *in);

#endif
