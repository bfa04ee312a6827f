/*
 * The broker's inspectors (daemon/inspector/inspector.h): started on request, ended when they are
 * late, reaped. The broker itself learns nothing from them.
 */
#ifndef JXPERF_DAEMON_BROKER_INSPECTORS_H
#define JXPERF_DAEMON_BROKER_INSPECTORS_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/inspector/inspector.h"

struct startup;

#define BROKER_INSPECTORS_MAX 4

struct broker_inspector {
	pid_t pid; /* 0: this place is free */
	int pidfd;
	uint64_t kill_at_ns; /* UINT64_MAX once it was killed */
};

/* All zero: none runs. */
struct broker_inspectors {
	struct broker_inspector all[BROKER_INSPECTORS_MAX];
};

/* Starts one for a question, with what it is to say of BPF. The socket on which the answer will
 * come, owned by the caller, or -errno; -EAGAIN when BROKER_INSPECTORS_MAX run. */
int broker_inspectors_start(struct broker_inspectors *i, const struct inspector_question *question,
			    const struct startup *startup, const struct check_reasons *reasons,
			    struct err *err);

/* Adds what they wait for to p, which has room for BROKER_INSPECTORS_MAX; returns how many, and
 * lowers *first_ns to the time at which one has to be killed. */
nfds_t broker_inspectors_poll(const struct broker_inspectors *i, struct pollfd *p,
			      uint64_t *first_ns);

/* Reaps those that have ended and kills those that are late. */
void broker_inspectors_tend(struct broker_inspectors *i);

/* Kills all of them; what does not end at once is left to init. */
void broker_inspectors_end(struct broker_inspectors *i);

#endif
