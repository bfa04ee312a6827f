/*
 * The sampling gate in the kernel (bpf/gate.bpf.c): loads it, opens and closes it for targets, adds
 * up what it counted.
 *
 * The program is attached to a sampling event with PERF_EVENT_IOC_SET_BPF and lives as long as that
 * event: by the broker to the events it opens, and by the agent, which is passed the program's
 * descriptor, to those it opens itself. Having the descriptor allows nothing else: the program
 * counts and drops samples of targets only, and its maps cannot be reached from it without
 * privilege.
 *
 * Loading takes CAP_BPF and CAP_PERFMON. Everything after it works on descriptors and takes none on
 * the kernels that the gate works on (bpf_sys in kernel/bpf/syscall.c, since 6.0).
 *
 * Broker only, and tests. One thread.
 */
#ifndef JXPERF_DAEMON_BROKER_GATE_H
#define JXPERF_DAEMON_BROKER_GATE_H

#include <sys/types.h>

#include "bpf/gate.h"
#include "common/err.h"

struct broker_gate;

/* Loads the program. Whether the kernel obeys it is for daemon/broker/gate_trial.h to say. 0 with
 * *out to be freed; or -errno with the reason and what to do, -EPERM: not permitted. */
int broker_gate_open(struct broker_gate **out, struct err *err);

/* Closes every gate: events that have the program pass nothing from here on. free(NULL) is safe. */
void broker_gate_free(struct broker_gate *g);

/* Opens the gate of process pid with these limits, or changes them; its bucket starts full, and
 * stays as it is when they change, but for tokens taken meanwhile. 0; -EINVAL for limits out of
 * range; -E2BIG when GATE_TARGETS_MAX processes have one. */
int broker_gate_set(struct broker_gate *g, pid_t pid, const struct gate_limits *limits);

/* Removes pid's gate and, unless NULL, gives its final counts (zeros if it had none). */
void broker_gate_remove(struct broker_gate *g, pid_t pid, struct gate_counts *counts);

/* What became of pid's samples since its gate was opened; GATE_UNKNOWN is of all processes without
 * a gate together. 0, or -ENOENT without touching counts. */
int broker_gate_counts(const struct broker_gate *g, pid_t pid, struct gate_counts *counts);

/* Puts the program on an event; once only, -EEXIST tells that it is there. */
int broker_gate_attach(const struct broker_gate *g, int event_fd);

/* The program's descriptor; borrowed. */
int broker_gate_program(const struct broker_gate *g);

#endif
