/*
 * The agent's side of the sampling gate (bpf/gate.h). Where the daemon has a BPF program for it,
 * the program goes on every sampling event and drops samples in the kernel; the daemon sets its
 * limits. Where it has none, or an event does not take it, the SIGTRAP handler applies the same
 * limits.
 *
 * Session thread, except for sampling_gate_passes.
 */
#ifndef JXPERF_AGENT_HANDLER_SAMPLING_GATE_H
#define JXPERF_AGENT_HANDLER_SAMPLING_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

struct sampling_gate {
	int program_fd;        /* of the BPF program, or -1 */
	bool program_expected; /* the daemon sent one */
	bool operations;       /* the unit of the sampler's period; otherwise nanoseconds */
	double cpus;           /* that the target may use */
};

/* Begins a window, before any event is opened. program: the BPF program's descriptor, which is
 * owned from here on, or -1. expected: the daemon sent one, so that an event without counts.
 * cpu_limit: as in gate_cpus. */
void sampling_gate_start(struct sampling_gate *g, int program, bool expected, uint64_t deadline_ns,
			 uint64_t period, bool operations, double cpu_limit);

/* Puts the program on a sampling event; false when it cannot be and should. */
bool sampling_gate_attach(const struct sampling_gate *g, int event_fd);

/* The period changed. */
void sampling_gate_set_period(const struct sampling_gate *g, uint64_t period);

/* May the sample of this thread be taken? Counts it when not. In the SIGTRAP handler. */
bool sampling_gate_passes(struct thread *t);

/* Ends the window's part, when no handler runs any more: closes the program's descriptor. */
void sampling_gate_stop(struct sampling_gate *g);

#endif
