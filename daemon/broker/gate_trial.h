/*
 * Does the kernel do what the sampling gate says? Tried with page faults, one event each, of the
 * calling thread: no time passes and nothing is left to chance.
 */
#ifndef JXPERF_DAEMON_BROKER_GATE_TRIAL_H
#define JXPERF_DAEMON_BROKER_GATE_TRIAL_H

#include "common/err.h"
#include "daemon/broker/gate.h"

/* 0, or -errno with the reason and what to do. SIGTRAP's action is the caller's again afterwards,
 * and the calling process has no gate. */
int broker_gate_trial(struct broker_gate *g, struct err *err);

#endif
