/*
 * Samplers: where samples come from. One interface, so that hardware samplers stand beside the
 * clock.
 *
 * A sampler has one event per thread and gets its signals; it offers each sample to the reservoir
 * and hands an access to watchpoint_arm. Everything runs in the SIGTRAP handler.
 */
#ifndef JXPERF_AGENT_SAMPLER_H
#define JXPERF_AGENT_SAMPLER_H

#include <ucontext.h>

struct thread;

struct sampler {
	/* The sampling event fired. */
	void (*on_event)(struct thread *t, const ucontext_t *uc);
	/* An execution breakpoint that the sampler set in a register fired. */
	void (*on_breakpoint)(struct thread *t, unsigned reg, const ucontext_t *uc);
};

/* The clock sampler: task-clock ticks and the search for the next access (design.md). */
extern const struct sampler sampler_clock;

#endif
