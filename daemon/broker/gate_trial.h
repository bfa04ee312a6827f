/*
 * Does the kernel do what the sampling gate says? Tried with page faults, one event each, of the
 * calling thread: no time passes and nothing is left to chance.
 */
#ifndef JXPERF_DAEMON_BROKER_GATE_TRIAL_H
#define JXPERF_DAEMON_BROKER_GATE_TRIAL_H

#include "common/err.h"
#include "daemon/broker/gate.h"

/* Raises SIGTRAPs, with a handler of its own for that time. 0; or -errno with the reason and what
 * to do, -EOPNOTSUPP: the kernel ignores what the program says, or gives it other process ids than
 * ours. SIGTRAP's action is the caller's again afterwards, and the calling process has no gate. */
int broker_gate_trial(struct broker_gate *g, struct err *err);

#endif
